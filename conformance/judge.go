package conformance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Judge judges the traces of one run, in the order of the catalogue. What no trace has the cases of is not judged, and of a trace that is
// not whole nothing is said but what it shows. Its error says that there is nothing to judge.
func Judge(traces ...*trace.Trace) (*report.Results, error) {
	return judgeSelected(traces, nil)
}

// judge is Judge for a selection; nil selects everything.
func judgeSelected(traces []*trace.Trace, chosen *selection) (*report.Results, error) {
	return judge.Traces(withMade(catalogue(), traces), traces, chosen.check)
}
