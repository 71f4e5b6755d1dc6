package declare

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var catalogue = check.Catalogue{Scenario}

type (
	test  = tracetest.Test
	steps = func(*tracetest.Story)
)

// judges runs the tests of a check on a case.
func judges(t *testing.T, check, caseID string, tests ...test) {
	for i := range tests {
		tests[i].Check, tests[i].CaseID = "declare/"+check, caseID
	}
	tracetest.Run(t, catalogue, tests)
}

func row(name string, do steps, verdict report.Verdict, message string) test {
	return test{Name: name, Steps: do, Verdict: verdict, Message: message}
}

// legacy limits a test to the era with error responses, modern to the other one.
func legacy(t test) test { t.In = tracetest.InA; return t }
func modern(t test) test { t.In = tracetest.InB; return t }

// declares sets the capabilities that the client declares.
func declares(capabilities string, t test) test { t.Declares = capabilities; return t }

const nothing = `{}`

var (
	plain     = tracetest.Asking("Which river?")
	withTools = tracetest.Asking("What is the weather?", story.GetWeather)
	seine     = tracetest.Saying("The Seine.")
	toolUse   = tracetest.Wanting([3]string{"call_1", "get_weather", `{"city":"Paris"}`})
)

// forced is a client that answers a forbidden request, ignored one that is silent.
func forced(p *server.CreateMessageParams, result string) steps {
	return func(s *tracetest.Story) { s.Asks(p).OnPurpose().Prompts(p).Answers(result) }
}

func ignored(s *tracetest.Story) { s.Asks(withTools).OnPurpose() }
