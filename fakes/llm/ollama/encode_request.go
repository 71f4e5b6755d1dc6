package ollama

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// EncodeRequest implements [dialect.Codec]. With the tool choice none no tools are offered.
func (chat) EncodeRequest(r *dialect.Request) (*url.URL, []byte) {
	messages, tools := []any{}, codecs.Functions(r.Tools)
	if r.System != "" {
		messages = append(messages, messageOf("system", []dialect.Block{{Type: dialect.Text, Text: r.System}}))
	}
	for _, m := range codecs.MessagesFor(r, dialect.Ollama) {
		results, others := codecs.SplitResults(m.Content, func(*dialect.Block, *dialect.Block) bool { return true })
		for _, b := range results {
			messages = append(messages, messageOf("tool", b.Content, "tool_name", jsonvalue.OrAbsent(b.Name),
				"tool_call_id", jsonvalue.OrAbsent(b.ID)))
		}
		if len(others) > 0 || len(results) == 0 {
			messages = append(messages, messageOf(string(m.Role), others))
		}
	}
	if r.ToolChoice == dialect.ChoiceNone {
		tools = nil
	}
	options := jsonvalue.Ordered("num_predict", jsonvalue.OrAbsent(r.MaxTokens),
		"temperature", jsonvalue.OrAbsent(r.Temperature), "stop", jsonvalue.ListOrAbsent(r.StopSequences))
	return &url.URL{Path: "/api/chat"}, jsonvalue.Ordered("model", r.Model, "messages", messages,
		"tools", jsonvalue.ListOrAbsent(tools), "stream", r.Stream, "options", options)
}

// messageOf writes a message with more members. Sounds and images by address have no place in it.
func messageOf(role string, blocks []dialect.Block, more ...any) json.RawMessage {
	var said, thinking []string
	var calls []any
	var images [][]byte
	for _, b := range blocks {
		switch b.Type {
		case dialect.Text:
			said = append(said, b.Text)
		case dialect.Thinking:
			thinking = append(thinking, b.Text)
		case dialect.Image:
			if b.Data != nil {
				images = append(images, b.Data)
			}
		case dialect.ToolUse:
			function := jsonvalue.Ordered("index", len(calls), "name", b.Name, "arguments", codecs.Arguments(&b))
			calls = append(calls, jsonvalue.Ordered("id", jsonvalue.OrAbsent(b.ID), "function", function))
		}
	}
	return jsonvalue.Ordered(append(more, "role", role, "content", strings.Join(said, "\n"),
		"thinking", jsonvalue.OrAbsent(strings.Join(thinking, "\n")), "images", jsonvalue.ListOrAbsent(images),
		"tool_calls", jsonvalue.ListOrAbsent(calls))...)
}
