package openai

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// responsesRequest is a request body as OpenAI documents it. [responses.Check] judges what the parser reads leniently.
type responsesRequest struct {
	jsonvalue.Members
	style                  *style // of the server whose rules apply
	model, instructions    string
	prompt                 *string // string input
	items                  []item  // array input
	tools                  []tool
	stream, background     bool
	temperature, topP      *float64
	maxTokens, topLogprobs *int64
	include                []string
}

type item struct {
	jsonvalue.Members
	path, kind, role, id, callID, name string
	raw                                json.RawMessage
	text                               *string // content or output as a string
	parts                              []part  // content, output or summary as an array
}

// contents names the content member of each kind of item.
var contents = map[string]string{
	"message": "content", "function_call_output": "output", "custom_tool_call_output": "output", "reasoning": "summary",
}

func parseResponses(body []byte) (*responsesRequest, *dialect.Error) {
	var q responsesRequest
	var err error
	if q.Members, err = jsonvalue.ReadMembers(body); err != nil {
		return nil, unreadable(body, err)
	}
	if q.Members == nil {
		return nil, ours("", "", "the body is null: want a JSON object")
	}
	r := newReader()
	r.ReadAll(q.Members, "", "model", &q.model, "instructions", &q.instructions, "stream", &q.stream,
		"background", &q.background, "store", new(bool), "temperature", &q.temperature, "top_p", &q.topP,
		"max_output_tokens", &q.maxTokens, "top_logprobs", &q.topLogprobs, "include", &q.include)
	if text, isText := jsonvalue.TextOf(q.Raw("input")); isText {
		q.prompt = &text
	} else {
		r.Each(q.Members, "", "input", func(raw json.RawMessage, path string) {
			q.items = append(q.items, r.item(raw, path))
		})
	}
	r.Each(q.Members, "", "tools", func(raw json.RawMessage, path string) {
		q.tools = append(q.tools, r.flatTool(raw, path))
	})
	return &q, r.Err
}

func (r *reader) item(raw json.RawMessage, path string) item {
	it := item{Members: r.Object(raw, path), path: path, raw: raw}
	r.Read(it.Members, path, "type", &it.kind)
	if it.kind == "" { // optional for messages and references
		it.kind = "item_reference"
		if it.Has("role") || it.Has("content") {
			it.kind = "message"
		}
	}
	r.ReadAll(it.Members, path, "role", &it.role, "id", &it.id, "call_id", &it.callID, "name", &it.name)
	content, ok := contents[it.kind]
	if !ok {
		return it
	}
	if text, isText := jsonvalue.TextOf(it.Raw(content)); isText && content != "summary" {
		it.text = &text
		return it
	}
	r.Each(it.Members, path, content, func(raw json.RawMessage, path string) {
		it.parts = append(it.parts, part{r.Object(raw, path), path, raw})
	})
	return it
}

// flatTool reads a tool of Responses, which has no inner object.
func (r *reader) flatTool(raw json.RawMessage, path string) tool {
	t := tool{path: path, flat: r.Object(raw, path)}
	r.ReadAll(t.flat, path, "type", &t.kind, "name", &t.name, "description", &t.description, "strict", new(bool))
	t.parameters = t.flat.Raw("parameters")
	return t
}
