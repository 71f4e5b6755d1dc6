package tooluse

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestUnwantedToolUsesDoNotReachTheServer(t *testing.T) {
	asks := choosing("none")
	answering := func(result string) steps {
		return func(s *tracetest.Story) { s.Asks(asks).Prompts(asks).Answers(result) }
	}
	const beside = `[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"book_flight","input":{}}]`
	judges(t, "choice-none-holds", "none",
		passes("a text", answering(tracetest.Saying("As you like."))),
		passes("an empty text", answering(tracetest.Saying(""))),
		passes("no blocks", answering(tracetest.With(tracetest.Saying(""), "content", "[]"))),
		passes("a text with the tool's name", answering(tracetest.Saying(`book_flight({"from":"Zürich"})`))),
		fails("a tool use", answering(tracetest.Booked("{}")), "expected no tool use in the result, found 1"),
		fails("a tool use beside a text", answering(tracetest.With(tracetest.Booked(), "content", beside)), "found 1"),
		unobserved("the result has no content", answering(tracetest.Without(tracetest.Saying(""), "content")), tracetest.NoContent),
		unobserved("no result", func(s *tracetest.Story) { s.Asks(asks).Prompts(asks) }, tracetest.NoAnswer),
		legacy(row("the client returns an error", func(s *tracetest.Story) {
			s.Asks(asks).Prompts(asks).Refuses(-32603, "refused").OtherwiseAnswers()
		}, report.Pass, refusal)))
	for check, caseID := range map[string]string{"choice-none-filtered": "none-defied", "no-tools-no-use": "no-tools"} {
		judges(t, check, caseID,
			passes("a text", answering(tracetest.Saying("As you like."))),
			fails("a tool use", answering(tracetest.Booked("{}")), "found 1"))
	}
}
