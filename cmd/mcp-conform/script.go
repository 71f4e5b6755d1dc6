package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

type script struct {
	options llm.Options
	rules   []*llm.Rule
	// warnings name the rules that never answer, since an earlier one answers all their requests.
	warnings []string
}

func readScript(path string) (*script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return parseScript(path, data)
}

func parseScript(name string, data []byte) (*script, error) {
	var file scriptFile
	if err := yamlfile.Decode(name, data, &file); err != nil {
		return nil, err
	}
	if len(file.Rules) == 0 {
		return nil, fmt.Errorf("%s: expected at least one rule under rules, found none", name)
	}
	s := &script{options: llm.Options{Lenient: file.Lenient}}
	if file.Pace != nil {
		s.options.Pace = file.Pace.pace()
		if err := s.options.Pace.Validate(); err != nil {
			return nil, yamlfile.ValueError(name, data, fmt.Errorf("the script %s", inYAML(err)), "pace")
		}
	}
	for i := range file.Rules {
		rule, at, err := file.Rules[i].rule()
		if err == nil {
			at, err = nil, rule.Validate()
		}
		if err != nil {
			return nil, yamlfile.ValueError(name, data, fmt.Errorf("rule %d %s", i+1, inYAML(err)),
				append([]any{"rules", i}, at...)...)
		}
		s.rules = append(s.rules, rule.Named(file.Rules[i].When.String()))
		for n := range i {
			if file.Rules[n].Times == nil && file.Rules[n].When.includes(&file.Rules[i].When) {
				s.warnings = append(s.warnings, fmt.Sprintf("%s:%d: warning: rule %d never answers, since rule %d answers all its "+
					"requests: move it up, or limit rule %d with times", name, yamlfile.Lines(data)("rules", i), i+1, n+1, n+1))
				break
			}
		}
	}
	return s, nil
}

// goCall matches a function of fakes/llm in its messages.
var goCall = regexp.MustCompile(`\b([A-Z])(\w*)\([^()]*\)`)

// inYAML writes an error of fakes/llm in the terms of the file.
func inYAML(err error) string {
	text := goCall.ReplaceAllStringFunc(err.Error(), func(call string) string {
		name, _, _ := strings.Cut(call, "(")
		return strings.ToLower(name[:1]) + name[1:]
	})
	words := strings.NewReplacer("Reply and Fail", "reply and fail", "a Pace", "a pace", "a Jitter", "a jitter")
	return words.Replace(text)
}

// includes reports whether all requests of another rule are requests of this one, too.
func (w *scriptWhen) includes(other *scriptWhen) bool {
	contains := func(part, whole *string) bool { return part == nil || whole != nil && strings.Contains(*whole, *part) }
	return contains(w.LastUser, other.LastUser) && contains(w.System, other.System) &&
		sameOrAny(w.ToolResults, other.ToolResults) && sameOrAny(w.Turn, other.Turn) && sameOrAny(w.Offers, other.Offers) &&
		sameOrAny(w.Choice, other.Choice) && sameOrAny(w.Model, other.Model) && sameOrAny(w.Dialect, other.Dialect)
}

func sameOrAny[T comparable](any, one *T) bool { return any == nil || one != nil && *any == *one }

func (w *scriptWhen) String() string {
	var n yaml.Node
	err := n.Encode(w)
	n.Style = yaml.FlowStyle
	text, dumpErr := yaml.Dump(&n, yaml.WithLineWidth(-1))
	if err := cmp.Or(err, dumpErr); err != nil { // texts and numbers can always be written
		panic(err)
	}
	return "when: " + strings.TrimSpace(string(text))
}
