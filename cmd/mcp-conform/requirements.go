package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
)

// What is done about a statement.
const (
	enforced = "enforced"
	excluded = "excluded"
)

// listedStatement is a statement of the specification, and what is done about it.
type listedStatement struct {
	ID       string          `json:"id"`
	Revision server.Revision `json:"revision"`
	Level    report.Level    `json:"level"`
	Says     string          `json:"says"`
	URL      string          `json:"url"`
	State    string          `json:"state"`
	Why      string          `json:"why,omitempty"` // it is excluded
	Checks   []provenCheck   `json:"checks,omitempty"`
}

// provenCheck is a check and the mutants that it must fail.
type provenCheck struct {
	ID      string   `json:"id"`
	Mutants []string `json:"mutants"`
}

// listRequirements is the table of requirements of the revisions, nil for all, in the format: text, json or markdown.
func listRequirements(format string, revisions []string) ([]byte, error) {
	list := listedStatements()
	if revisions != nil {
		list = slices.DeleteFunc(list, func(s listedStatement) bool { return !slices.Contains(revisions, string(s.Revision)) })
	}
	var b bytes.Buffer
	switch format {
	case "json":
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			return nil, err
		}
	case "markdown":
		requirementsMarkdown(&b, list)
	default:
		requirementsText(&b, list)
	}
	return b.Bytes(), nil
}

func listedStatements() []listedStatement {
	provers := proversOf()
	var list []listedStatement
	for _, s := range conformance.Requirements() {
		listed := listedStatement{ID: s.ID, Revision: s.Revision, Level: s.Level, Says: s.Text, URL: s.URL, State: enforced}
		if s.Excluded != "" {
			listed.State, listed.Why = excluded, s.Excluded
		}
		for _, id := range s.Checks {
			listed.Checks = append(listed.Checks, provenCheck{id, append([]string{}, provers[id]...)})
		}
		list = append(list, listed)
	}
	return list
}

// proversOf are the mutants that each check must fail, in the catalogue's order.
func proversOf() map[string][]string {
	provers := map[string][]string{}
	for _, m := range mutants.All() {
		for _, id := range m.Kills {
			provers[id] = append(provers[id], m.Name)
		}
	}
	return provers
}

func requirementsText(b *bytes.Buffer, list []listedStatement) {
	for _, s := range list {
		fmt.Fprintf(b, "%s  %s  %s\n    %s\n", s.ID, s.Level, s.Says, s.URL)
		if s.Why != "" {
			fmt.Fprintf(b, "    %s: %s\n", s.State, s.Why)
		}
		for _, c := range s.Checks {
			fmt.Fprintf(b, "    checked by %s, proven by %s\n", c.ID, strings.Join(c.Mutants, ", "))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s\n", tally(list))
}

// tally counts what is done about the statements.
func tally(list []listedStatement) string {
	counts := map[string]int{}
	for _, s := range list {
		counts[s.State]++
	}
	return fmt.Sprintf("%d statements: %d %s, %d %s", len(list), counts[enforced], enforced, counts[excluded], excluded)
}

func requirementsMarkdown(b *bytes.Buffer, list []listedStatement) {
	fmt.Fprintf(b, "# Requirements\n\n%s.\n", tally(list))
	var revision server.Revision
	for _, s := range list {
		if s.Revision != revision {
			revision = s.Revision
			fmt.Fprintf(b, "\n## %s\n\n| statement | level | what it says | checks, and the mutants that prove them |\n|---|---|---|---|\n", revision)
		}
		_, name, _ := strings.Cut(s.ID, "/")
		fmt.Fprintf(b, "| [%s](%s) | %s | %s | %s |\n", name, s.URL, s.Level, cell(s.Says), s.done())
	}
}

// done is what is done about a statement, in a cell of a table.
func (s *listedStatement) done() string {
	if s.Why != "" {
		return s.State + ": " + s.Why
	}
	var checks []string
	for _, c := range s.Checks {
		checks = append(checks, fmt.Sprintf("`%s` (%s)", c.ID, strings.Join(c.Mutants, ", ")))
	}
	return strings.Join(checks, "<br>")
}

// cell is text that a table of Markdown holds as it is.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "_", `\_`, "*", `\*`).Replace(text)
}
