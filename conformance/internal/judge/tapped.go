package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// onlyWhatWasThere removes from the results of tapped sessions what needs a story, or the client's beginning and end:
// nothing was provoked there. One note says what was not judged.
func onlyWhatWasThere(rs *report.Results) {
	var idle []string
	rs.Results = slices.DeleteFunc(rs.Results, func(r report.Result) bool {
		switch r.Verdict {
		case report.NotObserved, report.NotApplicable, report.Unsupported:
		default:
			if !client.NeedsARun(r.Scenario, r.Check) {
				return false
			}
		}
		if id := r.ID(); !slices.Contains(idle, id) {
			idle = append(idle, id)
		}
		return true
	})
	if idle != nil {
		rs.Notes = append(rs.Notes, fmt.Sprintf("recorded sessions: %d checks had nothing to judge there: %s",
			len(idle), strings.Join(idle, ", ")))
	}
}

// noteCut says how many of the sessions have no end. Nothing is judged there that needs one: none of a tap has Ended.
func noteCut(rs *report.Results, traces []*trace.Trace) {
	n := 0
	for _, t := range traces {
		if t.Cut {
			n++
		}
	}
	if n > 0 {
		rs.Notes = append(rs.Notes, fmt.Sprintf(
			"the end of %d of %d recorded sessions is missing: the tap was killed, or still records", n, len(traces)))
	}
}
