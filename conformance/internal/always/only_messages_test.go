package always_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestALineCutByTheEndOfTheServerIsNoFailure(t *testing.T) {
	end := trace.Event{Frame: &trace.Frame{Dir: trace.ToClient, Closed: true, Hostile: true}}
	half := trace.Event{Frame: &trace.Frame{Dir: trace.FromClient, Raw: trace.Bytes(`{"jsonrpc":"2.0","id":3,"meth`),
		Partial: true}}
	for name, c := range map[string]struct {
		events []trace.Event
		want   report.Verdict
	}{
		"the server ended":           {[]trace.Event{tracetest.Asks(1, "ping", ""), end, half}, report.Pass},
		"the client ended in a line": {[]trace.Event{tracetest.Asks(1, "ping", ""), half}, check.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trace.Trace{Header: trace.Header{Revision: string(server.V20251125), Transport: trace.Stdio}, Whole: true}
			tr.Events = append(c.events, trace.Event{Process: &trace.Process{State: trace.Ended}})
			for i := range tr.Events {
				tr.Events[i].Seq = int64(i + 1)
			}
			v := always.OnlyMessages([]*evidence.Session{evidence.Decode(tr)})
			require.Equal(t, c.want, v.Kind, v.Message)
		})
	}
}
