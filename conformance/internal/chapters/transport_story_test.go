package chapters_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/transport"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// transportTest is a story and the verdict of a check of this chapter.
type transportTest struct {
	check, name string
	verdict     report.Verdict
	message     string
	steps       []step
}

// transportRun runs tests about one case, in the revisions; nil for the newest of both eras.
func transportRun(t *testing.T, caseID string, in []server.Revision, tests []transportTest) {
	var all []tracetest.Test
	for _, c := range tests {
		id := c.check
		if !strings.Contains(id, "/") {
			id = "transport/" + id
		}
		all = append(all, tracetest.Test{Name: c.name, Check: id, CaseID: "transport/" + caseID, In: in,
			Dialects: tracetest.Native, Verdict: c.verdict, Message: c.message, Steps: inOrder(c.steps...)})
	}
	tracetest.Run(t, check.Catalogue{transport.Scenario, always.Scenario}, all)
}

func last(s *session) *trace.Frame { return s.Trace.Events[len(s.Trace.Events)-1].Frame }

// The server's question, and what the client does with it.
var (
	fish           = func(s *session) { s.Asks(tracetest.Fish) }
	toModel        = func(s *session) { s.Prompts(tracetest.Fish) }
	answered       = func(s *session) { s.Answers(tracetest.Saying("So.")) }
	barrier        = func(s *session) { s.PassesBarrier() }
	transportDies  = func(s *session) { s.Ends(tracetest.Died) }
	transportHangs = func(s *session) { s.Ends(trace.Process{Deadline: true}) }
	transportEnds  = func(s *session) { s.Ends(trace.Process{}) }
	addsCases      = func(s *session) {
		s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	}
)

func transportRefused(code int) step { return func(s *session) { s.Refuses(code, "no") } }

func ends(mark string) step { return func(s *session) { s.Marks(mark, "") } }

// transportResult and failure are responses to the request with the id.
func transportResult(id string) step {
	return func(s *session) { s.Responds(id, `"result":`+tracetest.Saying("So.")) }
}

func failure(id string) step {
	return func(s *session) { s.Responds(id, `"error":{"code":-32600,"message":"no"}`) }
}

// sends and receives are a message of the client outside the case, and a response of the server with a status.
func sends(raw string) step {
	return func(s *session) { s.Frame("", trace.FromClient, 0, raw) }
}

func receives(status int, raw string) step {
	return func(s *session) { s.Frame("", trace.ToClient, status, raw) }
}

// transportRequest is an HTTP request of the client without a message, of the case or, if that is "", of the session.
func transportRequest(caseID, method string, header map[string]string) step {
	return func(s *session) {
		s.Add(caseID, trace.Event{Call: min(s.Call, len(caseID)), Frame: &trace.Frame{Dir: trace.FromClient,
			Session: tracetest.SessionID, HTTP: &trace.HTTP{Method: method, Header: header}}})
	}
}

// header sets a header of the client's last request; "" removes it.
func header(name, value string) step {
	return func(s *session) {
		h := last(s).HTTP.Header
		if delete(h, name); value != "" {
			h[name] = value
		}
	}
}

// initializes starts another session.
func initializes(capabilities string, header map[string]string) step {
	return func(s *session) {
		s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":10,"method":"initialize","params":{"protocolVersion":"`+
			string(s.Revision)+`","capabilities":`+capabilities+`}}`)
		last(s).Session, last(s).HTTP.Header = "", header
		s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":10,"result":{"protocolVersion":"`+string(s.Revision)+`"}}`)
		last(s).Session = "session-2"
	}
}

// numbered gives the server's last message an event id.
func numbered(id string) step { return func(s *session) { last(s).Event = id } }

func resent(s *session) { last(s).Resent = true }

// disconnects closes the connection of the call after the third event of its stream.
func disconnects(retry time.Duration) step {
	return func(s *session) {
		s.Add(s.CaseID, trace.Event{Call: s.Call, Frame: &trace.Frame{Dir: trace.ToClient, Session: tracetest.SessionID,
			Stream: "post-1", Event: "post-1/3", Retry: retry, Closed: true}})
	}
}

// comesBack is the client's GET after some time.
func comesBack(after time.Duration, event string) step {
	return func(s *session) {
		s.Passed += after
		transportRequest(s.CaseID, "GET", map[string]string{"Last-Event-Id": event})(s)
	}
}
