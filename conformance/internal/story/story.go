// Package story holds what cases of several chapters play: questions, model answers, tools and waits. It belongs here
// what a case needs and no check judges by; a story of one chapter stays in its package.
package story

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Question and Answer hold characters that converters tend to change: white space, quotes, Unicode, markup.
const (
	Question = "Which city is the capital of France?  Say \"why\", too:\n\t«naïve» 答え 🗼 C:\\temp <b>&amp;</b>"
	Answer   = "Paris – \"la Ville Lumière\" 🗼\n\n\tトウ, and a backslash \\ beside <i>&lt;</i>"
)

// Once returns a case with one sampling request, to which the model answers by the rule. It has a barrier, because a
// client may refuse some requests: its other answers show whether it refuses all.
func Once(id string, ask func(*server.Session) any, rule *llm.Rule) harness.Case {
	return harness.Case{ID: id, Handler: func(s *server.Session) (any, error) { return s.Sample(ask(s)) },
		Script:  func(string) []*llm.Rule { return llm.Script(rule) },
		Barrier: true}
}

// Says returns the script of a model with one answer.
func Says(text string) func(string) []*llm.Rule {
	return func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text(text))) }
}

// JSON returns a value as it is on the wire.
func JSON(v any) json.RawMessage { return dialect.Marshal(v) }

// Base64Of returns data in standard base64.
func Base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// Object is a JSON object.
type Object = map[string]any

// Texts returns a text for each tool use, in order; the last text for the uses beyond.
func Texts(said ...string) func([]server.ToolUseContent) []server.ToolResultContent {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		results := make([]server.ToolResultContent, len(uses))
		for i, use := range uses {
			results[i] = use.Result(server.Text(said[min(i, len(said)-1)]))
		}
		return results
	}
}

// Names lists the names of tools for a report.
func Names(tools []dialect.Tool) string {
	if len(tools) == 0 {
		return "no tools"
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
