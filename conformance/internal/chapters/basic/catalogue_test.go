package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
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
		tests[i].Check, tests[i].CaseID = "basic/"+check, caseID
	}
	tracetest.Run(t, catalogue, tests)
}

func row(name string, do steps, verdict report.Verdict, message string) test {
	return test{Name: name, Steps: do, Verdict: verdict, Message: message}
}

// legacy limits a test to the era with error responses, modern to the other one.
func legacy(t test) test { t.In = tracetest.InA; return t }
func modern(t test) test { t.In = tracetest.InB; return t }

// native and openAI limit a test to a dialect.
func native(t test) test { t.Dialects = tracetest.Native; return t }
func openAI(t test) test { t.Dialects = tracetest.OpenAI; return t }

var (
	whole = tracetest.Saying(story.Answer)
	asked = tracetest.Asking(story.Question)
)

// answers is a client that returns the right result, less its changes: name and JSON value, "" for no value.
func answers(name, value string) steps {
	return tracetest.AnswersWith(tracetest.With(whole, name, value))
}

// prompts is a client that changes the question on its way to the model.
func prompts(edit func(*server.CreateMessageParams)) steps {
	return func(s *tracetest.Story) {
		changed := tracetest.Asking(story.Question)
		edit(changed)
		s.Asks(asked).Prompts(changed).Answers(whole)
	}
}

// calls is a client that makes a model request as it is written, with an end.
func calls(body string, end trace.ModelEnd) steps {
	return func(s *tracetest.Story) { s.Asks(asked).Prompt(body, end).Answers(whole) }
}

// silent is a client that never responds, refusing one that returns an error.
func silent(s *tracetest.Story)   { s.Asks(asked) }
func refusing(s *tracetest.Story) { s.Asks(asked).Refuses(-1, "no") }

// noModel is a client that never calls the model.
func noModel(s *tracetest.Story) { s.Asks(asked).Answers(whole) }

const neverAsked = "sampling request 1"
