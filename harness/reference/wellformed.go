package reference

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// wellFormed refuses params that are not as the schema has them (2025-11-25, schema#createmessagerequestparams), and a few that it has
// nothing against and no model makes sense of. Fields that a client need not heed are not looked at.
func (m *model) wellFormed(params map[string]any) error {
	if n, ok := params["maxTokens"].(json.Number); !ok {
		return errors.New("maxTokens is missing, or is no number")
	} else if whole, err := n.Int64(); err != nil || whole < 1 {
		return fmt.Errorf("maxTokens is %s: want a whole number above 0", n)
	}
	messages, ok := params["messages"].([]any)
	if !ok || len(messages) == 0 {
		return errors.New("messages is missing, or holds none")
	}
	for i, item := range messages {
		if err := wellFormedMessage(item); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if err := m.wellFormedTools(params["tools"]); err != nil {
		return err
	}
	choice, ok := params["toolChoice"].(map[string]any)
	if params["toolChoice"] != nil && (!ok || !slices.Contains([]any{nil, "auto", "required", "none"}, choice["mode"])) {
		return errors.New("toolChoice is none that there is")
	}
	return nil
}

func wellFormedMessage(item any) error {
	message, ok := item.(map[string]any)
	if !ok {
		return errors.New("it is not an object")
	}
	if role := message["role"]; role != "user" && role != "assistant" {
		return fmt.Errorf("role %v is neither user nor assistant", role)
	}
	blocks, err := blocksOf(message["content"])
	if err != nil {
		return err
	}
	for i, b := range blocks {
		if err := wellFormedBlock(b); err != nil {
			return fmt.Errorf("content block %d: %w", i, err)
		}
	}
	return nil
}

func wellFormedBlock(b map[string]any) error {
	var texts []string // members that are strings
	switch b["type"] {
	case "text":
		texts = []string{"text"}
	case "image", "audio":
		texts = []string{"data", "mimeType"}
		if _, err := base64.StdEncoding.DecodeString(text(b, "data")); err != nil {
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
		return fmt.Errorf("type %v is unknown", b["type"])
	}
	for _, name := range texts {
		if _, ok := b[name].(string); !ok {
			return fmt.Errorf("%s is missing, or is no string", name)
		}
	}
	return nil
}

func (m *model) wellFormedTools(value any) error {
	if value == nil {
		return nil
	}
	tools, ok := value.([]any)
	if !ok {
		return errors.New("tools is not an array")
	}
	for i, item := range tools {
		tool, _ := item.(map[string]any)
		if text(tool, "name") == "" {
			return fmt.Errorf("tools[%d]: it has no name", i)
		}
		schema, ok := tool["inputSchema"].(map[string]any)
		if !ok || schema["type"] != "object" {
			return fmt.Errorf("tools[%d]: inputSchema is not the schema of an object", i)
		}
		if err := wellFormedSchema(schema); err != nil && !m.config.broken.takesAnySchema {
			return fmt.Errorf("tools[%d].inputSchema: %w", i, err)
		}
	}
	return nil
}

// wellFormedSchema holds the types that a schema names against those there are.
func wellFormedSchema(schema map[string]any) error {
	names, several := schema["type"].([]any)
	if !several && schema["type"] != nil {
		names = []any{schema["type"]}
	}
	for _, name := range names {
		if !slices.Contains([]any{"object", "array", "string", "number", "integer", "boolean", "null"}, name) {
			return fmt.Errorf("type %v is unknown", name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		if property, ok := value.(map[string]any); ok {
			if err := wellFormedSchema(property); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
