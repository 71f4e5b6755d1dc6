package conformance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Requirement is a normative statement of the specification with the checks that enforce it.
type Requirement struct {
	report.Requirement
	Revision server.Revision
	Level    report.Level
	// Checks are the IDs of the checks that enforce it, in the order of the catalogue.
	Checks []string
	// Excluded is why no check enforces it; "" if one does.
	Excluded string
}

// Requirements returns the normative statements about sampling clients, in the order of revision and page.
func Requirements() []Requirement {
	by := enforcedBy()
	var all []Requirement
	for _, s := range requirements.Statements() {
		all = append(all, Requirement{
			Requirement: report.Requirement{ID: s.Place, URL: s.URL, Text: s.Text},
			Revision:    s.Revision, Level: s.Level, Checks: by[s.Place], Excluded: s.Excluded,
		})
	}
	return all
}

// enforcedBy returns the IDs of the checks that enforce each statement, by the statement's place.
func enforcedBy() map[string][]string {
	by := map[string][]string{}
	for _, s := range Scenarios() {
		for _, c := range s.Checks {
			for _, r := range c.enforces {
				by[r] = append(by[r], c.ID)
			}
		}
	}
	return by
}
