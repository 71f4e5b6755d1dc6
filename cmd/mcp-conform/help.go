package main

import (
	"cmp"
	_ "embed" // help.txt
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/proof/faults"
)

// fillTags puts the vars in the place of their names in struct tags. kong does this too, but reads all vars again for
// each flag: that took a third of the time that mcp-conform needs to start.
func fillTags(parser *kong.Kong) error {
	known := vars()
	fill := func(tag *string) {
		if strings.Contains(*tag, "${") {
			*tag = os.Expand(*tag, func(name string) string { return cmp.Or(known[name], "${"+name+"}") }) // kong refuses others
		}
	}
	return kong.Visit(parser.Model.Node, func(part kong.Visitable, next kong.Next) error {
		if v, ok := part.(*kong.Value); ok {
			fill(&v.Help)
			fill(&v.Default)
			fill(&v.Enum)
		}
		return next(nil)
	})
}

//go:embed help.txt
var helpTexts string

// vars returns the texts of help.txt, in which a line that is indented continues the one before it, and the values that
// they name.
func vars() map[string]string {
	providers, variables := upstreams()
	all := map[string]string{
		"kinds":          strings.Join(initKinds(), ","),
		"revisions":      strings.Join(revisionNames(server.DefaultRevisions()), ", "),
		"timeout":        harness.DefaultTimeout.String(),
		"case_timeout":   harness.DefaultCaseTimeout.String(),
		"client_timeout": harness.DefaultClientTimeout.String(),
		"jobs":           fmt.Sprint(runtime.NumCPU()),
		"baseline":       baselineName,
		"config":         configName,
		"formats":        strings.Join(formatNames(), ", "),
		"providers":      strings.Join(providers, ", "),
		"variables":      strings.Join(variables, ", "),
		"dialects":       strings.Join(llm.Dialects(), ", "),
		"features":       strings.Join(harness.Features(), ", "),
		"explored":       fmt.Sprint(hooks.DefaultExplore),
		"goal":           fmt.Sprint(faults.Goal),
	}
	for line := range strings.Lines(strings.ReplaceAll(helpTexts, "\n  ", " ")) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		all[name] = os.Expand(text, func(value string) string { return all[value] })
	}
	return all
}

// upstreams returns the names of all providers, and the variables of their addresses.
func upstreams() (providers, variables []string) {
	for _, name := range llm.APIs() {
		facts := llm.FactsOf(name)
		if slices.Contains(providers, facts.Provider) {
			continue
		}
		providers = append(providers, facts.Provider)
		if facts.BaseVariables != nil {
			variables = append(variables, facts.BaseVariables[0])
		}
	}
	return providers, variables
}
