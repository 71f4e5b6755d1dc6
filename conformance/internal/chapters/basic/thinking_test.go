package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestThoughtsStayWithTheClient(t *testing.T) {
	const body = `{"model":"m","stream":false,"messages":[{"role":"user","content":"Name a colour."}]}`
	given := func(name, result string, verdict report.Verdict, message string) test {
		one := row(name, func(s *session) {
			s.Asks(asked).Prompt(body, trace.ModelEnd{Status: 200}).Answers(result)
		}, verdict, message)
		one.Dialects = []string{dialect.Ollama}
		return one
	}
	inBlock := tracetest.With(whole, "content", inBlocks(thought, "Teal."))
	judges(t, "thinking-apart", "thinking",
		given("no thoughts", tracetest.Saying("Teal."), report.Pass, ""),
		given("a remark of the client", tracetest.Saying("The model thought about it. Teal."), report.Pass, ""),
		given("thoughts in the text", tracetest.Saying("<think>"+thought+"</think>Teal."),
			report.Fail, "the model's thoughts"),
		given("thoughts in a text block", inBlock, report.Fail, "the model's thoughts"),
		native(inapplicable("a provider without thoughts", tracetest.Right, "native")),
	)
}
