package conformance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/judge"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Judge judges the traces of one run. The results are in the order of the catalogue and cover only the cases of the
// traces. An incomplete trace counts only for what it contains. It returns an error if the traces have no session.
func Judge(traces ...*trace.Trace) (*report.Results, error) {
	return judgeSelected(traces, nil)
}

func judgeSelected(traces []*trace.Trace, chosen *selection) (*report.Results, error) {
	return judge.Traces(withGenerated(catalogue(), traces), traces, chosen.check)
}
