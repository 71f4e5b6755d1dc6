package client

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// Validate checks the params of a sampling request against the schema (2025-11-25, schema#createmessagerequestparams),
// and its tool uses against its tool results (client/sampling#message-content-constraints). It also refuses what the
// schema allows and no model accepts, such as a maxTokens below 1. Members that a client may ignore are not checked. An
// error about tool uses and results is an [*InvalidError].
func Validate(params map[string]any) error {
	if n, ok := params["maxTokens"].(json.Number); !ok {
		return errors.New("maxTokens is missing or not a number")
	} else if whole, err := n.Int64(); err != nil || whole < 1 {
		return fmt.Errorf("maxTokens is %s: expected a whole number above 0", n)
	}
	messages, ok := params["messages"].([]any)
	if !ok || len(messages) == 0 {
		return errors.New("messages is missing or empty")
	}
	for i, item := range messages {
		if err := validMessage(item); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if err := validTools(params["tools"]); err != nil {
		return err
	}
	choice, ok := params["toolChoice"].(map[string]any)
	if params["toolChoice"] != nil && (!ok || !slices.Contains([]any{nil, "auto", "required", "none"}, choice["mode"])) {
		return errors.New("toolChoice has no known mode")
	}
	return validHistory(params)
}

func validMessage(item any) error {
	message, ok := item.(map[string]any)
	if !ok {
		return errors.New("not an object")
	}
	if role := message["role"]; role != "user" && role != "assistant" {
		return fmt.Errorf("role %v is neither user nor assistant", role)
	}
	blocks, err := mcpjson.Blocks(message["content"])
	if err != nil {
		return err
	}
	for i, b := range blocks {
		if err := validBlock(b); err != nil {
			return fmt.Errorf("content block %d: %w", i, err)
		}
	}
	return nil
}

func validBlock(b map[string]any) error {
	var texts []string // members that must be strings
	switch b["type"] {
	case "text":
		texts = []string{"text"}
	case "image", "audio":
		texts = []string{"data", "mimeType"}
		if _, err := base64.StdEncoding.DecodeString(mcpjson.Text(b, "data")); err != nil {
			return fmt.Errorf("data is not base64: %w", err)
		}
	case "tool_use":
		texts = []string{"id", "name"}
		if _, ok := b["input"].(map[string]any); !ok {
			return errors.New("input is not an object")
		}
	case "tool_result":
		texts = []string{"toolUseId"}
		if _, ok := b["content"].([]any); !ok {
			return errors.New("content is not an array")
		}
	default:
		return fmt.Errorf("unknown type %v", b["type"])
	}
	for _, name := range texts {
		if _, ok := b[name].(string); !ok {
			return fmt.Errorf("%s is missing or not a string", name)
		}
	}
	return nil
}

func validTools(value any) error {
	if value == nil {
		return nil
	}
	tools, ok := value.([]any)
	if !ok {
		return errors.New("tools is not an array")
	}
	for i, item := range tools {
		tool, _ := item.(map[string]any)
		if mcpjson.Text(tool, "name") == "" {
			return fmt.Errorf("tools[%d]: name is missing", i)
		}
		schema, ok := tool["inputSchema"].(map[string]any)
		if !ok || schema["type"] != "object" {
			return fmt.Errorf("tools[%d]: inputSchema is not the schema of an object", i)
		}
		if err := validSchema(schema); err != nil {
			return fmt.Errorf("tools[%d].inputSchema: %w", i, err)
		}
	}
	return nil
}

func validSchema(schema map[string]any) error {
	names, several := schema["type"].([]any)
	if !several && schema["type"] != nil {
		names = []any{schema["type"]}
	}
	for _, name := range names {
		if !slices.Contains([]any{"object", "array", "string", "number", "integer", "boolean", "null"}, name) {
			return fmt.Errorf("unknown type %v", name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		if property, ok := value.(map[string]any); ok {
			if err := validSchema(property); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
