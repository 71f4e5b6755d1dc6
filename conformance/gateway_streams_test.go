package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// two calls are open, and the server asks during the first.
func TestASamplingRequestIsOnTheStreamOfItsCall(t *testing.T) {
	for _, c := range []struct {
		name             string
		revision         string
		back, front      string // the streams of the request
		alone            bool   // no other call is open
		resumes          bool   // the client has resumed a stream
		want             report.Verdict
		message          string
		withoutOwnStream bool // the server's response is not on a stream
	}{
		{"its own", "2025-11-25", "post 1", "post 11", false, false, report.Pass, "1 compared", false},
		{"another call's", "2025-11-25", "post 1", "post 12", false, false, report.Fail,
			"call x, found it on that of another call", false},
		{"GET", "2025-11-25", "post 1", "get 1", true, false, report.Fail, "on a GET stream, which a client need not have",
			false},
		{"GET that resumes", "2025-11-25", "post 1", "get 1", false, true, report.NotApplicable, "", false},
		{"GET on both legs", "2025-11-25", "get 1", "get 1", false, false, report.NotApplicable, "", true},
		{"a server over stdio, one call", "2025-11-25", "", "get 1", true, false, report.Fail, "on a GET stream", false},
		{"a server over stdio, two calls", "2025-11-25", "", "post 12", false, false, report.NotApplicable, "", false},
		{"a client over stdio", "2025-11-25", "post 1", "", false, false, report.NotApplicable, "", false},
		{"a later revision", "2026-07-28", "post 1", "get 1", false, false, report.NotApplicable, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			const request = `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}`
			var events []trace.Event
			add := func(front bool, call int, dir trace.Direction, stream, raw string) {
				f := &trace.Frame{Dir: dir, Raw: trace.Bytes(raw), Stream: stream}
				if front {
					events = append(events, trace.Event{Front: f})
				} else {
					events = append(events, trace.Event{Frame: f, Case: "basic/x", Call: call})
				}
			}
			begin := func(n int) {
				raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"n":%d}}}`,
					n, n)
				add(true, 0, trace.FromClient, "", raw)
				add(false, n, trace.FromClient, "", raw)
			}
			end := func(n int) {
				raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, n)
				stream := fmt.Sprint("post ", n)
				if c.withoutOwnStream || c.back == "" {
					stream = ""
				}
				add(false, n, trace.ToClient, stream, raw)
				add(true, 0, trace.ToClient, fmt.Sprint("post 1", n), raw)
			}
			if c.resumes {
				events = append(events, trace.Event{Front: &trace.Frame{Dir: trace.FromClient,
					HTTP: &trace.HTTP{Method: "GET", Header: map[string]string{"Last-Event-Id": "1"}}}})
			}
			begin(1)
			if !c.alone {
				begin(2)
			}
			add(false, 1, trace.ToClient, c.back, request)
			add(true, 0, trace.ToClient, c.front, request)
			end(1)
			if !c.alone {
				end(2)
			}
			only := oneResult(report.Pass, report.Must)
			only.Results[0].Revision = c.revision
			results := conformance.JudgeGateway(only, only, []*trace.Trace{{Header: trace.Header{Revision: c.revision},
				Events: events, Whole: true}}).Results
			i := slices.IndexFunc(results, func(r report.Result) bool { return r.ID() == "gateway/streams" })
			require.Equal(t, c.want, results[i].Verdict, results[i].Message)
			require.Contains(t, results[i].Message, c.message)
		})
	}
}
