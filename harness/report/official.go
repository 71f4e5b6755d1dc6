package report

import (
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// officialCheck is a check in checks.json of the official conformance suite.
type officialCheck struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Status      string         `json:"status"`
	Timestamp   string         `json:"timestamp"`
	References  []officialSpec `json:"specReferences,omitempty"`
	Error       string         `json:"errorMessage,omitempty"`
	Details     map[string]any `json:"details,omitempty"`
}

type officialSpec struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// statuses are that suite's words for verdicts.
var statuses = map[Verdict]string{Pass: "SUCCESS", Fail: "FAILURE", HarnessError: "FAILURE", Warn: "WARNING",
	Info: "INFO", NotApplicable: "SKIPPED", Unsupported: "SKIPPED"}

// Official encodes the results as checks.json of the official conformance suite. at is the time of the run. Known
// failures stay failures: that suite has a baseline of its own.
func Official(rs *Results, at time.Time) []byte {
	checks := []officialCheck{}
	for i := range rs.Results {
		r := &rs.Results[i]
		c := officialCheck{ID: r.ID(), Name: r.Check, Description: fmt.Sprintf("%s in %s", r.ID(), r.Revision),
			Status: statuses[r.Verdict], Timestamp: at.UTC().Format("2006-01-02T15:04:05.000Z"),
			Details: map[string]any{"scenario": r.Scenario, "revision": r.Revision, "level": r.Level, "verdict": r.Verdict}}
		if r.Verdict == NotObserved {
			c.Status = statuses[Warn]
			if r.Level.Fails() {
				c.Status = statuses[Fail]
			}
		}
		if r.Requirement != nil {
			c.Description = r.Requirement.Text
			c.References = []officialSpec{{r.Requirement.ID, r.Requirement.URL}}
		}
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			c.Error = printable(r.Message)
		} else if r.Message != "" {
			c.Details["message"] = printable(r.Message)
		}
		checks = append(checks, c)
	}
	return plainJSON(checks)
}

func plainJSON(v any) []byte { return append(jsonvalue.Indented(v), '\n') }

// Badge encodes the results as a badge of shields.io: the answer of an endpoint.
func Badge(rs *Results, strict bool) []byte {
	counts := map[string]int{}
	for i := range rs.Results {
		r := &rs.Results[i]
		switch {
		case r.Failed(strict):
			counts["failed"]++
		case r.Known != nil:
			counts["known"]++
		case r.Verdict == Pass:
			counts["passed"]++
		}
	}
	badge := struct {
		Version int    `json:"schemaVersion"`
		Label   string `json:"label"`
		Message string `json:"message"`
		Color   string `json:"color"`
		Error   bool   `json:"isError,omitempty"`
	}{1, "mcp sampling", fmt.Sprintf("%d passed", counts["passed"]), "brightgreen", false}
	switch {
	case rs.Interrupted || len(rs.Results) == 0 || rs.Has(HarnessError):
		badge.Message, badge.Color, badge.Error = "not finished", "lightgrey", true
	case counts["failed"] > 0:
		badge.Message, badge.Color = fmt.Sprintf("%d failed", counts["failed"]), "red"
	case rs.Failed(strict):
		badge.Message, badge.Color = "baseline out of date", "red"
	case counts["known"] > 0:
		badge.Message, badge.Color = badge.Message+fmt.Sprintf(", %d known failures", counts["known"]), "yellow"
	}
	return plainJSON(badge)
}
