package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAClientRespondsToAPingWhileItSamples(t *testing.T) {
	asks := func(s *session) *session {
		return s.Asks(tracetest.Asking("What takes so long?")).Prompts(tracetest.Asking("What takes so long?"))
	}
	pings := func(s *session) *session {
		s.Frame(s.CaseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":99,"method":"ping"}`)
		return s
	}
	answers := func(s *session) *session { return s.Answers(tracetest.Saying("Nothing.")) }
	killed := trace.Process{Signal: "killed"}
	var tests []tracetest.Test
	add := func(name string, v report.Verdict, message string, steps func(*session)) {
		tests = append(tests, tracetest.Test{Name: name, Check: "time/alive-while-sampling", CaseID: "ping",
			In: tracetest.InA, Verdict: v, Message: message, Steps: steps})
	}
	for _, response := range []struct {
		name     string
		id, rest string
		verdict  report.Verdict
		message  string
	}{
		{"an empty result", "99", `"result":{}`, report.Pass, ""},
		{"a result with _meta", "99", `"result":{"_meta":{}}`, report.Pass, ""},
		{"a result with more", "99", `"result":{"pong":true}`, report.Warn, "found more"},
		{"a string as result", "99", `"result":"pong"`, report.Fail, "an object"},
		{"an error", "99", `"error":{"code":-32601,"message":"what?"}`, report.Fail, `"what?" (code -32601)`},
		{"the id as a string", `"99"`, `"result":{}`, report.Fail, `id 99 in the response to a ping, found "99"`},
	} {
		add(response.name, response.verdict, response.message, func(s *session) {
			answers(pings(asks(s)).Responds(response.id, response.rest)).PassesBarrier()
		})
	}
	add("a response after that to the request", report.Fail, "found it after", func(s *session) {
		answers(pings(asks(s))).Responds("99", `"result":{}`).PassesBarrier()
	})
	add("a ping that comes too late", report.Unsupported, "before the ping", func(s *session) {
		pings(answers(asks(s))).Responds("99", `"result":{}`).PassesBarrier()
	})
	add("no response", report.Fail, "found none", func(s *session) { answers(pings(asks(s))).PassesBarrier() })
	add("no response of a client that dies", report.NotObserved, "killed", func(s *session) {
		pings(asks(s)).Ends(killed)
	})
	add("no ping", report.NotObserved, "before a ping", func(s *session) { asks(s).Ends(killed) })
	tracetest.Run(t, timingCatalogue, tests)
}
