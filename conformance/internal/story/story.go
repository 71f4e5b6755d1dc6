// Package story has the building blocks of cases that several chapters use: questions, tools, tool results and media,
// and handlers that hold back the model's answers.
package story

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Question and Answer have white space, quotes, markup and multi-byte characters, which careless code changes.
const Question = "Which city is the capital of France?  Say \"why\", too:\n\t" +
	"«naïve» 答え 🗼 C:\\temp <b>&amp;</b>"

// Answer is the model's answer to [Question].
const Answer = "Paris – \"la Ville Lumière\" 🗼\n\n\tトウ, and a backslash \\ beside <i>&lt;</i>"

// Once is a case of one sampling request. The model answers by the rule.
func Once(id string, ask func(*server.Session) any, rule *llm.Rule) harness.Case {
	return harness.Case{ID: id, Handler: func(s *server.Session) (any, error) { return s.Sample(ask(s)) },
		Script:  func(string) []*llm.Rule { return []*llm.Rule{rule} },
		Barrier: true} // its answer shows whether a client refuses this case or everything
}

// Says is a script with one answer. It is not inlined: its rule would be in the binary once for each case.
//
//go:noinline
func Says(text string) func(string) []*llm.Rule {
	return func(string) []*llm.Rule { return []*llm.Rule{llm.When().Reply(llm.Text(text))} }
}

// Turn matches the model's nth turn since the question of the case with the mark. What the host and its model said
// before does not count.
func Turn(mark string, n int) llm.Matcher {
	return llm.MatcherFunc(func(r *llm.Request) error {
		since := llm.Request{Messages: r.Messages}
		for i, m := range r.Messages {
			if m.Role == dialect.User && strings.Contains(dialect.PlainText(m.Content), mark) {
				since.Messages = r.Messages[i:]
			}
		}
		if found := since.Turn(); found != n {
			return fmt.Errorf("expected turn %d, found %d", n, found)
		}
		return nil
	})
}

// JSON returns a value as JSON. It panics if the value has none.
func JSON(v any) json.RawMessage { return jsonvalue.Marshal(v) }

// Base64 returns data as JSON carries it.
func Base64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// Object is a JSON object.
type Object = map[string]any

// Texts returns a text for each tool use, in their order. Uses beyond the texts get the last one.
func Texts(said ...string) func([]server.ToolUseContent) []server.ToolResultContent {
	return func(uses []server.ToolUseContent) []server.ToolResultContent {
		results := make([]server.ToolResultContent, len(uses))
		for i, use := range uses {
			results[i] = use.Result(server.Text(said[min(i, len(said)-1)]))
		}
		return results
	}
}

// Names lists the names of tools.
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
