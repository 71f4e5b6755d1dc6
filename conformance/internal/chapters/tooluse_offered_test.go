package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// refusesTools appends a request to the model with all tools, which the model refuses.
func refusesTools(s *session) {
	s.Prompts(tracetest.AskingForFlight())
	s.Trace.Events[len(s.Trace.Events)-1].End = &trace.ModelEnd{Exchange: s.Models, Status: 400, Refused: "no $ref"}
}

func TestTheModelAcceptsTheTools(t *testing.T) {
	rules(t, "model-was-given", "tool-use/one-tool",
		passes("accepted", booked),
		fails("the model refuses the schema", func(s *session) { refusesTools(s.Asks(tracetest.AskingForFlight())) },
			"no $ref"),
		passes("after a refusal, in another form", func(s *session) {
			refusesTools(s.Asks(tracetest.AskingForFlight()))
			s.Prompts(tracetest.AskingForFlight()).Answers(tracetest.Booked())
		}),
		inapplicable("no model request", unasked))
}

func TestManyToolsAreAccepted(t *testing.T) {
	asks := tracetest.Asking("Use the last tool.", tooluse.Numbered(64)...)
	rules(t, "answered", "tool-use/sixty-four-tools",
		legacy(fails("refused", func(s *session) { s.Asks(asks).Refuses(-32603, "refused").PassesBarrier() },
			"a refusal without a request to the model")),
		passes("accepted", func(s *session) { s.Asks(asks).Prompts(asks).Answers(tracetest.Saying("Which?")) }),
		legacy(inapplicable("the client refuses everything", func(s *session) { s.Asks(asks).Refuses(-32603, "no") })),
		inapplicable("no result", func(s *session) { s.Asks(asks).Prompts(asks) }))
}
