package always_test

import (
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// eachPost edits the headers of the client's requests so far.
func eachPost(edit func(f *trace.Frame)) steps {
	return func(s *session) {
		for _, e := range s.Trace.Events {
			if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method != "" {
				edit(f)
			}
		}
	}
}

func header(name, value string) steps {
	return eachPost(func(f *trace.Frame) {
		if f.Session != "" || name == "Accept" {
			f.HTTP.Header[name] = value
		}
	})
}

func TestRequestsAcceptJSONAndEventStreams(t *testing.T) {
	const both = "application/json, text/event-stream"
	get := func(accept string) steps {
		return func(s *session) {
			header("Accept", both)(s)
			s.Frame("", trace.FromClient, 0, "")
			s.Trace.Events[len(s.Trace.Events)-1].Frame.HTTP = &trace.HTTP{Method: "GET",
				Header: map[string]string{"Accept": accept}}
		}
	}
	judges(t, "accept-header", "basic/question",
		passes("both", header("Accept", both)),
		passes("both, with weights and in capitals",
			header("Accept", "Text/Event-Stream;q=0.9, application/JSON; charset=utf-8, */*")),
		fails("JSON only", header("Accept", "application/json"), "text/event-stream in the Accept header of a POST"),
		fails("a wildcard", header("Accept", "*/*"), `application/json in the Accept header of a POST, found "*/*"`),
		fails("nothing", header("Accept", ""), "application/json in the Accept header of a POST"),
		legacy(passes("a GET for streams", get("text/event-stream"))),
		legacy(fails("a GET with a wildcard", get("*/*"), "text/event-stream in the Accept header of a GET")),
	)
	judges(t, "one-message", "basic/question",
		passes("one for each POST", right),
		fails("an array", sends(` [{"jsonrpc":"2.0"}]`), "an array"),
	)
}

func TestRequestsNameSessionAndVersion(t *testing.T) {
	complete := inOrder(tracetest.Asked(asked, answer), header("Mcp-Session-Id", tracetest.SessionID))
	judges(t, "session-headers", "basic/question",
		legacy(passes("both", complete)),
		legacy(fails("no version", inOrder(complete, header("Mcp-Protocol-Version", "")),
			"MCP-Protocol-Version, found none")),
		legacy(fails("no session", inOrder(complete, header("Mcp-Session-Id", "")), "Mcp-Session-Id, found none")),
		legacy(tracetest.Warns("another version", inOrder(complete, header("Mcp-Protocol-Version", "2025-06-18")),
			"2025-11-25, found 2025-06-18")),
		legacy(passes("a GET that may have left before the session began", inOrder(complete, bareGET, atOnce))),
		legacy(fails("a GET after the client's next message", inOrder(complete, bareGET), "Mcp-Session-Id, found none")),
	)
}

// atOnce moves the last event behind the result of initialize.
func atOnce(s *session) {
	last := len(s.Trace.Events) - 1
	s.Trace.Events = slices.Insert(s.Trace.Events[:last:last], 3, s.Trace.Events[last])
}

// bareGET is a GET without session and version.
func bareGET(s *session) {
	s.Frame("", trace.FromClient, 0, "")
	s.Trace.Events[len(s.Trace.Events)-1].Frame.HTTP = &trace.HTTP{Method: "GET", Header: map[string]string{}}
}
