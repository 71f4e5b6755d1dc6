package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestResultsReachTheModel(t *testing.T) {
	continues := func(edit func([]tracetest.Turn) []tracetest.Turn) steps {
		return tracetest.GoesOn(two, tracetest.WeatherResults, edit)
	}
	next := parallelAsked.After([]byte(two), tracetest.WeatherResults)
	again := func(s *session) *session {
		tracetest.Wants(two)(s)
		return s.Asks(next)
	}
	parallelJudges(t, "results-reach-model", "two-cities",
		passes("both", continues(tracetest.AsItIs)),
		fails("the first", continues(func(messages []tracetest.Turn) []tracetest.Turn {
			last := &messages[len(messages)-1]
			last.Content = last.Content.([]map[string]any)[:1]
			return messages
		}), "expected 2 tool results in the model request, found 1"),
		fails("as a text of the user", continues(func(messages []tracetest.Turn) []tracetest.Turn {
			return append(messages[:2], tracetest.Turn{Role: "user", Content: server.Text("fifteen degrees, eighteen degrees")})
		}), "found 0"),
		openAI(fails("in a request that the model refuses", func(s *session) {
			again(s).Prompt(string(jsonvalue.Marshal(tracetest.AsChat(next))),
				trace.ModelEnd{Status: 400, Refused: "not in this order"}).Refuses(-32603, "no")
		}, "the model refused it")),
		unobserved("no model request", func(s *session) { again(s).Answers(tracetest.Saying("Fine.")) },
			"the model received no request for sampling request 2"))
}
