package basic

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// thought is what the model thinks before it speaks.
const thought = "They ask for a colour, and any will do: say teal."

// The model thinks, and then speaks. What it thought is its provider's and the client's, not the server's.
var thinking = story.Once("basic/thinking", func(s *server.Session) any { return s.Ask("Name a colour.") },
	llm.When().Reply(llm.Thinking(thought, "c2VhbGVk"), llm.Text("Teal.")))

// showsThoughts are the dialects in which a provider tells what its model thinks, apart from what it says.
var showsThoughts = map[string]bool{dialect.Anthropic: true, dialect.Gemini: true, dialect.Ollama: true, dialect.OpenAIResponses: true}

var thinkingApart = check.Check{
	ID: "thinking-apart", Rule: "what the model only thought is not in the answer", Levels: check.Everywhere(report.Robust), Results: 1, Cases: []string{"thinking"},
	Cause: "the texts of all blocks, parts or fields of the provider's answer are joined, those with its thoughts among them",
	Fix:   "answer with what the model says, and keep what it thinks for its provider",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if !showsThoughts[x.Request.Dialect] {
			return check.NotApplicable("in %s a model does not show what it thinks", x.Request.Dialect)
		}
		a := r.Result()
		if strings.Contains(dialect.PlainText(a.Blocks()), thought) {
			return check.Fail("what the model thought was given to the server as if it had said it").
				Show(evidence.Place{Label: "model thought"}, "%q", thought).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		return check.Pass("the server was not told what the model thought").Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
	},
}
