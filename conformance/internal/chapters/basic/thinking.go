package basic

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

const thought = "They ask for a colour, and any will do: say teal."

// The model thinks before it speaks. Its thoughts belong to the provider and the client, not to the server.
var thinking = story.Once("basic/thinking", func(s *server.Session) any { return s.Ask("Name a colour.") },
	llm.When().Reply(llm.Thinking(thought, "c2VhbGVk"), llm.Text("Teal.")))

var thinkingApart = check.Check{
	ID: "thinking-apart", Cases: []string{"thinking"},
	Rule:   "The result does not contain what the model only thought",
	Levels: check.Robust, Results: 1,
	Needs: []check.Need{check.ModelReadsRequest(1), providerShowsThoughts},
	Cause: "the converter joins the texts of all blocks, parts or fields of the provider's answer, thoughts included",
	Fix:   "Map only the text and tool call blocks of the provider's answer. Leave out thinking and reasoning blocks.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		content := evidence.Compact(a.Member("content"))
		if strings.Contains(dialect.PlainText(a.Blocks()), thought) {
			return check.Fail("expected a result without the model's thoughts, found them in its text").
				Show(evidence.Place{Label: "model thought"}, "%q", thought).Show(a.At("content"), "%s", content)
		}
		return check.Pass("the result has no thoughts of the model").Show(a.At("content"), "%s", content)
	},
}

// providerShowsThoughts needs a dialect in which the provider sends the model's thoughts apart from its text.
func providerShowsThoughts(e *evidence.Case) *check.Verdict {
	switch d := e.Rounds[0].LastExchange().Request.Dialect; d {
	case dialect.Anthropic, dialect.Gemini, dialect.Ollama, dialect.OpenAIResponses:
		return nil
	default:
		return check.Instead(check.NotApplicable("%s has no thinking blocks", d))
	}
}
