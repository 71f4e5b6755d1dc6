package model

import (
	"cmp"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// turn is the model's turn, in the blocks of MCP. What the model thinks is not part of it.
type turn struct {
	blocks []map[string]any
	model  string
	finish string         // the provider's word for why the turn ended
	native map[string]any // the whole result instead
}

// say adds text to the last block, or as a block of its own after a tool use.
func (t *turn) say(text string) {
	if last := len(t.blocks) - 1; last >= 0 && t.blocks[last]["type"] == "text" {
		t.blocks[last]["text"] = jsonvalue.TextIn(t.blocks[last], "text") + text
	} else if text != "" {
		t.blocks = append(t.blocks, map[string]any{"type": "text", "text": text})
	}
}

// use adds a tool use. Arguments that are not an object stay a text, which settle refuses.
func (t *turn) use(id, name string, arguments []byte) {
	use := map[string]any{"type": "tool_use", "id": id, "name": name, "input": map[string]any{}}
	if len(arguments) > 0 {
		input, err := jsonvalue.ReadObject(arguments)
		if use["input"] = input; err != nil {
			use["input"] = string(arguments)
		}
	}
	t.blocks = append(t.blocks, use)
}

func (t *turn) uses() bool {
	return slices.ContainsFunc(t.blocks, func(b map[string]any) bool { return b["type"] == "tool_use" })
}

// stopReasons are the providers' words for those of MCP. Other words are passed on.
var stopReasons = map[string]string{
	"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse", "refusal": "refusal", // OpenAI, Ollama
	"completed": "endTurn", "max_output_tokens": "maxTokens", // OpenAI's responses
	"end_turn": "endTurn", "tool_use": "toolUse", "max_tokens": "maxTokens", "stop_sequence": "stopSequence", // Anthropic
	"STOP": "endTurn", "MAX_TOKENS": "maxTokens", // Gemini
	"COMPLETE": "endTurn", "TOOL_CALL": "toolUse", "STOP_SEQUENCE": "stopSequence", // Cohere, and MAX_TOKENS
}

// result returns the turn as a CreateMessageResult: without tool uses as one text, which every revision can read.
func (t *turn) result() map[string]any {
	if t.native != nil {
		return t.native
	}
	reason, known := stopReasons[t.finish]
	if !known {
		reason = t.finish
		if t.uses() {
			reason = "toolUse"
		}
	}
	result := map[string]any{"role": "assistant", "model": t.model, "stopReason": reason}
	switch {
	case t.uses():
		blocks := make([]any, len(t.blocks))
		for i, b := range t.blocks {
			blocks[i] = b
		}
		result["content"] = blocks
	case t.blocks != nil:
		result["content"] = t.blocks[0]
	default:
		result["content"] = map[string]any{"type": "text", "text": ""}
	}
	return result
}

// ErrArguments means that the model used a tool with arguments that are not a JSON object. The result is returned, too:
// it has them as a text, for a caller that tells the model.
var ErrArguments = refusal("the model gave arguments that are not a JSON object")

// settle checks the model's answer against the request. Tool uses that the request does not allow are removed. A text
// where a tool use is required stays, and so does the use of a tool that was not offered: the server can handle both.
func settle(params, result map[string]any) error {
	uses := jsonvalue.OfType(result["content"], "tool_use")
	if len(uses) == 0 {
		return nil
	}
	if result["stopReason"] == "endTurn" { // some providers report every end so
		result["stopReason"] = "toolUse"
	}
	for _, use := range uses {
		if _, ok := use["input"].(map[string]any); !ok {
			return ErrArguments
		}
	}
	if tools, _ := params["tools"].([]any); len(tools) > 0 && choiceOf(params) != "none" {
		return nil
	}
	delete(result, "stopReason")                     // none of the standard ones would be true
	blocks, _ := jsonvalue.Blocks(result["content"]) // it has blocks
	kept := []any{}
	for _, b := range blocks {
		if b["type"] != "tool_use" {
			kept = append(kept, b)
		}
	}
	result["content"] = kept
	if !slices.ContainsFunc(jsonvalue.OfType(kept, "text"), func(b map[string]any) bool { return b["text"] != "" }) {
		return refusal("the model used the tool %v, which the request does not allow", uses[0]["name"])
	}
	return nil
}

// choiceOf returns the mode of the tool choice; auto by default.
func choiceOf(params map[string]any) string {
	choice, _ := params["toolChoice"].(map[string]any)
	return cmp.Or(jsonvalue.TextIn(choice, "mode"), "auto")
}
