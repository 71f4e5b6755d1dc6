package conformance

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// thought is what the model thinks before it speaks.
const thought = "They ask for a colour, and any will do: say teal."

// The model thinks, and then speaks. What it thought is its provider's and the client's, not the server's.
var thinking = once("basic/thinking", func(s *server.Session) any { return s.Ask("Name a colour.") },
	llm.When().Reply(llm.Thinking(thought, "c2VhbGVk"), llm.Text("Teal.")))

// showsThoughts are the dialects in which a provider tells what its model thinks, apart from what it says.
var showsThoughts = map[string]bool{dialect.Anthropic: true, dialect.Gemini: true, dialect.Ollama: true, dialect.OpenAIResponses: true}

var thinkingApart = Check{
	ID: "thinking-apart", Rule: "what the model only thought is not in the answer", Levels: everywhere(report.Robust), Answered: 1, Cases: []string{"thinking"},
	Cause: "the texts of all blocks, parts or fields of the provider's answer are joined, those with its thoughts among them",
	Fix:   "answer with what the model says, and keep what it thinks for its provider",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		x, missing := theModel(r)
		if missing != nil {
			return *missing
		}
		if !showsThoughts[x.Request.Dialect] {
			return NotApplicable("in %s a model does not show what it thinks", x.Request.Dialect)
		}
		a := r.Result()
		if strings.Contains(dialect.PlainText(a.blocks()), thought) {
			return Broken("what the model thought was given to the server as if it had said it").
				See(Place{Label: "model thought"}, "%q", thought).See(a.At("content"), "%s", compact(a.member("content")))
		}
		return Pass("the server was not told what the model thought").See(a.At("content"), "%s", compact(a.member("content")))
	},
}
