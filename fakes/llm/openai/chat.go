// Package openai speaks the wire formats of OpenAI. [Chat] is Chat Completions and [Responses] is Responses, with streams, errors and the
// strictness of the real thing, as far as recorded traffic and public reports of refused requests show it. Both list models.
//
// The deprecated functions and function_call are refused rather than half understood.
package openai

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Chat speaks OpenAI Chat Completions.
var Chat dialect.Codec = chat{models{&openAI}}

// chat is the format, as a server of some style speaks it.
type chat struct{ models }

func (c chat) Name() string       { return c.name }
func (c chat) Patterns() []string { return []string{"POST " + c.base + "/chat/completions"} }

// reasons are the stop reasons in OpenAI's words. It cannot tell a stop sequence, or a refusal, from an end: that is a member of the
// message.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "stop",
	dialect.StopForTool:       "tool_calls",
	dialect.StopMaxTokens:     "length",
	dialect.StopStopSequence:  "stop",
	dialect.StopRefusal:       "stop",
	dialect.StopContentFilter: "content_filter",
}

func finishReason(r dialect.StopReason) string {
	if word, ok := reasons[r]; ok {
		return word
	}
	return string(r)
}

// reasoning reports whether the model is one of those whose answers have no logprobs and no system fingerprint.
func reasoning(model string) bool {
	for _, prefix := range []string{"gpt-5", "o1", "o3", "o4"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}
