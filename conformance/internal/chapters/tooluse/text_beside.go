package tooluse

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const besideUse = "Let me book that flight."

// The model says something, then uses a tool.
var textBeside = flight("text-beside", nil, llm.When().Reply(llm.Text(besideUse), simpleBooking.call()))

var textAndTool = check.Check{
	ID: "text-and-tool", Cases: []string{"text-beside"},
	Rule:   "Text beside a tool use reaches the server, in the model's order",
	Levels: check.Everywhere(report.Robust), Results: 1, Needs: []check.Need{check.ReadableContent(1)},
	Cause: "the result is built either from the tool calls or from the text",
	Fix:   "Return an array of all blocks, in the model's order.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		blocks := a.Blocks()
		use := slices.IndexFunc(blocks, func(b dialect.Block) bool { return b.Type == dialect.ToolUse })
		failed := func(found string) check.Verdict {
			return showContent(check.Fail("expected a text, then a tool use, found %s", found).
				Show(modelSaid, "%q, then %s", besideUse, simpleBooking), a)
		}
		switch {
		case use < 0:
			return failed("no tool use")
		case !evidence.Holds(blocks, besideUse):
			return failed("no text of the model")
		case !evidence.Holds(blocks[:use], besideUse) && ordersBlocks(e.Rounds[0]):
			return failed("the text after the tool use")
		}
		return check.Pass("the result has the text and the tool use").Show(a.At("content"), "%s", evidence.Describe(blocks))
	},
}

// ordersBlocks reports whether the provider's answer orders text and tool uses. OpenAI's chat completions and Ollama
// have a member for each, and no order.
func ordersBlocks(r *evidence.Round) bool {
	x := r.LastExchange()
	return x != nil && x.Request != nil && x.Request.Dialect != dialect.OpenAIChat && x.Request.Dialect != dialect.Ollama
}
