package story

import (
	"encoding/base64"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

const Question = "Which city is the capital of France?  Say \"why\", too:\n\t«naïve» 答え 🗼 C:\\temp <b>&amp;</b>"

const Answer = "Paris – \"la Ville Lumière\" 🗼\n\n\tトウ, and a backslash \\ beside <i>&lt;</i>"

// once is a case with one sample, to which the model says what the rule has.
func Once(id string, ask func(*server.Session) any, rule *llm.Rule) harness.Case {
	return harness.Case{ID: id, Handler: func(s *server.Session) (any, error) { return s.Sample(ask(s)) },
		Script:  func(string) []*llm.Rule { return llm.Script(rule) },
		Barrier: true} // a client may refuse some of these, which is told from refusing everything by what else it answers
}

// says is a model that has one thing to say.
func Says(text string) func(string) []*llm.Rule {
	return func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text(text))) }
}

// asJSON is what a value is on the wire.
func JSON(v any) json.RawMessage { return dialect.Marshal(v) }

func Base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

type Object = map[string]any

// texts answers the tool uses with a text each, in their order; uses beyond the texts get the last one.
func Texts(said ...string) func([]server.ToolUseContent) []server.ToolResultContent {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		results := make([]server.ToolResultContent, len(uses))
		for i, use := range uses {
			results[i] = use.Result(server.Text(said[min(i, len(said)-1)]))
		}
		return results
	}
}

func Names(tools []dialect.Tool) string {
	if len(tools) == 0 {
		return "no tools"
	}
	var list string
	for i, t := range tools {
		if i > 0 {
			list += ", "
		}
		list += t.Name
	}
	return list
}
