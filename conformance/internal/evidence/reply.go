package evidence

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// modelCall is a tool call as the model made it, on its own wire.
type ModelCall struct {
	// ID is "" where the provider gives none, and Signature where it gives no seal to hand back.
	ID, Name, Signature string
}

// calls are the tool calls in the model's answer, whatever the dialect, plain or streamed. What streams tell of several times counts once.
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

// documents are the JSON documents of an answer: one, or one of each line, behind what server-sent events begin a line with.
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

// walkCalls finds the calls in a document: OpenAI's and Ollama's tool_calls, Gemini's functionCall, and the blocks and items of the others.
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
	for _, name := range []string{"choices", "message", "delta", "tool_calls", "candidates", "content", "parts", "content_block", "response", "output", "item"} {
		if o.Has(name) {
			walkCalls(o[name], add)
		}
	}
}
