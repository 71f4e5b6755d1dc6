// Package openai speaks the wire formats of OpenAI. [Chat] is Chat Completions and [Responses] is Responses, with streams, errors and the
// strictness of the real thing, as far as recorded traffic and public reports of refused requests show it. Both list models.
//
// The deprecated functions and function_call are refused rather than half understood.
package openai

import (
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Chat speaks OpenAI Chat Completions.
var Chat dialect.Codec = chat{}

type chat struct{ models }

func (chat) Name() string       { return dialect.OpenAIChat }
func (chat) Patterns() []string { return []string{"POST /v1/chat/completions"} }

// header returns the headers that OpenAI sends with every answer and that SDKs read; id makes the request's id.
func header(contentType, id string) http.Header {
	return http.Header{
		"Content-Type":                   {contentType},
		"Openai-Processing-Ms":           {"250"},
		"Openai-Version":                 {"2020-10-01"},
		"X-Ratelimit-Limit-Requests":     {"10000"},
		"X-Ratelimit-Limit-Tokens":       {"2000000"},
		"X-Ratelimit-Remaining-Requests": {"9999"},
		"X-Ratelimit-Remaining-Tokens":   {"1999000"},
		"X-Ratelimit-Reset-Requests":     {"6ms"},
		"X-Ratelimit-Reset-Tokens":       {"30ms"},
		"X-Request-Id":                   {id},
	}
}

// reasons are the stop reasons in OpenAI's words. It cannot tell a stop sequence from an end.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:          "stop",
	dialect.StopForTool:      "tool_calls",
	dialect.StopMaxTokens:    "length",
	dialect.StopStopSequence: "stop",
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
