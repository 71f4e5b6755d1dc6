// Package anthropic speaks Anthropic Messages, with streams, errors, counts of tokens, lists of models and the strictness of the
// real thing, as far as recorded traffic and public reports of refused requests show it.
//
// What only some models refuse is accepted: a history that begins or ends with the assistant, and thinking that is switched on in
// one of its two ways. But messages of the role system are refused to the models that are known not to take them. That a signature is
// genuine is not checked, and neither is that a key is.
package anthropic

import (
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Messages speaks Anthropic Messages. It is a [dialect.Asides], too.
var Messages dialect.Codec = messages{}

type messages struct{}

var (
	_ dialect.SideRequests = messages{}
	_ dialect.Accounts     = messages{}
)

func (messages) Name() string       { return dialect.Anthropic }
func (messages) Patterns() []string { return []string{"POST /v1/messages"} }

// organization stands where the API names whose key it was, and is not to be taken for a real one.
const organization = "scripted-model"

const accountHeader = "Anthropic-Organization-Id"

func (messages) AccountHeader() string { return accountHeader }

// header returns the headers of an answer; id is the request's id.
func header(contentType, id string) http.Header {
	return http.Header{
		accountHeader:  {organization},
		"Content-Type": {contentType},
		"Request-Id":   {id},
	}
}

// addLimits adds the headers of the rate limits, which a key that is known gets with every answer but a refusal.
func addLimits(h http.Header) {
	reset := []string{time.Now().UTC().Format(time.RFC3339)}
	for name, values := range limits {
		h[name] = values
	}
	for _, name := range resets {
		h[name] = reset
	}
}

// The headers of the limits, and those of when they begin anew. The slices are shared: nobody may write to them.
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
	resets = []string{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Tokens-Reset", "Anthropic-Ratelimit-Input-Tokens-Reset",
		"Anthropic-Ratelimit-Output-Tokens-Reset"}
)

// requestID makes a request's id.
func requestID(serial int64, position int) string {
	return dialect.MintID("req_01", 22, serial, position)
}

// reasons are the stop reasons in Anthropic's words. It has one word for a model that declines and for an answer held back.
var reasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "end_turn",
	dialect.StopForTool:       "tool_use",
	dialect.StopMaxTokens:     "max_tokens",
	dialect.StopStopSequence:  "stop_sequence",
	dialect.StopRefusal:       refused,
	dialect.StopContentFilter: refused,
}

const refused = "refusal"

// stopReason leaves Anthropic's own further words as they are, such as pause_turn and model_context_window_exceeded.
func stopReason(r dialect.StopReason) string {
	if word, ok := reasons[r]; ok {
		return word
	}
	return string(r)
}
