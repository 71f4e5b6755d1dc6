package client

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// InvalidError is a broken rule of tool uses and results (2025-11-25, client/sampling#message-content-constraints).
type InvalidError struct {
	// Rule is one of use-in-user, result-in-assistant, duplicate-use-id, duplicate-result, orphan-result, mixed-content,
	// no-result, missing-result and trailing-use.
	Rule string
	// Message is the index of the message that breaks it, in messages.
	Message int
	Reason  string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("messages[%d]: %s", e.Message, e.Reason) }

// validHistory checks that each tool use has its result in the next message. The messages are valid on their own.
func validHistory(params map[string]any) error {
	open := map[string]bool{} // tool uses that the next message must have results for
	messages := mcpjson.Messages(params)
	for i, m := range messages {
		blocks, err := mcpjson.Blocks(m["content"])
		if err != nil {
			return err
		}
		next, broken := balance(open, mcpjson.Text(m, "role"), blocks)
		if broken != nil {
			broken.Message = i
			return broken
		}
		open = next
	}
	if len(open) > 0 {
		return &InvalidError{"trailing-use", len(messages) - 1, "a tool use at the end has no result"}
	}
	return nil
}

// balance checks one message against the tool uses that are open before it, and returns those that are open after it.
func balance(open map[string]bool, role string, blocks []map[string]any) (map[string]bool, *InvalidError) {
	broken := func(rule, format string, args ...any) (map[string]bool, *InvalidError) {
		return nil, &InvalidError{Rule: rule, Reason: fmt.Sprintf(format, args...)}
	}
	uses, results := map[string]bool{}, map[string]bool{}
	for _, b := range blocks {
		use, result := mcpjson.Text(b, "id"), mcpjson.Text(b, "toolUseId")
		switch kind := b["type"]; {
		case kind == "tool_use" && role != "assistant":
			return broken("use-in-user", "tool use %q has the role user", use)
		case kind == "tool_use" && uses[use]:
			return broken("duplicate-use-id", "two tool uses have the id %q", use)
		case kind == "tool_use":
			uses[use] = true
		case kind != "tool_result":
		case role != "user":
			return broken("result-in-assistant", "tool result %q has the role assistant", result)
		case results[result]:
			return broken("duplicate-result", "tool use %q has two results", result)
		case !open[result]:
			return broken("orphan-result", "tool result %q has no tool use in the message before", result)
		default:
			results[result] = true
		}
	}
	switch {
	case len(results) > 0 && len(results) != len(blocks):
		return broken("mixed-content", "tool results are mixed with other content")
	case len(results) == len(open):
		return uses, nil
	case len(results) == 0:
		return broken("no-result", "the tool uses before have no result")
	}
	return broken("missing-result", "a tool use before has no result")
}
