package reference

import (
	"errors"
	"fmt"
)

// checkRequest refuses what cannot be given to any model: requests without their parts, and histories in which tool uses and
// results do not balance (2025-11-25, client/sampling#message-content-constraints).
func checkRequest(params map[string]any) error {
	if _, ok := params["maxTokens"]; !ok {
		return errors.New("maxTokens is missing")
	}
	messages, ok := params["messages"].([]any)
	if !ok {
		return errors.New("messages is not an array")
	}
	open := map[string]bool{} // tool uses that the next message has to answer
	for i, item := range messages {
		m, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("messages[%d] is not an object", i)
		}
		role := text(m, "role")
		if role != "user" && role != "assistant" {
			return fmt.Errorf("messages[%d]: role %q is neither user nor assistant", i, role)
		}
		blocks, err := blocksOf(m["content"])
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		if open, err = balance(open, role, blocks); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(open) > 0 {
		return errors.New("the history ends with a tool use that has no result")
	}
	return nil
}

// balance holds one message against the tool uses that are open before it, and returns those that are open after it.
func balance(open map[string]bool, role string, blocks []map[string]any) (map[string]bool, error) {
	uses, results := map[string]bool{}, map[string]bool{}
	for _, b := range blocks {
		switch b["type"] {
		case "text", "image", "audio":
		case "tool_use":
			id := text(b, "id")
			if role != "assistant" || uses[id] {
				return nil, fmt.Errorf("tool use %q is under the wrong role, or there twice", id)
			}
			uses[id] = true
		case "tool_result":
			id := text(b, "toolUseId")
			if role != "user" || !open[id] || results[id] {
				return nil, fmt.Errorf("tool result for %q is under the wrong role, without its use, or there twice", id)
			}
			results[id] = true
		default:
			return nil, fmt.Errorf("content type %v is unknown", b["type"])
		}
	}
	if len(results) > 0 && len(results) != len(blocks) {
		return nil, errors.New("tool results are mixed with other content")
	}
	if len(results) != len(open) {
		return nil, errors.New("a tool use before it has no result")
	}
	return uses, nil
}
