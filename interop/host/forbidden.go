package host

import (
	"encoding/json"
	"slices"
)

// block holds the members of a content block that are checked.
type block struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ToolUseID string `json:"toolUseId"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Forbidden says why a strict host refuses a request, given the declared capabilities (both JSON); "" if it is valid.
// The rules are from 2025-11-25, client/sampling#message-content-constraints and #tool-use-and-result-balance.
func Forbidden(params, declared json.RawMessage) string {
	var request struct {
		Messages   []message       `json:"messages"`
		Tools      json.RawMessage `json:"tools"`
		ToolChoice json.RawMessage `json:"toolChoice"`
	}
	if err := json.Unmarshal(params, &request); err != nil {
		return "invalid request"
	}
	if (request.Tools != nil || request.ToolChoice != nil) && !declaresTools(declared) {
		return "tools were not declared"
	}
	var open []string
	for _, m := range request.Messages {
		blocks, ok := contentOf(m.Content)
		if !ok {
			return "a message has no content"
		}
		why := ""
		if why, open = m.imbalance(blocks, open); why != "" {
			return why
		}
	}
	if len(open) > 0 {
		return "a tool_use has no tool_result"
	}
	return ""
}

// imbalance says what is wrong with a message after tool uses without results (open), and returns its own tool uses.
func (m message) imbalance(blocks []block, open []string) (why string, uses []string) {
	var results []string
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			uses = append(uses, b.ID)
		case "tool_result":
			results = append(results, b.ToolUseID)
		}
	}
	switch {
	case len(uses) > 0 && m.Role != "assistant":
		why = "a user message contains a tool_use"
	case len(results) > 0 && m.Role != "user":
		why = "an assistant message contains a tool_result"
	case len(results) > 0 && len(results) < len(blocks):
		why = "a message contains a tool_result and other content"
	case twice(uses), twice(results):
		why = "duplicate id"
	case !within(results, open):
		why = "a tool_result has no tool_use"
	case !within(open, results):
		why = "a tool_use has no tool_result"
	}
	return why, uses
}

// UsesForbiddenTool reports whether an answer uses a tool although the request has none, or has the tool choice none.
func UsesForbiddenTool(params, result json.RawMessage) bool {
	var request struct {
		Tools      []json.RawMessage `json:"tools"`
		ToolChoice struct {
			Mode string `json:"mode"`
		} `json:"toolChoice"`
	}
	var answer struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(params, &request) != nil || json.Unmarshal(result, &answer) != nil {
		return false // nothing to compare
	}
	blocks, _ := contentOf(answer.Content)
	allowed := len(request.Tools) > 0 && request.ToolChoice.Mode != "none"
	return !allowed && slices.ContainsFunc(blocks, func(b block) bool { return b.Type == "tool_use" })
}

func declaresTools(declared json.RawMessage) bool {
	var capabilities struct {
		Sampling struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"sampling"`
	}
	return json.Unmarshal(declared, &capabilities) == nil && capabilities.Sampling.Tools != nil
}

// contentOf decodes one block or an array of blocks.
func contentOf(raw json.RawMessage) ([]block, bool) {
	var blocks []block
	if json.Unmarshal(raw, &blocks) == nil && blocks != nil {
		return blocks, true
	}
	var one block
	err := json.Unmarshal(raw, &one)
	return []block{one}, err == nil && one.Type != ""
}

func twice(ids []string) bool {
	sorted := slices.Sorted(slices.Values(ids))
	return len(slices.Compact(sorted)) < len(ids)
}

// within reports whether all ids are among the others.
func within(ids, others []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(others, id) })
}
