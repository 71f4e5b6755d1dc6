package main

import (
	_ "embed" // help.txt
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/proof/faults"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// fillIn puts the vars in the place of their names in a struct tag.
func fillIn(tag string) string {
	if !strings.Contains(tag, "${") {
		return tag
	}
	return os.Expand(tag, func(name string) string {
		text, ok := vars()[name]
		if !ok {
			panic("no variable is called " + name)
		}
		return text
	})
}

// writeUsage writes how a command is called, with its arguments, its own commands, and its flags.
func writeUsage(c *cobra.Command, arguments []*value) error {
	text := "Usage:\n  " + c.UseLine() + "\n"
	if len(arguments) > 0 {
		text += "\nArguments:\n"
	}
	width := 0
	for _, v := range arguments {
		width = max(width, len(v.summary()))
	}
	for _, v := range arguments {
		text += folded(fmt.Sprintf("  %-*s   ", width, v.summary()), v.help())
	}
	if c.HasSubCommands() {
		text += "\nCommands:\n"
	}
	for _, child := range c.Commands() {
		if !child.Hidden {
			text += folded(fmt.Sprintf("  %-*s  ", c.NamePadding(), child.Name()), child.Short)
		}
	}
	_, err := fmt.Fprintf(c.OutOrStderr(), "%s\nFlags:\n%s", text, c.Flags().FlagUsagesWrapped(helpWidth))
	return err
}

// helpWidth is the width of a help, in characters.
const helpWidth = 80

// folded returns a text behind a head, in lines of helpWidth. All of them begin in one column.
func folded(head, text string) string {
	return head + strings.Join(words.Lines(text, len(head), helpWidth), "\n"+strings.Repeat(" ", len(head))) + "\n"
}

// flagError says in our words what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		err = suggest(errors.New("unknown flag "+name), name, known)
	case errors.As(err, &unknown):
		err = fmt.Errorf("unknown flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		f := missing.GetFlag()
		err = fmt.Errorf("--%s: expected %s, found none", f.Name, f.Value.Type())
	case errors.As(err, &wrong):
		err = fmt.Errorf("--%s: %w", wrong.GetFlag().Name, wrong.Unwrap())
	}
	return err
}

//go:embed help.txt
var helpTexts string

// vars are the texts of help.txt, in which a line that is indented continues the one before it, and the values that
// they name.
var vars = sync.OnceValue(func() map[string]string {
	providers, variables := upstreams()
	all := map[string]string{
		"kinds":          strings.Join(initKinds(), ", "),
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
		"dialects":       strings.Join(dialects.Names(), ", "),
		"features":       strings.Join(harness.Features(), ", "),
		"explored":       fmt.Sprint(hooks.DefaultExplore),
		"goal":           fmt.Sprint(faults.Goal),
	}
	for line := range strings.Lines(strings.ReplaceAll(helpTexts, "\n  ", " ")) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		all[name] = os.Expand(text, func(value string) string { return all[value] })
	}
	return all
})

// upstreams returns the names of all providers, and the variables of their addresses.
func upstreams() (providers, variables []string) {
	for _, name := range dialects.APIs() {
		facts := dialects.FactsOf(name)
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
