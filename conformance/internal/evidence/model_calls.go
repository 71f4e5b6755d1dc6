package evidence

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// ModelCall is a tool call in the provider's wire format.
type ModelCall struct {
	// ID is "" if the provider has no ids, and Signature if the provider has no signature that the client must return.
	ID, Name, Signature string
}

// Calls returns the tool calls of the model's response, in any dialect, streamed or not. An id that a stream repeats
// counts once.
func (x *Exchange) Calls() []ModelCall {
	var found []ModelCall
	seen := map[string]bool{}
	add := func(c ModelCall) {
		if c.Name != "" && (c.ID == "" || !seen[c.ID]) {
			found = append(found, c)
			seen[c.ID] = true
		}
	}
	for _, document := range Documents(x.Answer) {
		walkCalls(document, add)
	}
	return found
}

// Documents returns the JSON documents of a response: the response itself, or each line without the prefix of a
// server-sent event.
func Documents(answer []byte) []json.RawMessage {
	if json.Valid(answer) {
		return []json.RawMessage{answer}
	}
	var found []json.RawMessage
	for line := range bytes.Lines(answer) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if len(line) > 0 && json.Valid(line) {
			found = append(found, line)
		}
	}
	return found
}

// callContainers are the members in which the providers nest tool calls.
var callContainers = []string{
	"choices", "message", "delta", "tool_calls", "candidates", "content", "parts", "content_block",
	"response", "output", "item",
}

// walkCalls calls add with each tool call: OpenAI's and Ollama's tool_calls, Gemini's functionCall, the blocks and
// items of the others.
func walkCalls(document json.RawMessage, add func(ModelCall)) {
	var list []json.RawMessage
	var o, function dialect.Object
	if json.Unmarshal(document, &list) == nil {
		for _, item := range list {
			walkCalls(item, add)
		}
		return
	}
	if json.Unmarshal(document, &o) != nil {
		return
	}
	switch {
	case o.Has("functionCall") && o.Read("functionCall", &function) == nil:
		add(ModelCall{function.Text("id"), function.Text("name"), o.Text("thoughtSignature")})
		return
	case o.Has("function") && o.Read("function", &function) == nil:
		add(ModelCall{o.Text("id"), function.Text("name"), ""})
		return
	case o.Text("type") == "tool_use":
		add(ModelCall{o.Text("id"), o.Text("name"), ""})
		return
	case o.Text("type") == "function_call":
		add(ModelCall{o.Text("call_id"), o.Text("name"), ""})
		return
	}
	for _, name := range callContainers {
		if o.Has(name) {
			walkCalls(o[name], add)
		}
	}
}
