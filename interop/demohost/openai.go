package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// openAI asks OpenAI's chat completions.
func openAI(url, key string, client *http.Client) asker {
	api := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(key), option.WithHTTPClient(client))
	return func(ctx context.Context, r *request) (*answer, error) {
		params, err := openAIParams(r)
		if err != nil {
			return nil, err
		}
		said, err := api.Chat.Completions.New(ctx, params)
		if err != nil || len(said.Choices) == 0 {
			return nil, errors.Join(err, errors.New("no answer"))
		}
		c := said.Choices[0]
		reasons := map[string]string{"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse"}
		a := &answer{Role: "assistant", Model: said.Model, StopReason: cmp.Or(reasons[c.FinishReason], c.FinishReason)}
		if text := c.Message.Content + c.Message.Refusal; text != "" {
			a.Content = append(a.Content, &mcp.TextContent{Text: text})
		}
		for _, call := range c.Message.ToolCalls {
			use, wrong := toolUse(call.ID, call.Function.Name, call.Function.Arguments)
			err = cmp.Or(err, wrong)
			a.Content, a.StopReason = append(a.Content, use), "toolUse" // some servers say stop
		}
		return a, err
	}
}

func openAIParams(r *request) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: "gpt-4.1", MaxCompletionTokens: openai.Int(r.MaxTokens)}
	if r.SystemPrompt != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.SystemPrompt))
	}
	for _, m := range r.Messages {
		messages, err := openAIMessages(m)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages, messages...)
	}
	for _, t := range r.Tools {
		schema, _ := t.InputSchema.(map[string]any)
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: t.Name,
			Description: openai.String(t.Description), Parameters: schema}))
	}
	if mode := choice(r); len(r.Tools) > 0 && mode != "" {
		params.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String(mode)}
	}
	if r.Temperature != 0 {
		params.Temperature = openai.Float(r.Temperature)
	}
	if r.StopSequences != nil {
		params.Stop = openai.ChatCompletionNewParamsStopUnion{OfStringArray: r.StopSequences}
	}
	return params, nil
}

// openAIMessages returns a message as OpenAI wants it: each tool result is one of its own.
func openAIMessages(m *mcp.SamplingMessageV2) (all []openai.ChatCompletionMessageParamUnion, err error) {
	var parts []openai.ChatCompletionContentPartUnionParam
	assistant := openai.ChatCompletionAssistantMessageParam{}
	for _, c := range m.Content {
		switch c := c.(type) {
		case *mcp.ToolResultContent:
			text, err := textOf(c)
			if err != nil {
				return nil, err
			}
			if c.IsError {
				text = "Error: " + text
			}
			all = append(all, openai.ToolMessage(text, c.ToolUseID))
		case *mcp.ToolUseContent:
			call := &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID}
			call.Function.Name, call.Function.Arguments = c.Name, string(inputOf(c))
			assistant.ToolCalls = append(assistant.ToolCalls,
				openai.ChatCompletionMessageToolCallUnionParam{OfFunction: call})
		case *mcp.ImageContent:
			parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
				URL: "data:" + c.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(c.Data)}))
		case *mcp.TextContent:
			parts = append(parts, openai.TextContentPart(c.Text))
			assistant.Content.OfString = openai.String(assistant.Content.OfString.Value + c.Text)
		default:
			return nil, fmt.Errorf("content of the type %T is not supported", c)
		}
	}
	switch {
	case m.Role == "assistant":
		all = append(all, openai.ChatCompletionMessageParamUnion{OfAssistant: &assistant})
	case parts != nil:
		all = append(all, openai.UserMessage(parts))
	}
	return all, nil
}
