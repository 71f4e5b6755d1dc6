package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func initializes(id int, version string) trace.Event {
	return tracetest.SpokenBy(trace.FromClient, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q}}`, id, version)
}

// follows is a request of the client's in a session of the older era, which names its version in a header.
func follows(id int, version string) trace.Event {
	e := tracetest.SpokenBy(trace.FromClient, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id)
	e.Frame.HTTP = &trace.HTTP{Method: "POST", Header: map[string]string{"Mcp-Protocol-Version": version}}
	return e
}

func lists(id int, versions string) trace.Event {
	return tracetest.SpokenBy(trace.ToClient, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32022,"message":"unsupported","data":{"supported":[%s],"requested":"2026-07-28"}}}`, id, versions)
}

func agrees(id int, version string) trace.Event {
	return tracetest.SpokenBy(trace.ToClient, `{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q}}`, id, version)
}

func TestAVersionIsHeldAgainstWhatTheServerSaidBefore(t *testing.T) {
	const old, older = `"2025-11-25"`, `"2025-11-25","2025-06-18"`
	for name, c := range map[string]struct {
		revision server.Revision
		events   []trace.Event
		want     report.Verdict
	}{
		"it insists":                 {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, old), tracetest.Asks(2, "tools/list", "2026-07-28")}, check.Failed},
		"it takes the list":          {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, old), initializes(2, "2025-11-25"), agrees(2, "2025-11-25"), follows(3, "2025-11-25")}, report.Pass},
		"it is corrected":            {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, older), initializes(2, "2024-11-05"), agrees(2, "2025-06-18"), follows(3, "2025-06-18")}, report.Pass},
		"it is not to be corrected":  {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, older), initializes(2, "2025-11-25"), agrees(2, "2025-06-18"), follows(3, "2025-11-25")}, check.Failed},
		"an older one as if newer":   {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, older), tracetest.Asks(2, "tools/list", "2025-11-25")}, check.Failed},
		"it comes round":             {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, old), tracetest.Asks(2, "tools/list", "2026-07-28"), initializes(3, "2025-11-25"), agrees(3, "2025-11-25"), follows(4, "2025-11-25")}, report.Warn},
		"on its way":                 {server.V20260728, []trace.Event{tracetest.Asks(1, "tools/list", "2026-07-28"), lists(1, old), tracetest.Asks(2, "prompts/list", "2026-07-28"), lists(2, old)}, report.NotApplicable},
		"several on their way":       {server.V20260728, []trace.Event{tracetest.Asks(1, "tools/list", "2026-07-28"), lists(1, old), tracetest.Asks(2, "prompts/list", "2026-07-28"), lists(2, old), tracetest.Asks(3, "resources/list", "2026-07-28"), lists(3, old)}, report.NotApplicable},
		"and then in the older era":  {server.V20260728, []trace.Event{tracetest.Asks(1, "tools/list", "2026-07-28"), lists(1, old), tracetest.Asks(2, "prompts/list", "2026-07-28"), tracetest.Asks(3, "resources/list", "2026-07-28"), initializes(4, "2025-11-25"), agrees(4, "2025-11-25"), follows(5, "2025-11-25")}, report.Pass},
		"in its own of that":         {server.V20260728, []trace.Event{tracetest.Asks(1, "prompts/list", "2026-07-28"), lists(1, older), initializes(2, "2025-11-25"), agrees(2, "2025-06-18"), follows(3, "2025-11-25")}, check.Failed},
		"again and again":            {server.V20260728, []trace.Event{tracetest.Asks(1, "tools/list", "2026-07-28"), lists(1, old), tracetest.Asks(2, "tools/list", "2026-07-28"), lists(2, old), tracetest.Asks(3, "tools/list", "2026-07-28")}, check.Failed},
		"it goes no further":         {server.V20260728, []trace.Event{tracetest.Asks(1, "server/discover", "2026-07-28"), lists(1, old)}, report.NotApplicable},
		"it opens in the older era":  {server.V20260728, []trace.Event{initializes(1, "2025-11-25"), agrees(1, "2025-11-25"), follows(2, "2025-06-18")}, report.NotApplicable},
		"it never came":              {server.V20260728, nil, report.Unsupported},
		"in the older era, agreed":   {server.V20251125, []trace.Event{initializes(1, "2025-11-25"), agrees(1, "2025-06-18"), follows(2, "2025-06-18")}, report.Pass},
		"in the older era, its own":  {server.V20251125, []trace.Event{initializes(1, "2025-11-25"), agrees(1, "2025-06-18"), follows(2, "2025-11-25")}, check.Failed},
		"in the older era, it ended": {server.V20251125, []trace.Event{initializes(1, "2025-11-25"), agrees(1, "2025-06-18")}, report.NotApplicable},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trace.Trace{Header: trace.Header{Revision: string(c.revision), Speaks: []string{"2025-11-25", "2025-06-18"}, Cases: []trace.Case{{ID: "transport/some", Tool: "transport-some"}}}, Whole: true}
			tr.Events = append(c.events, trace.Event{Process: &trace.Process{State: trace.Ended}})
			for i := range tr.Events {
				tr.Events[i].Seq = int64(i + 1)
			}
			v := versionListed.Judge(evidence.Decode(tr).Case("transport/some"))
			require.Equal(t, c.want, v.Kind, v.Message)
		})
	}
}

func TestACrashIsKnownByWhatTheRuntimeSays(t *testing.T) {
	for stderr, want := range map[string]string{
		"panic: oh\n\ngoroutine 7 [running]:\nmain.main()\n":          "goroutine 7 [running]:",
		"thread 'main' panicked at src/main.rs:2:5:\n":                "thread 'main' panicked at src/main.rs:2:5:",
		"      throw er; // Unhandled 'error' event\n      ^\n":       "      throw er; // Unhandled 'error' event",
		"Unhandled exception. System.IO.IOException: Broken pipe\n":   "Unhandled exception. System.IO.IOException: Broken pipe",
		"Traceback (most recent call last):\nBrokenPipeError: [32]\n": "",
		"ERROR: this is no error\npanic: nor is this\n":               "",
	} {
		require.Equal(t, want, evidence.CrashNote(stderr))
		require.Equal(t, want == "", evidence.EndedByItself(&trace.Process{State: trace.Ended, ExitCode: 1, Stderr: stderr}))
	}
	for _, p := range []*trace.Process{nil, {Deadline: true}, {Signal: "broken pipe"}, {Panic: "x"}, {Leak: "x"}, {Interrupted: true}, {Outside: true}} {
		require.False(t, evidence.EndedByItself(p))
	}
}
