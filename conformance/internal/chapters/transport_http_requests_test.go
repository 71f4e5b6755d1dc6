package chapters_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/transport"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAClientEndsItsSessions(t *testing.T) {
	deletes := transportRequest("", "DELETE", nil)
	transportRun(t, "plain", tracetest.InA, []transportTest{
		{"ends-session", "a DELETE", report.Pass, "", []step{deletes}},
		{"ends-session", "two for one of two sessions", report.Warn, "found none for 1 of 2",
			[]step{initializes(tracetest.Everything, nil), deletes, deletes}},
		{"ends-session", "no DELETE", report.Warn, "found none for 1 of 1", nil},
		{"ends-session", "the client dies", report.NotObserved, "it exited with status 1", []step{transportDies}},
	})
}

func TestAReportShowsTheSessionThatAClientDidNotEnd(t *testing.T) {
	s := tracetest.Begin(t, check.Catalogue{transport.Scenario}, server.V20251125, dialect.Native, "transport/plain")
	transportRequest("", "DELETE", nil)(s)
	initializes(tracetest.Everything, nil)(s)
	opened := s.Trace.Events[len(s.Trace.Events)-1].Seq
	s.Ends(trace.Process{})
	shown := s.Result("transport/ends-session").Evidence
	require.Len(t, shown, 1)
	require.Equal(t, opened, shown[0].Seq)
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
	transportRun(t, "encoded-name", tracetest.InB, []transportTest{
		{"always/http-headers", "encoded", report.Pass, "", gets("Größe", "=?base64?R3LDtsOfZQ==?=")},
		{"always/http-headers", "unencoded", report.Fail, "not ASCII", gets("Größe", "Größe")},
		{"always/http-headers", "markers in capitals", report.Fail, `=?BASE64?R3LDtsOfZQ==?=`,
			gets("Größe", "=?BASE64?R3LDtsOfZQ==?=")},
		{"always/http-headers", "invalid Base64", report.Fail, "base64", gets("Größe", "=?base64?R3LD!?=")},
		{"always/http-headers", "an unencoded look-alike", report.Fail, `expected "=?base64?aGk=?="`,
			gets("=?base64?aGk=?=", "=?base64?aGk=?=")},
		{"always/http-headers", "an encoded look-alike", report.Pass, "",
			gets("=?base64?aGk=?=", "=?base64?PT9iYXNlNjQ/YUdrPT89?=")},
	})
}
