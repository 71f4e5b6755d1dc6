// Package anthropic speaks Anthropic Messages: requests, answers, streams, errors, threads, token counts and model
// lists. It is as strict as the API is known to be from recorded traffic and public reports of refused requests.
//
// The codec accepts what only some models refuse: a history that begins or ends with the assistant, and both ways to
// enable thinking. It refuses system messages for the models that are known not to take them. It verifies neither
// signatures nor keys.
package anthropic

import (
	"maps"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Messages speaks Anthropic Messages. It also implements [dialect.SideRequests], [dialect.Accounts] and, for threads,
// [dialect.Stateful].
var Messages dialect.Codec = messages{}

type messages struct{}

var (
	_ dialect.SideRequests = messages{}
	_ dialect.Accounts     = messages{}
	_ dialect.Stateful     = messages{}
)

func (messages) Name() string       { return dialect.Anthropic }
func (messages) Patterns() []string { return []string{"POST /v1/messages"} }

// organization is the account in every answer. No real account has this name.
const organization = "scripted-model"

const accountHeader = "Anthropic-Organization-Id"

func (messages) AccountHeader() string { return accountHeader }

func header(contentType, id string) http.Header {
	return http.Header{
		accountHeader:  {organization},
		"Content-Type": {contentType},
		"Request-Id":   {id},
	}
}

// addLimits adds the rate-limit headers, which every answer has except a refusal.
func addLimits(h http.Header) {
	maps.Copy(h, limits.Clone())
	for _, name := range resets {
		h.Set(name, time.Now().UTC().Format(time.RFC3339))
	}
}

// The rate-limit headers, and those with the reset times.
var (
	limits = http.Header{
		"Anthropic-Ratelimit-Requests-Limit":          {"10000"},
		"Anthropic-Ratelimit-Requests-Remaining":      {"9999"},
		"Anthropic-Ratelimit-Tokens-Limit":            {"12000000"},
		"Anthropic-Ratelimit-Tokens-Remaining":        {"12000000"},
		"Anthropic-Ratelimit-Input-Tokens-Limit":      {"10000000"},
		"Anthropic-Ratelimit-Input-Tokens-Remaining":  {"10000000"},
		"Anthropic-Ratelimit-Output-Tokens-Limit":     {"2000000"},
		"Anthropic-Ratelimit-Output-Tokens-Remaining": {"2000000"},
	}
	resets = []string{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Tokens-Reset",
		"Anthropic-Ratelimit-Input-Tokens-Reset",
		"Anthropic-Ratelimit-Output-Tokens-Reset"}
)

func requestID(serial int64, position int) string {
	return dialect.GenerateID("req_01", 22, serial, position)
}

// reasons maps stop reasons to Anthropic's words. One word covers a refusal and a filtered answer. Other words stay,
// such as pause_turn and model_context_window_exceeded.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "end_turn",
	dialect.StopToolUse:       "tool_use",
	dialect.StopMaxTokens:     "max_tokens",
	dialect.StopStopSequence:  "stop_sequence",
	dialect.StopRefusal:       refused,
	dialect.StopContentFilter: refused,
}

const refused = "refusal"
