package tracetest

import (
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Prompts appends a correct request to the model for the params, and its response.
func (s *Story) Prompts(p *server.CreateMessageParams) *Story {
	if s.Dialect == dialect.Native {
		return s.Prompt(string(jsonvalue.Marshal(p)), trace.ModelEnd{Status: 200})
	}
	return s.Prompt(string(jsonvalue.Marshal(AsChat(p))), trace.ModelEnd{Status: 200})
}

// Prompt appends a request to the model as it is written, and its end.
func (s *Story) Prompt(body string, end trace.ModelEnd) *Story {
	path := map[string]string{
		dialect.Native:          "/native",
		dialect.OpenAIChat:      "/v1/chat/completions",
		dialect.OpenAIResponses: "/v1/responses",
		dialect.Anthropic:       "/v1/messages",
		dialect.Gemini:          "/v1beta/models/gemini-2.5-flash:generateContent",
		dialect.Ollama:          "/api/chat",
	}[s.Dialect]
	s.request(s.Dialect, path, trace.Bytes(body))
	end.Exchange = s.Models
	s.Add(s.CaseID, trace.Event{End: &end})
	return s
}

func (s *Story) request(dialect, path string, body trace.Bytes) {
	s.Models++
	r := trace.ModelRequest{Exchange: s.Models, Dialect: dialect, Method: "POST", Path: path, Body: body}
	s.Add(s.CaseID, trace.Event{Request: &r})
}

// Thinks appends a request to the model for the params, without a response.
func (s *Story) Thinks(p any) *Story {
	s.request(dialect.Native, "/native", jsonvalue.Marshal(p))
	return s
}

// Fails appends a request to the model and a response with an HTTP status.
func (s *Story) Fails(status int) *Story { return s.Prompting(trace.ModelEnd{Status: status}, "") }

// BreaksOff appends a request to the model and a response that breaks off.
func (s *Story) BreaksOff() *Story {
	return s.Prompting(trace.ModelEnd{Status: 200, Fault: "TruncateAfter(6)"}, "")
}

// Prompting appends a request to the model, its end, and the bytes of the response.
func (s *Story) Prompting(end trace.ModelEnd, said string) *Story {
	var body any = Asking(WhenOpen)
	if s.Dialect != dialect.Native {
		body = AsChat(Asking(WhenOpen))
	}
	s.Prompt(string(jsonvalue.Marshal(body)), end)
	if said != "" {
		s.Says(said)
	}
	return s
}

// Says appends bytes of the model's last response.
func (s *Story) Says(said string) *Story {
	s.Add(s.CaseID, trace.Event{Chunk: &trace.ModelChunk{Exchange: s.Models, Data: trace.Bytes(said)}})
	return s
}

// UsesTool appends a response of the model that uses a tool, in the dialect of the story. Arguments that are not JSON
// are a text in the native dialect.
func (s *Story) UsesTool(name, arguments string) *Story {
	if s.Dialect == dialect.Native {
		input := json.RawMessage(arguments)
		if !json.Valid(input) {
			input = jsonvalue.Marshal(arguments)
		}
		return s.Says(Wanting([3]string{"call_1", name, string(input)}))
	}
	call := story.Object{"id": "call_1", "type": "function",
		"function": story.Object{"name": name, "arguments": arguments}}
	message := story.Object{"role": "assistant", "tool_calls": []any{call}}
	return s.Says(string(jsonvalue.Marshal(story.Object{"model": "m",
		"choices": []any{story.Object{"message": message, "finish_reason": "tool_calls"}}})))
}

// OfHost appends the steps as requests of a host's own to its model, which belong to no case.
func (s *Story) OfHost(steps func(*Story)) *Story {
	first, caseID := len(s.Trace.Events), s.CaseID
	s.CaseID, s.Trace.Header.PromptMark = "", "mkprompted"
	steps(s)
	s.CaseID = caseID
	for _, e := range s.Trace.Events[first:] {
		switch {
		case e.Request != nil:
			e.Request.Host = true
		case e.End != nil:
			e.End.Host = true
		}
	}
	return s
}

// HungUp is the end of a stream that the client closed.
var HungUp = trace.ModelEnd{Status: 200, Stream: true, HungUp: true}

// AsChat returns the correct request to OpenAI for a sampling request.
func AsChat(p *server.CreateMessageParams) story.Object {
	var params struct {
		SystemPrompt  string
		MaxTokens     int
		Temperature   *float64
		StopSequences []string
		Messages      []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	if err := json.Unmarshal(jsonvalue.Marshal(p), &params); err != nil {
		panic(err)
	}
	var messages []any
	if params.SystemPrompt != "" {
		messages = append(messages, story.Object{"role": "system", "content": params.SystemPrompt})
	}
	for _, m := range params.Messages {
		messages = append(messages, chatMessages(m.Role, m.Content)...)
	}
	body := story.Object{"model": "gpt-4o", "max_tokens": params.MaxTokens, "messages": messages}
	if params.Temperature != nil {
		body["temperature"] = *params.Temperature
	}
	if params.StopSequences != nil {
		body["stop"] = params.StopSequences
	}
	var tools []any
	for _, t := range params.Tools {
		function := story.Object{"name": t.Name, "description": t.Description, "parameters": t.InputSchema}
		tools = append(tools, story.Object{"type": "function", "function": function})
	}
	if tools != nil {
		body["tools"] = tools
	}
	return body
}

// chatBlock is a block of any type.
type chatBlock struct {
	Type, Text, ID, Name, ToolUseID string
	Data, MimeType                  string
	Input                           json.RawMessage
	Content                         []json.RawMessage
	StructuredContent               json.RawMessage
	IsError                         bool
}

// chatMessages converts a message of MCP. Each tool result becomes a message.
func chatMessages(role string, content json.RawMessage) []any {
	var blocks []chatBlock
	if json.Unmarshal(content, &blocks) != nil {
		blocks = make([]chatBlock, 1)
		if err := json.Unmarshal(content, &blocks[0]); err != nil {
			panic(err)
		}
	}
	var messages, calls []any
	for _, b := range blocks {
		switch b.Type {
		case "text":
			messages = append(messages, story.Object{"role": role, "content": b.Text})
		case "image":
			url := "data:" + b.MimeType + ";base64," + b.Data
			image := story.Object{"type": "image_url", "image_url": story.Object{"url": url}}
			messages = append(messages, story.Object{"role": role, "content": []any{image}})
		case "audio":
			audio := story.Object{"type": "input_audio", "input_audio": story.Object{"format": "wav", "data": b.Data}}
			messages = append(messages, story.Object{"role": role, "content": []any{audio}})
		case "tool_use":
			function := story.Object{"name": b.Name, "arguments": string(b.Input)}
			calls = append(calls, story.Object{"id": b.ID, "type": "function", "function": function})
		case "tool_result":
			messages = append(messages, story.Object{"role": "tool", "tool_call_id": b.ToolUseID, "content": resultText(b)})
		}
	}
	if calls != nil {
		messages = append(messages, story.Object{"role": "assistant", "tool_calls": calls})
	}
	return messages
}

// resultText returns the content of a tool result as text.
func resultText(b chatBlock) string {
	var texts []string
	if b.IsError {
		texts = append(texts, "Error:")
	}
	for _, raw := range b.Content {
		var inner chatBlock
		if json.Unmarshal(raw, &inner) == nil && inner.Type == "text" {
			texts = append(texts, inner.Text)
		} else {
			texts = append(texts, string(raw))
		}
	}
	if len(texts) == 0 {
		texts = append(texts, string(b.StructuredContent))
	}
	return strings.Join(texts, "\n")
}
