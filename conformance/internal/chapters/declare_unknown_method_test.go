package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAClientRefusesAMethodThatItDoesNotKnow(t *testing.T) {
	greets := func(s *session) *session {
		s.Frame(s.CaseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":99,"method":"example/greet","params":{"name":"Ada"}}`)
		return s
	}
	samples := func(s *session) *session {
		return s.Asks(tracetest.Asking("Which river?")).Prompts(tracetest.Asking("Which river?")).
			Answers(tracetest.Saying("A long one.")).PassesBarrier()
	}
	killed := trace.Process{Signal: "killed"}
	var tests []tracetest.Test
	add := func(name string, v report.Verdict, message string, steps func(*session)) {
		tests = append(tests, tracetest.Test{Name: name, Check: "declare/unknown-method-refused", CaseID: "unknown-method",
			In: tracetest.InA, Verdict: v, Message: message, Steps: steps})
	}
	for _, response := range []struct {
		name, rest string
		verdict    report.Verdict
		message    string
	}{
		{"the error for it", `"error":{"code":-32601,"message":"what?"}`, report.Pass, ""},
		{"another error", `"error":{"code":-32602,"message":"what?"}`, report.Warn, "expected the error code -32601"},
		{"a result", `"result":{}`, report.Fail, "found a result"},
	} {
		add(response.name, response.verdict, response.message, func(s *session) {
			samples(greets(s).Responds("99", response.rest))
		})
	}
	add("no response", report.Fail, "found no response", func(s *session) { samples(greets(s)) })
	add("no response of a client that dies", report.NotObserved, "killed", func(s *session) { greets(s).Ends(killed) })
	add("no request", report.NotObserved, "the case ended before", func(s *session) { s.Ends(killed) })
	tracetest.Run(t, declareCatalogue, tests)
}
