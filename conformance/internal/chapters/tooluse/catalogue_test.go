package tooluse

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var catalogue = check.Catalogue{Scenario}

type (
	test  = tracetest.Test
	steps = func(*tracetest.Story)
)

// judges runs the tests of a check on a case.
func judges(t *testing.T, check, caseID string, tests ...test) {
	for i := range tests {
		tests[i].Check, tests[i].CaseID = "tool-use/"+check, caseID
	}
	tracetest.Run(t, catalogue, tests)
}

func row(name string, do steps, verdict report.Verdict, message string) test {
	return test{Name: name, Steps: do, Verdict: verdict, Message: message}
}

func passes(name string, do steps) test          { return row(name, do, report.Pass, "") }
func fails(name string, do steps, m string) test { return row(name, do, report.Fail, m) }
func warns(name string, do steps, m string) test { return row(name, do, report.Warn, m) }

// unobserved is a test of a check that cannot judge what it needs.
func unobserved(name string, do steps, m string) test { return row(name, do, report.NotObserved, m) }

// legacy limits a test to the era with error responses, native and openAI to a dialect.
func legacy(t test) test { t.In = tracetest.InA; return t }
func native(t test) test { t.Dialects = tracetest.Native; return t }
func openAI(t test) test { t.Dialects = tracetest.OpenAI; return t }

// refused are two tests of a client that refuses the request: with an error, or, in the era without errors, by no
// response.
func refused(verdict report.Verdict, do steps) []test {
	silent := row("the client does not respond, but responds to others", do, verdict, tracetest.NotFulfilled)
	silent.In = tracetest.InB
	return []test{legacy(row("the client returns an error", do, verdict, refusal)), silent}
}

const refusal = `"refused" (code -32603)`

// refusing is a client that asks the model and returns an error, silent one that returns nothing.
func refusing(s *tracetest.Story) { silent(s); s.Refuses(-32603, "refused").OtherwiseAnswers() }
func silent(s *tracetest.Story) {
	s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight())
}

// unasked is a client that answers without a model.
func unasked(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()).Answers(tracetest.Booked()) }

const noModelRequest = "the model received no request for sampling request 1"

// saying is a client that answers with a text, holding one with content as it is written, unreadable one without
// content.
func saying(text string) steps { return tracetest.Uses(tracetest.Saying(text)) }

func holding(content string) steps {
	return tracetest.Uses(tracetest.With(tracetest.Booked(), "content", content))
}

var unreadable = unobserved("the result has no content",
	tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")), tracetest.NoContent)

// using is a client that answers with uses, each given as id, name and input.
func using(uses ...[3]string) steps { return tracetest.Uses(tracetest.Wanting(uses...)) }

// calling is a client that itself calls a tool.
func calling(s *tracetest.Story, tool string) {
	s.Frame("", trace.FromClient, 0,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
}

// edited is the request for a flight with an edit.
func edited(edit func(*server.CreateMessageParams)) *server.CreateMessageParams {
	p := tracetest.AskingForFlight()
	edit(p)
	return p
}
