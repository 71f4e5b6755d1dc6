package chapters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/transport"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAClientContinuesInAListedVersion(t *testing.T) {
	const old, both, newest = `"2025-11-25"`, `"2025-11-25","2025-06-18"`, "2026-07-28"
	discover := tracetest.Asks(1, "server/discover", newest)
	tools := func(id int) trace.Event { return tracetest.Asks(id, "tools/list", newest) }
	prompts := func(id int) trace.Event { return tracetest.Asks(id, "prompts/list", newest) }
	resources := tracetest.Asks(3, "resources/list", newest)
	initialize := func(id int, version string) trace.Event {
		return tracetest.SpokenBy(trace.FromClient,
			`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q}}`, id, version)
	}
	agrees := func(id int, version string) trace.Event {
		return tracetest.SpokenBy(trace.ToClient, `{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q}}`, id, version)
	}
	lists := func(id int, versions string) trace.Event {
		return tracetest.SpokenBy(trace.ToClient, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32022,"message":"unsupported",`+
			`"data":{"supported":[%s],"requested":"2026-07-28"}}}`, id, versions)
	}
	// uses is a request in a session, which names its version in a header.
	uses := func(version string) trace.Event {
		e := tracetest.SpokenBy(trace.FromClient, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
		e.Frame.HTTP = &trace.HTTP{Method: "POST", Header: map[string]string{"Mcp-Protocol-Version": version}}
		return e
	}
	type events = []trace.Event
	for revision, cases := range map[server.Revision]map[string]struct {
		want   report.Verdict
		events events
	}{
		server.V20260728: {
			"an unlisted version": {check.Failed, events{discover, lists(1, old), tools(2)}},
			"the listed version": {report.Pass,
				events{discover, lists(1, old), initialize(2, "2025-11-25"), agrees(2, "2025-11-25"), uses("2025-11-25")}},
			"the version of the response to initialize": {report.Pass,
				events{discover, lists(1, both), initialize(2, "2024-11-05"), agrees(2, "2025-06-18"), uses("2025-06-18")}},
			"not the version of the response to initialize": {check.Failed,
				events{discover, lists(1, both), initialize(2, "2025-11-25"), agrees(2, "2025-06-18"), uses("2025-11-25")}},
			"an older version in _meta": {check.Failed,
				events{discover, lists(1, both), tracetest.Asks(2, "tools/list", "2025-11-25")}},
			"an unlisted version first": {report.Warn, events{discover, lists(1, old), tools(2),
				initialize(3, "2025-11-25"), agrees(3, "2025-11-25"), uses("2025-11-25")}},
			"one request crosses the list": {report.NotApplicable, events{tools(1), lists(1, old), prompts(2), lists(2, old)}},
			"two requests cross the list": {report.NotApplicable,
				events{tools(1), lists(1, old), prompts(2), lists(2, old), resources, lists(3, old)}},
			"requests cross the list, then initialize": {report.Pass, events{tools(1), lists(1, old), prompts(2), resources,
				initialize(4, "2025-11-25"), agrees(4, "2025-11-25"), uses("2025-11-25")}},
			"initialize, then its own version": {check.Failed, events{prompts(1), lists(1, both),
				initialize(2, "2025-11-25"), agrees(2, "2025-06-18"), uses("2025-11-25")}},
			"the same request again":    {check.Failed, events{tools(1), lists(1, old), tools(2), lists(2, old), tools(3)}},
			"no request after the list": {report.NotApplicable, events{discover, lists(1, old)}},
			"initialize first": {report.NotApplicable,
				events{initialize(1, "2025-11-25"), agrees(1, "2025-11-25"), uses("2025-06-18")}},
			"no request": {report.Unsupported, nil},
		},
		server.V20251125: {
			"the version of the response": {report.Pass,
				events{initialize(1, "2025-11-25"), agrees(1, "2025-06-18"), uses("2025-06-18")}},
			"its own version": {check.Failed,
				events{initialize(1, "2025-11-25"), agrees(1, "2025-06-18"), uses("2025-11-25")}},
			"no request after the response": {report.NotApplicable,
				events{initialize(1, "2025-11-25"), agrees(1, "2025-06-18")}},
		},
	} {
		for name, c := range cases {
			t.Run(fmt.Sprint(revision, ": ", name), func(t *testing.T) {
				tr := &trace.Trace{Header: trace.Header{Revision: string(revision), ServerRevisions: []string{"2025-11-25",
					"2025-06-18"},
					Cases: []trace.Case{{ID: "transport/some", Tool: "transport-some"}}}, Whole: true}
				tr.Events = append(c.events, trace.Event{Process: &trace.Process{State: trace.Ended}})
				for i := range tr.Events {
					tr.Events[i].Seq = int64(i + 1)
				}
				v := judged(evidence.Decode(tr).Case("transport/some"))
				require.Equal(t, c.want, v.Kind, v.Message)
			})
		}
	}
}

func judged(e *evidence.Case) check.Verdict {
	for _, need := range transport.VersionListed.Needs {
		if v := need(e); v != nil {
			return *v
		}
	}
	return transport.VersionListed.Judge(e)
}

func TestAClientFollowsTheRulesOfTheVersionThatItFound(t *testing.T) {
	negotiates := func(s *session) { s.Trace.Header.ServerRevisions = []string{string(s.Revision)} }
	so := func(s *session) { s.Answers(strings.Replace(tracetest.Saying("So."), "gpt-4o", "scripted-model", 1)) }
	overStdio := func(s *session) {
		s.Trace.Header.Transport = trace.Stdio
		for i := range s.Trace.Events {
			if f := s.Trace.Events[i].Frame; f != nil {
				f.HTTP = nil
			}
		}
	}
	cancels := func(id string) step { return func(s *session) { s.GivesUp(id) } }
	tests := []transportTest{
		{"negotiated-rules", "one answer", report.Pass, "in 2025-11-25", []step{negotiates, fish, toModel, so, overStdio}},
		{"negotiated-rules", "two answers", report.Fail,
			"in 2025-11-25, which the client and the server agreed on: expected 1 response",
			[]step{negotiates, fish, toModel, so, so, overStdio}},
		{"negotiated-rules", "a cancel twice", report.Warn, "(always/own-cancels)",
			[]step{negotiates, fish, toModel, so, cancels("7"), cancels("7"), overStdio}},
		{"negotiated-rules", "a cancel twice, and of another request", report.Fail, "found 8 (always/own-cancels)",
			[]step{negotiates, fish, toModel, so, cancels("7"), cancels("7"), cancels("8"), overStdio}},
	}
	transportRun(t, "older-version", []server.Revision{server.V20251125}, tests)
}

func TestARefusalInAStoryOfTransportIsAnErrorResponse(t *testing.T) {
	refused := func(s *session) { s.Refuses(-32603, "no") }
	ended := func(s *session) { s.CallEnds(harness.Failed) }
	transportRun(t, "get-stream", []server.Revision{server.V20251125}, []transportTest{
		{"always/answered", "an error", report.Fail, "without a request", []step{fish, toModel, answered, fish, refused}},
		{"always/answered", "silence", report.Pass, "", []step{fish, toModel, answered, fish, ended}},
	})
	transportRun(t, "events", []server.Revision{server.V20260728}, []transportTest{
		{"always/answered", "silence", report.Pass, "", []step{fish, toModel, answered, fish, ended, barrier}},
	})
}

func TestACrashIsKnownByTheOutputOfTheRuntime(t *testing.T) {
	for stderr, want := range map[string]string{
		"panic: oh\n\ngoroutine 7 [running]:\nmain.main()\n":          "goroutine 7 [running]:",
		"thread 'main' panicked at src/main.rs:2:5:\n":                "thread 'main' panicked at src/main.rs:2:5:",
		"thread 'main' (17) panicked at src/main.rs:2:5:\n":           "thread 'main' (17) panicked at src/main.rs:2:5:",
		"      throw er; // Unhandled 'error' event\n      ^\n":       "      throw er; // Unhandled 'error' event",
		"Unhandled exception. IOException: Broken pipe\n":             "Unhandled exception. IOException: Broken pipe",
		"Traceback (most recent call last):\nBrokenPipeError: [32]\n": "",
		"ERROR: this is no error\npanic: nor is this\n":               "",
	} {
		require.Equal(t, want, evidence.CrashNote(stderr))
		require.Equal(t, want == "", evidence.EndedByItself(&trace.Process{State: trace.Ended, ExitCode: 1, Stderr: stderr}))
	}
	for _, p := range []*trace.Process{nil, {Deadline: true}, {Signal: "broken pipe"}, {Panic: "x"}, {Leak: "x"},
		{Interrupted: true}, {OutsideBubble: true}} {
		require.False(t, evidence.EndedByItself(p))
	}
}
