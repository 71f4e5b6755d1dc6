package reference

import (
	"encoding/json"
	"errors"
	"fmt"
)

// violation is a history that breaks a rule of tool uses and results (2025-11-25, client/sampling#message-content-constraints).
type violation struct {
	rule string // as the catalogue calls it
	says string
}

func (v *violation) Error() string { return v.says }

// ruleOf is the rule that a request breaks; "" where it is another kind of wrong.
func ruleOf(err error) string {
	var v *violation
	if errors.As(err, &v) {
		return v.rule
	}
	return ""
}

// unbalanced reports whether the params hold a history that breaks such a rule.
func unbalanced(raw json.RawMessage) bool {
	params, err := object(raw)
	return err == nil && ruleOf(checkRequest(params)) != ""
}

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
			if v := (&violation{}); errors.As(err, &v) && v.rule == "no-result" && comesLater(messages[i+1:]) {
				v.rule = "late-result"
			}
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(open) > 0 {
		return &violation{"trailing-use", "the history ends with a tool use that has no result"}
	}
	return nil
}

// comesLater reports whether tool results stand in messages.
func comesLater(messages []any) bool {
	found := false
	eachMessage(map[string]any{"messages": messages}, func(m map[string]any) { found = found || len(ofType(m["content"], "tool_result")) > 0 })
	return found
}

// balance holds one message against the tool uses that are open before it, and returns those that are open after it.
func balance(open map[string]bool, role string, blocks []map[string]any) (map[string]bool, error) {
	uses, results := map[string]bool{}, map[string]bool{}
	for _, b := range blocks {
		switch b["type"] {
		case "text", "image", "audio":
		case "tool_use":
			id := text(b, "id")
			switch {
			case role != "assistant":
				return nil, &violation{"use-in-user", fmt.Sprintf("tool use %q is under the role user", id)}
			case uses[id]:
				return nil, &violation{"duplicate-use-id", fmt.Sprintf("tool use %q is there twice", id)}
			}
			uses[id] = true
		case "tool_result":
			id := text(b, "toolUseId")
			switch {
			case role != "user":
				return nil, &violation{"result-in-assistant", fmt.Sprintf("tool result for %q is under the role assistant", id)}
			case results[id]:
				return nil, &violation{"duplicate-result", fmt.Sprintf("tool result for %q is there twice", id)}
			case !open[id]:
				return nil, &violation{"orphan-result", fmt.Sprintf("tool result for %q has no tool use in the message before it", id)}
			}
			results[id] = true
		default:
			return nil, fmt.Errorf("content type %v is unknown", b["type"])
		}
	}
	switch {
	case len(results) > 0 && len(results) != len(blocks):
		return nil, &violation{"mixed-content", "tool results are mixed with other content"}
	case len(results) == 0 && len(open) > 0:
		return nil, &violation{"no-result", "a tool use before it has no result"}
	case len(results) != len(open):
		return nil, &violation{"missing-result", "a tool use before it has no result"}
	}
	return uses, nil
}
