package openai

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// responsesRequest is a request body as OpenAI documents it. [responses.Check] judges what the parser reads leniently.
type responsesRequest struct {
	dialect.Members
	model, instructions    string
	prompt                 *string // string input
	items                  []item  // array input
	tools                  []tool
	stream, background     bool
	temperature, topP      *float64
	maxTokens, topLogprobs *int64
	include                []string
}

// item is an item of the input.
type item struct {
	dialect.Members
	path, kind, role, id, callID, name string
	raw                                json.RawMessage
	text                               *string // content or output as a string
	parts                              []part  // content, output or summary as an array
}

// contents names the content member of each kind of item.
var contents = map[string]string{
	"message": "content", "function_call_output": "output", "custom_tool_call_output": "output", "reasoning": "summary",
}

// parseResponses refuses members of an undocumented type.
func parseResponses(body []byte) (*responsesRequest, *dialect.Error) {
	var q responsesRequest
	var err error
	if q.Members, err = dialect.ReadMembers(body); err != nil {
		return nil, invalid("", "", "the body could not be read as a JSON object: %v", err)
	}
	if q.Members == nil {
		return nil, invalid("", "", "the body is null: want a JSON object")
	}
	r := &reader{}
	r.read(q.Members, "", "model", &q.model)
	r.read(q.Members, "", "instructions", &q.instructions)
	r.read(q.Members, "", "stream", &q.stream)
	r.read(q.Members, "", "background", &q.background)
	r.read(q.Members, "", "store", new(bool))
	q.temperature = number[float64](r, q.Members, "temperature")
	q.topP = number[float64](r, q.Members, "top_p")
	q.maxTokens = number[int64](r, q.Members, "max_output_tokens")
	q.topLogprobs = number[int64](r, q.Members, "top_logprobs")
	r.read(q.Members, "", "include", &q.include)
	if dialect.IsKind(q.Raw("input"), '"') {
		text := q.Text("input")
		q.prompt = &text
	} else {
		var items []json.RawMessage
		r.read(q.Members, "", "input", &items)
		for i, raw := range items {
			q.items = append(q.items, r.item(raw, fmt.Sprintf("input[%d]", i)))
		}
	}
	var tools []json.RawMessage
	r.read(q.Members, "", "tools", &tools)
	for i, raw := range tools {
		q.tools = append(q.tools, r.flatTool(raw, fmt.Sprintf("tools[%d]", i)))
	}
	return &q, r.err
}

func (r *reader) item(raw json.RawMessage, path string) item {
	it := item{Members: r.object(raw, path), path: path, raw: raw}
	r.read(it.Members, path, "type", &it.kind)
	if it.kind == "" { // optional for messages and references
		it.kind = "item_reference"
		if it.Has("role") || it.Has("content") {
			it.kind = "message"
		}
	}
	r.read(it.Members, path, "role", &it.role)
	r.read(it.Members, path, "id", &it.id)
	r.read(it.Members, path, "call_id", &it.callID)
	r.read(it.Members, path, "name", &it.name)
	content, ok := contents[it.kind]
	if !ok {
		return it
	}
	if dialect.IsKind(it.Raw(content), '"') && content != "summary" {
		text := it.Text(content)
		it.text = &text
		return it
	}
	var parts []json.RawMessage
	r.read(it.Members, path, content, &parts)
	for i, raw := range parts {
		path := fmt.Sprintf("%s.%s[%d]", path, content, i)
		it.parts = append(it.parts, part{r.object(raw, path), path, raw})
	}
	return it
}

// flatTool reads a tool of Responses, which has no inner object.
func (r *reader) flatTool(raw json.RawMessage, path string) tool {
	t := tool{path: path, flat: r.object(raw, path)}
	r.read(t.flat, path, "type", &t.kind)
	r.read(t.flat, path, "name", &t.name)
	r.read(t.flat, path, "description", &t.description)
	r.read(t.flat, path, "strict", new(bool))
	t.parameters = t.flat.Raw("parameters")
	return t
}
