package model

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

var errBadArguments = refusal("the model gave arguments that are not a JSON object")

// settle checks the model's answer against the request. Tool uses that the request does not allow are removed. A text
// where a tool use is required stays, and so does the use of a tool that was not offered: the server can handle both.
func settle(params, result map[string]any) error {
	uses := mcpjson.OfType(result["content"], "tool_use")
	if len(uses) == 0 {
		return nil
	}
	if mcpjson.Text(result, "stopReason") == "endTurn" { // some providers report every end so
		result["stopReason"] = "toolUse"
	}
	for _, use := range uses {
		if _, ok := use["input"].(map[string]any); !ok {
			return errBadArguments
		}
	}
	if tools, _ := params["tools"].([]any); len(tools) > 0 && choiceOf(params) != "none" {
		return nil
	}
	delete(result, "stopReason") // none of the standard ones would be true
	kept := []any{}
	blocks, _ := mcpjson.Blocks(result["content"]) // it has blocks
	for _, b := range blocks {
		if b["type"] != "tool_use" {
			kept = append(kept, b)
		}
	}
	result["content"] = kept
	if !slices.ContainsFunc(mcpjson.OfType(kept, "text"), func(b map[string]any) bool { return b["text"] != "" }) {
		return refusal("the model used the tool %v, which the request does not allow", uses[0]["name"])
	}
	return nil
}

// inputOf reads arguments as an object. Others stay a text, which settle refuses.
func inputOf(arguments []byte) any {
	input, err := mcpjson.Object(arguments)
	if err != nil {
		return string(arguments)
	}
	return input
}

// choiceOf returns the mode of the tool choice; auto by default.
func choiceOf(params map[string]any) string {
	choice, _ := params["toolChoice"].(map[string]any)
	if mode := mcpjson.Text(choice, "mode"); mode != "" {
		return mode
	}
	return "auto"
}
