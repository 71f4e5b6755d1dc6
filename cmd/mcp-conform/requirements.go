package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// States of a requirement.
const (
	enforced = "enforced"
	excluded = "excluded"
)

// listedRequirement is a sentence of the specification, with the checks that enforce it, or the reason why none does.
type listedRequirement struct {
	ID       string          `json:"id"`
	Revision server.Revision `json:"revision"`
	Level    report.Level    `json:"level"`
	Text     string          `json:"text"`
	URL      string          `json:"url"`
	State    string          `json:"state"`
	Reason   string          `json:"reason,omitempty"` // of an excluded one
	Checks   []provenCheck   `json:"checks,omitempty"`
}

type provenCheck struct {
	ID      string   `json:"id"`
	Mutants []string `json:"mutants"`
}

// listRequirements writes the requirements of the revisions, nil for all, as text, json or markdown.
func listRequirements(s streams, format string, revisions []string) error {
	list := listedRequirements()
	if revisions != nil {
		list = slices.DeleteFunc(list, func(r listedRequirement) bool {
			return !slices.Contains(revisions, string(r.Revision))
		})
	}
	if format == "json" {
		return s.json(list)
	}
	text := requirementsText
	if format == "markdown" {
		text = requirementsMarkdown
	}
	_, err := s.out.Write(text(list))
	return err
}

func listedRequirements() []listedRequirement {
	provers := map[string][]string{} // mutants by check
	for _, m := range mutants.All() {
		for _, id := range m.Kills {
			provers[id] = append(provers[id], m.Name)
		}
	}
	var list []listedRequirement
	for _, s := range conformance.Requirements() {
		r := listedRequirement{ID: s.ID, Revision: s.Revision, Level: s.Level, Text: s.Text, URL: s.URL, State: enforced}
		if s.Excluded != "" {
			r.State, r.Reason = excluded, s.Excluded
		}
		for _, id := range s.Checks {
			r.Checks = append(r.Checks, provenCheck{id, append([]string{}, provers[id]...)})
		}
		list = append(list, r)
	}
	return list
}

func requirementsText(list []listedRequirement) []byte {
	var b bytes.Buffer
	for _, r := range list {
		fmt.Fprintf(&b, "%s  %s  %s\n    %s\n", r.ID, r.Level, r.Text, r.URL)
		if r.Reason != "" {
			fmt.Fprintf(&b, "    %s: %s\n", r.State, r.Reason)
		}
		for _, c := range r.Checks {
			fmt.Fprintf(&b, "    checked by %s, proven by %s\n", c.ID, strings.Join(c.Mutants, ", "))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s\n", tally(list))
	return b.Bytes()
}

func tally(list []listedRequirement) string {
	counts := map[string]int{}
	for _, r := range list {
		counts[r.State]++
	}
	return fmt.Sprintf("%d requirements: %d enforced, %d excluded", len(list), counts[enforced], counts[excluded])
}

func requirementsMarkdown(list []listedRequirement) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Requirements\n\n%s.\n", tally(list))
	var revision server.Revision
	for _, r := range list {
		if r.Revision != revision {
			revision = r.Revision
			const head = "| requirement | level | text | checks and their mutants |\n|---|---|---|---|"
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", revision, head)
		}
		_, name, _ := strings.Cut(r.ID, "/")
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s |\n", name, r.URL, r.Level, cell.Replace(r.Text), r.stateCell())
	}
	return b.Bytes()
}

func (r *listedRequirement) stateCell() string {
	if r.Reason != "" {
		return r.State + ": " + r.Reason
	}
	var checks []string
	for _, c := range r.Checks {
		checks = append(checks, fmt.Sprintf("`%s` (%s)", c.ID, strings.Join(c.Mutants, ", ")))
	}
	return strings.Join(checks, "<br>")
}

var cell = strings.NewReplacer("|", `\|`, "_", `\_`, "*", `\*`)
