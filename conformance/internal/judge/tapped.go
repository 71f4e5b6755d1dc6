package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// shows are checks that apply as soon as something is in a session, and what that is.
var shows = []struct{ check, what string }{
	{"always/answered", "sampling request"}, {"always/not-executed", "sampling request with tools"},
	{"always/one-model-call", "request to the model"}, {"always/error-shape", "error of the client"},
	{"always/progress-tokens", "progress of the client"},
}

// onlyWhatWasThere removes from the results of tapped sessions what needs a story, or the client's beginning and end:
// nothing was provoked there. One note says how much was not judged, and what the sessions lack.
func onlyWhatWasThere(rs *report.Results) {
	idle := map[string]bool{} // the checks that judged nothing in any revision
	judged := slices.DeleteFunc(rs.Results, func(r report.Result) bool {
		switch r.Verdict {
		case report.NotObserved, report.NotApplicable, report.Unsupported:
		default:
			if !client.NeedsARun(r.Scenario, r.Check) {
				return false
			}
		}
		idle[r.ID()] = true
		return true
	})
	for _, r := range judged {
		delete(idle, r.ID())
	}
	rs.Results = judged
	if len(idle) == 0 {
		return
	}
	var lack []string
	for _, one := range shows {
		// No request is also none with tools.
		isSaid := slices.ContainsFunc(lack, func(said string) bool { return strings.HasPrefix("no "+one.what, said) })
		if idle[one.check] && !isSaid {
			lack = append(lack, "no "+one.what)
		}
	}
	note := "recorded sessions: "
	if lack != nil {
		note += "they have " + strings.Join(lack, ", ") + ": "
	}
	rs.Notes = append(rs.Notes, note+words.Count(len(idle), "check")+" had nothing to judge")
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
