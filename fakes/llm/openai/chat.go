// Package openai speaks OpenAI's Chat Completions ([Chat]) and Responses ([Responses]), and the variants of compatible
// servers: requests, answers, streams, errors and model lists. It is as strict as the API is known to be from recorded
// traffic and public reports of refused requests.
//
// The legacy functions and function_call are supported in Chat Completions. Their calls have no ids.
package openai

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Chat speaks OpenAI Chat Completions.
var Chat dialect.Codec = chat{models{openAI}}

// chat is Chat Completions in the style of one server.
type chat struct{ models }

func (c chat) Name() string       { return c.name }
func (c chat) Patterns() []string { return c.on("/chat/completions") }

// reasons maps stop reasons to OpenAI's words. Stop sequences have none of their own; a refusal is a member of the
// message.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "stop",
	dialect.StopToolUse:       "tool_calls",
	dialect.StopMaxTokens:     "length",
	dialect.StopStopSequence:  "stop",
	dialect.StopRefusal:       "stop",
	dialect.StopContentFilter: "content_filter",
}

// reasoning reports whether the model's answers have neither logprobs nor a system fingerprint.
func reasoning(model string) bool {
	for _, prefix := range []string{"gpt-5", "o1", "o3", "o4"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}
