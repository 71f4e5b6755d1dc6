package openai

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// includeUsage reports whether the request asks for a last chunk with the usage.
func includeUsage(req *dialect.Request) bool {
	var body, options dialect.Object
	var include bool
	_ = json.Unmarshal(req.Body, &body) // a request made by hand has none
	_ = body.Read("stream_options", &options)
	_ = options.Read("include_usage", &include)
	return include
}

type chunk struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	ServiceTier       string          `json:"service_tier"`
	SystemFingerprint *string         `json:"system_fingerprint"`
	Choices           []chunkChoice   `json:"choices"`
	Usage             json.RawMessage `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index        int             `json:"index"`
	Delta        delta           `json:"delta"`
	Logprobs     json.RawMessage `json:"logprobs,omitempty"`
	FinishReason *string         `json:"finish_reason"`
}

type delta struct {
	Role      dialect.Role    `json:"role,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	ToolCalls []callDelta     `json:"tool_calls,omitempty"`
	Refusal   json.RawMessage `json:"refusal,omitempty"`
}

type callDelta struct {
	Index    int           `json:"index"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// stream returns the events of a stream, each with its blank line. late sends the last delta of the calls after the
// finish reason.
func (c *completion) stream(withUsage, late bool) [][]byte {
	first := delta{Role: dialect.Assistant, Content: c.content("")}
	calls := c.callDeltas()
	switch {
	case len(calls) == 0 || c.text != "":
		first.Refusal = null
	case len(c.calls) == 1 && !late: // a single call opens in the first chunk; several come after it
		first.ToolCalls, first.Refusal, calls = calls[0].ToolCalls, null, calls[1:]
	}
	deltas := []delta{first}
	for _, fragment := range dialect.Fragments(c.text) {
		deltas = append(deltas, delta{Content: dialect.Marshal(fragment)})
	}
	deltas = append(deltas, calls...)
	held := []delta{}
	if late && len(calls) > 0 {
		last := len(deltas) - 1
		deltas, held = deltas[:last], deltas[last:]
	}

	usageOfChunk := json.RawMessage(nil)
	if withUsage {
		usageOfChunk = null
	}
	var events [][]byte
	say := func(d delta, finish *string) {
		choices := []chunkChoice{{Delta: d, Logprobs: c.logprobs(), FinishReason: finish}}
		events = append(events, c.event(choices, usageOfChunk))
	}
	for _, d := range deltas {
		say(d, nil)
	}
	say(delta{}, &c.finish)
	for _, d := range held {
		say(d, nil)
	}
	if withUsage {
		events = append(events, c.event([]chunkChoice{}, dialect.Marshal(c.usage)))
	}
	return append(events, []byte("data: [DONE]\n\n"))
}

// callDeltas opens each call with its id and name, and follows with its arguments, one call after the other.
func (c *completion) callDeltas() []delta {
	var deltas []delta
	for i, call := range c.calls {
		deltas = append(deltas, delta{ToolCalls: []callDelta{{i, call.ID, call.Type, functionDelta{Name: call.Function.Name}}}})
		for _, fragment := range dialect.Fragments(call.Function.Arguments) {
			deltas = append(deltas, delta{ToolCalls: []callDelta{{Index: i, Function: functionDelta{Arguments: fragment}}}})
		}
	}
	return deltas
}

func (c *completion) event(choices []chunkChoice, usage json.RawMessage) []byte {
	data := dialect.Marshal(chunk{
		ID: c.id, Object: "chat.completion.chunk", Created: c.created, Model: c.model,
		ServiceTier: "default", SystemFingerprint: c.fingerprint(), Choices: choices, Usage: usage,
	})
	return append(append([]byte("data: "), data...), "\n\n"...)
}
