package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// claude asks Anthropic's messages.
func claude(url, key string, client *http.Client) asker {
	api := anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey(key), option.WithHTTPClient(client))
	return func(ctx context.Context, r *request) (*answer, error) {
		params, err := claudeParams(r)
		if err != nil {
			return nil, err
		}
		said, err := api.Messages.New(ctx, params)
		if err != nil {
			return nil, err
		}
		reasons := map[anthropic.StopReason]string{"end_turn": "endTurn", "max_tokens": "maxTokens", "tool_use": "toolUse",
			"stop_sequence": "stopSequence"}
		a := &answer{Role: "assistant", Model: said.Model,
			StopReason: cmp.Or(reasons[said.StopReason], string(said.StopReason))}
		for _, b := range said.Content {
			switch b.Type {
			case "text":
				a.Content = append(a.Content, &mcp.TextContent{Text: b.Text})
			case "tool_use":
				use, wrong := toolUse(b.ID, b.Name, string(b.Input))
				err = cmp.Or(err, wrong)
				a.Content = append(a.Content, use)
			}
		}
		return a, err
	}
}

func claudeParams(r *request) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: r.MaxTokens,
		StopSequences: r.StopSequences}
	if r.SystemPrompt != "" {
		params.System = []anthropic.TextBlockParam{{Text: r.SystemPrompt}}
	}
	if r.Temperature != 0 {
		params.Temperature = anthropic.Float(r.Temperature)
	}
	for _, m := range r.Messages {
		blocks, err := claudeBlocks(m.Content)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages,
			anthropic.MessageParam{Role: anthropic.MessageParamRole(m.Role), Content: blocks})
	}
	for _, t := range r.Tools {
		given, _ := t.InputSchema.(map[string]any)
		extra := maps.Clone(given)
		maps.DeleteFunc(extra, func(name string, _ any) bool { return name == "type" || name == "properties" })
		offered := &anthropic.ToolParam{Name: t.Name, InputSchema: anthropic.ToolInputSchemaParam{
			Properties: given["properties"], ExtraFields: extra}}
		if t.Description != "" {
			offered.Description = anthropic.String(t.Description)
		}
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: offered})
	}
	switch mode := choice(r); {
	case len(r.Tools) > 0 && mode == "required":
		params.ToolChoice.OfAny = &anthropic.ToolChoiceAnyParam{}
	case len(r.Tools) > 0 && mode == "none":
		params.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	}
	return params, nil
}

func claudeBlocks(content []mcp.Content) (all []anthropic.ContentBlockParamUnion, err error) {
	for _, c := range content {
		switch c := c.(type) {
		case *mcp.ToolResultContent:
			text, err := textOf(c)
			if err != nil {
				return nil, err
			}
			all = append(all, anthropic.NewToolResultBlock(c.ToolUseID, text, c.IsError))
		case *mcp.ToolUseContent:
			all = append(all, anthropic.NewToolUseBlock(c.ID, inputOf(c), c.Name))
		case *mcp.ImageContent:
			all = append(all, anthropic.NewImageBlockBase64(c.MIMEType, base64.StdEncoding.EncodeToString(c.Data)))
		case *mcp.TextContent:
			all = append(all, anthropic.NewTextBlock(c.Text))
		default:
			return nil, fmt.Errorf("content of the type %T is not supported", c)
		}
	}
	return all, nil
}
