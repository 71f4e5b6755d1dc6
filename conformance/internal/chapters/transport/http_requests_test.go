package transport

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestRequestsAcceptJSONAndEventStreams(t *testing.T) {
	const both = "application/json, text/event-stream"
	posts := func(accept string) step {
		return inOrder(barrier, func(s *session) {
			for _, e := range s.Trace.Events {
				if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method == "POST" {
					f.HTTP.Header["Accept"] = accept
				}
			}
		})
	}
	get := func(accept string) step { return request("", "GET", map[string]string{"Accept": accept}) }
	run(t, "plain", nil, []test{
		{"accept-header", "both", report.Pass, "", []step{posts(both)}},
		{"accept-header", "both, with weights and in capitals", report.Pass, "",
			[]step{posts("Text/Event-Stream;q=0.9, application/JSON; charset=utf-8, */*")}},
		{"accept-header", "JSON only", report.Fail, "text/event-stream in the Accept header of a POST",
			[]step{posts("application/json")}},
		{"accept-header", "a wildcard", report.Fail, `application/json in the Accept header of a POST, found "*/*"`,
			[]step{posts("*/*")}},
		{"accept-header", "nothing", report.Fail, "application/json in the Accept header of a POST", []step{posts("")}},
		{"one-message", "one per POST", report.Pass, "", []step{barrier}},
		{"one-message", "an array", report.Fail, "an array", []step{sends(` [{"jsonrpc":"2.0"}]`)}},
	})
	run(t, "plain", tracetest.InA, []test{
		{"accept-header", "a GET for streams", report.Pass, "", []step{get("text/event-stream"), posts(both)}},
		{"accept-header", "a GET with a wildcard", report.Fail, "text/event-stream in the Accept header of a GET",
			[]step{get("*/*"), posts(both)}},
	})
}

func TestRequestsNameSessionAndVersion(t *testing.T) {
	complete := func(s *session) {
		for _, e := range s.Trace.Events {
			if f := e.Frame; f != nil && f.HTTP != nil && f.HTTP.Method != "" && f.Session != "" {
				f.HTTP.Header["Mcp-Session-Id"] = tracetest.SessionID
			}
		}
	}
	run(t, "plain", tracetest.InA, []test{
		{"response-post", "both", report.Pass, "", []step{barrier, complete}},
		{"response-post", "a response without version", report.Fail, "MCP-Protocol-Version, found none",
			[]step{barrier, complete, header("Mcp-Protocol-Version", "")}},
		{"response-post", "a response without session", report.Fail, "Mcp-Session-Id, found none",
			[]step{barrier, complete, header("Mcp-Session-Id", "")}},
		{"response-post", "another version", report.Warn, "2025-11-25, found 2025-06-18",
			[]step{barrier, complete, header("Mcp-Protocol-Version", "2025-06-18")}},
		{"response-post", "no response", report.NotObserved, "", []step{complete}},
	})
}

func TestIDsAreNewInTheirSession(t *testing.T) {
	pings := func(id string) []step { return []step{sends(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)} }
	calls := func(s *session) { s.Calls() }
	connects := inOrder(sends(`{"jsonrpc":"2.0","id":0,"method":"server/discover"}`),
		func(s *session) { last(s).Session = "" }, initializes(tracetest.Everything, nil),
		func(s *session) { last(s).Session = fmt.Sprint("session-", len(s.Trace.Events)) })
	run(t, "plain", tracetest.InA, []test{
		{"own-ids", "new ids", report.Pass, "", nil},
		{"own-ids", "an id twice", report.Fail, "found one twice", []step{calls}},
		{"own-ids", "an id twice in another notation", report.Fail, "found one twice", pings("7.0")},
		{"own-ids", "an id before and in each of two sessions", report.Pass, "", []step{connects, connects}},
		{"own-ids", "a string with the digits of a number", report.Pass, "", pings(`"7"`)},
		{"own-ids", "a fraction", report.Fail, "another value", pings("7.5")},
		{"own-ids", "null", report.Fail, "another value", pings("null")},
		{"own-ids", "an object", report.Fail, "another value", pings("{}")},
	})
}

func TestAClientEndsItsSessions(t *testing.T) {
	deletes := request("", "DELETE", nil)
	run(t, "plain", tracetest.InA, []test{
		{"ends-session", "a DELETE", report.Pass, "", []step{deletes}},
		{"ends-session", "two for one of two sessions", report.Warn, "found none for 1 of 2",
			[]step{initializes(tracetest.Everything, nil), deletes, deletes}},
		{"ends-session", "no DELETE", report.Warn, "found none for 1 of 1", nil},
		{"ends-session", "the client dies", report.NotObserved, "it exited with status 1", []step{dies}},
	})
}

func TestNamesInHeadersAreEncoded(t *testing.T) {
	gets := func(name, encoded string) []step {
		return []step{func(s *session) {
			s.Trace.Header.Cases[0].Tool, s.Trace.Header.Cases[0].Carrier = name, "prompts/get"
			s.Frame(s.CaseID, trace.FromClient, 0,
				`{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"`+name+`"}}`)
		}, header("Mcp-Name", encoded), func(s *session) {
			events := s.Trace.Events[:0]
			for _, e := range s.Trace.Events { // without the call of a tool that begins each story
				if e.Case == "" || e.Frame.HTTP.Header["Mcp-Name"] == encoded {
					events = append(events, e)
				}
			}
			s.Trace.Events = events
		}}
	}
	run(t, "encoded-name", tracetest.InB, []test{
		{"header-value", "encoded", report.Pass, "", gets("Größe", "=?base64?R3LDtsOfZQ==?=")},
		{"header-value", "unencoded", report.Fail, "not ASCII", gets("Größe", "Größe")},
		{"header-value", "markers in capitals", report.Fail, `found "=?BASE64?R3LDtsOfZQ==?="`,
			gets("Größe", "=?BASE64?R3LDtsOfZQ==?=")},
		{"header-value", "invalid Base64", report.Fail, "base64", gets("Größe", "=?base64?R3LD!?=")},
		{"header-value", "an unencoded look-alike", report.Fail, `expected the name "=?base64?aGk=?="`,
			gets("=?base64?aGk=?=", "=?base64?aGk=?=")},
		{"header-value", "an encoded look-alike", report.Pass, "",
			gets("=?base64?aGk=?=", "=?base64?PT9iYXNlNjQ/YUdrPT89?=")},
	})
}
