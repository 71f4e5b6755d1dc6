package openai

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec]. Thinking is in reasoning_content. Tool uses without an id are legacy calls.
func (c chat) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	var messages []any
	if r.System != "" {
		messages = append(messages, jsonvalue.Ordered("role", "system", "content", r.System))
	}
	for _, m := range codecs.MessagesFor(r, dialect.OpenAIChat) {
		results, others := codecs.SplitResults(m.Content, func(_, b *dialect.Block) bool {
			return b.Type == dialect.Text
		})
		for _, b := range results {
			role, name := "tool", any(jsonvalue.Absent)
			if b.ID == "" {
				role, name = "function", b.Name
			}
			messages = append(messages, jsonvalue.Ordered("role", role, "tool_call_id", jsonvalue.OrAbsent(b.ID), "name", name,
				"content", chatContent(b.Content)))
		}
		if len(others) > 0 || len(results) == 0 {
			messages = append(messages, chatMessage(m.Role, others))
		}
	}
	limit := "max_completion_tokens"
	if !c.isOpenAI {
		limit = "max_tokens"
	}
	return &url.URL{Path: c.base + "/chat/completions"}, jsonvalue.Ordered("model", r.Model, "messages", messages,
		"tools", jsonvalue.ListOrAbsent(codecs.Functions(r.Tools)),
		"tool_choice", choiceBody(r, false), limit, jsonvalue.OrAbsent(r.MaxTokens),
		"temperature", jsonvalue.OrAbsent(r.Temperature), "stop", jsonvalue.ListOrAbsent(r.StopSequences),
		"stream", jsonvalue.OrAbsent(r.Stream))
}

func chatMessage(role dialect.Role, blocks []dialect.Block) json.RawMessage {
	var said []dialect.Block
	var calls []any
	var legacy any = jsonvalue.Absent
	thinking := ""
	for _, b := range blocks {
		function := jsonvalue.Ordered("name", b.Name, "arguments", string(b.Input))
		switch {
		case b.Type == dialect.ToolUse && b.ID == "":
			legacy = function
		case b.Type == dialect.ToolUse:
			calls = append(calls, jsonvalue.Ordered("id", b.ID, "type", "function", "function", function))
		case b.Type == dialect.Thinking:
			thinking += b.Text
		default:
			said = append(said, b)
		}
	}
	var content any = jsonvalue.Absent
	if len(said) > 0 || len(blocks) == 0 {
		content = chatContent(said)
	}
	return jsonvalue.Ordered("role", role, "reasoning_content", jsonvalue.OrAbsent(thinking), "content", content,
		"tool_calls", jsonvalue.ListOrAbsent(calls), "function_call", legacy)
}

// chatContent writes a text as a string, and anything else as parts.
func chatContent(blocks []dialect.Block) any {
	if text, isText := onlyText(blocks); isText {
		return text
	}
	parts := make([]any, len(blocks))
	for i, b := range blocks {
		switch b.Type {
		case dialect.Text:
			parts[i] = jsonvalue.Ordered("type", "text", "text", b.Text)
		case dialect.Image:
			parts[i] = jsonvalue.Ordered("type", "image_url", "image_url", jsonvalue.Ordered("url", address(&b)))
		case dialect.Audio:
			parts[i] = audioPart(&b)
		default:
			parts[i] = b.Raw
		}
	}
	return parts
}

// onlyText returns the text of at most one block, and whether there is nothing else.
func onlyText(blocks []dialect.Block) (text string, isText bool) {
	if len(blocks) == 0 {
		return "", true
	}
	return blocks[0].Text, len(blocks) == 1 && blocks[0].Type == dialect.Text
}

func address(b *dialect.Block) string {
	if b.Text != "" {
		return b.Text
	}
	return "data:" + b.MimeType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
}

func audioPart(b *dialect.Block) json.RawMessage {
	format := strings.TrimPrefix(strings.TrimPrefix(b.MimeType, "audio/"), "x-")
	if format == "mpeg" {
		format = "mp3"
	}
	return jsonvalue.Ordered("type", "input_audio", "input_audio", jsonvalue.Ordered("data", b.Data, "format", format))
}

// choiceBody writes the tool choice; flat is the form of Responses.
func choiceBody(r *dialect.Request, flat bool) any {
	name, isTool := strings.CutPrefix(r.ToolChoice, "tool:")
	switch {
	case len(r.Tools) == 0:
		return jsonvalue.Absent
	case isTool && flat:
		return jsonvalue.Ordered("type", "function", "name", name)
	case isTool:
		return jsonvalue.Ordered("type", "function", "function", jsonvalue.Ordered("name", name))
	case json.Valid([]byte(r.ToolChoice)): // a choice without neutral form
		return json.RawMessage(r.ToolChoice)
	}
	return jsonvalue.OrAbsent(r.ToolChoice)
}
