package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// convertHistory calls convert with the role and the blocks of each message, and returns everything that it returns.
func convertHistory(
	params map[string]any, convert func(role string, blocks []map[string]any) ([]any, error),
) ([]any, error) {
	var converted []any
	for _, m := range jsonvalue.Messages(params) {
		blocks, err := jsonvalue.Blocks(m["content"])
		if err != nil {
			return nil, err
		}
		several, err := convert(jsonvalue.TextIn(m, "role"), blocks)
		if err != nil {
			return nil, err
		}
		converted = append(converted, several...)
	}
	return converted, nil
}

// chatHistory is convertHistory after the system prompt, as a message of its own.
func chatHistory(
	params map[string]any, convert func(role string, blocks []map[string]any) ([]any, error),
) ([]any, error) {
	var messages []any
	if prompt := jsonvalue.TextIn(params, "systemPrompt"); prompt != "" {
		messages = append(messages, map[string]any{"role": "system", "content": prompt})
	}
	converted, err := convertHistory(params, convert)
	return append(messages, converted...), err
}

func convertBlocks(blocks []map[string]any, convert func(map[string]any) (map[string]any, error)) ([]any, error) {
	var converted []any
	for _, b := range blocks {
		one, err := convert(b)
		if err != nil {
			return nil, err
		}
		converted = append(converted, one)
	}
	return converted, nil
}

// useOf returns the index of the tool use that a tool result belongs to; -1 without one.
func useOf(result map[string]any, uses []map[string]any) int {
	return slices.IndexFunc(uses, func(use map[string]any) bool { return use["id"] == result["toolUseId"] })
}

// inUseOrder returns blocks with the tool results in the order of their tool uses: a model that gets no ids knows them
// by their order.
func inUseOrder(blocks, uses []map[string]any) []map[string]any {
	ordered := slices.Clone(blocks)
	slices.SortStableFunc(ordered, func(a, b map[string]any) int { return useOf(a, uses) - useOf(b, uses) })
	return ordered
}

// resultContent returns the content of a tool result as one text, which also says if it is an error, and its media.
func resultContent(b map[string]any) (content string, media []map[string]any, err error) {
	texts, media, err := resultTexts(b)
	if b["isError"] == true {
		texts = append([]string{"Error:"}, texts...)
	}
	return strings.Join(texts, "\n"), media, err
}

// resultTexts returns the content of a tool result as texts, and its media.
func resultTexts(b map[string]any) (texts []string, media []map[string]any, err error) {
	blocks, _ := b["content"].([]any)
	for _, item := range blocks {
		block, _ := item.(map[string]any)
		switch block["type"] {
		case "text":
			texts = append(texts, jsonvalue.TextIn(block, "text"))
		case "image", "audio":
			texts = append(texts, fmt.Sprintf("(%v of the tool follows)", block["type"]))
			media = append(media, block)
		default:
			said, err := resourceText(block)
			if err != nil {
				return nil, nil, err
			}
			texts = append(texts, said)
		}
	}
	if structured, ok := b["structuredContent"]; ok && len(texts) == 0 {
		texts = append(texts, string(jsonvalue.Marshal(structured)))
	}
	return texts, media, nil
}

// resourceText returns an embedded resource as text, and any other block, such as a link, as its JSON.
func resourceText(block map[string]any) (string, error) {
	if block["type"] != "resource" {
		return string(jsonvalue.Marshal(block)), nil
	}
	resource, _ := block["resource"].(map[string]any)
	text, ok := resource["text"].(string)
	if !ok {
		return "", refusal("the model does not accept binary resources")
	}
	return fmt.Sprintf("%s:\n%s", jsonvalue.TextIn(resource, "uri"), text), nil
}

func notAccepted(b map[string]any) error { return refusal("the model does not accept %v", b["type"]) }
