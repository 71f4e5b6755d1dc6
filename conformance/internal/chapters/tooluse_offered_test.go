package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// refusesTools appends a request to the model with all tools, which the model refuses.
func refusesTools(s *session) {
	s.Prompts(tracetest.AskingForFlight())
	s.Trace.Events[len(s.Trace.Events)-1].End = &trace.ModelEnd{Exchange: s.Models, Status: 400, Refused: "no $ref"}
}

func TestTheModelAcceptsTheTools(t *testing.T) {
	toolUseJudges(t, "tools-accepted", "one-tool",
		passes("accepted", booked),
		fails("the model refuses the schema", func(s *session) { refusesTools(s.Asks(tracetest.AskingForFlight())) },
			"it refused them: no $ref"),
		passes("after a refusal, in another form", func(s *session) {
			refusesTools(s.Asks(tracetest.AskingForFlight()))
			s.Prompts(tracetest.AskingForFlight()).Answers(tracetest.Booked())
		}),
		unsupported("no model request", unasked, "never asks the model"))
}

func TestManyToolsAreAccepted(t *testing.T) {
	asks := tracetest.Asking("Use the last tool.", tooluse.Numbered(64)...)
	toolUseJudges(t, "many-tools", "sixty-four-tools", append(toolUseRefused(report.Fail, func(s *session) {
		s.Asks(asks).Refuses(-32603, "refused").Calls().Asks(tracetest.Asking("Hello.", tooluse.Numbered(1)...))
		s.Answers(tracetest.Saying("Fine."))
	}),
		passes("accepted", func(s *session) { s.Asks(asks).Prompts(asks).Answers(tracetest.Saying("Which?")) }),
		legacy(unobserved("the client refuses everything",
			func(s *session) { s.Asks(asks).Refuses(-32603, "no") }, `"no" (code -32603)`)),
		unobserved("no result", func(s *session) { s.Asks(asks).Prompts(asks) }, tracetest.NoAnswer))...)
}
