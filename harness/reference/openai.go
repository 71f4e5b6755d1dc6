package reference

import (
	"encoding/json"
	"fmt"
	"strings"
)

// openAIBody writes a sampling request as a chat completion.
func openAIBody(params map[string]any, stream bool) (map[string]any, error) {
	body := map[string]any{"model": modelName(params, "gpt-4o", "gpt-4o-mini", "gpt-4.1"), "max_tokens": params["maxTokens"]}
	var messages []any
	if prompt := text(params, "systemPrompt"); prompt != "" {
		messages = append(messages, map[string]any{"role": "system", "content": prompt})
	}
	converted, err := convertHistory(params, openAIMessages)
	if err != nil {
		return nil, err
	}
	body["messages"] = append(messages, converted...)
	addTools(body, params)
	for from, to := range map[string]string{"temperature": "temperature", "stopSequences": "stop"} {
		if v, ok := params[from]; ok {
			body[to] = v
		}
	}
	if stream {
		body["stream"] = true
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	return body, nil
}

// addTools offers the tools of the request, and these only.
func addTools(body, params map[string]any) {
	tools, _ := params["tools"].([]any)
	if len(tools) == 0 {
		return
	}
	body["tools"] = functions(tools)
	if choice, ok := params["toolChoice"].(map[string]any); ok {
		body["tool_choice"] = mode(choice)
	}
}

// functions writes tools as functions that a model can call.
func functions(tools []any) []any {
	var offered []any
	for _, item := range tools {
		tool, _ := item.(map[string]any)
		function := map[string]any{"name": tool["name"], "parameters": tool["inputSchema"]}
		if description, ok := tool["description"]; ok {
			function["description"] = description
		}
		offered = append(offered, map[string]any{"type": "function", "function": function})
	}
	return offered
}

// mode is the mode of a tool choice, auto where it has none.
func mode(choice map[string]any) string {
	if mode := text(choice, "mode"); mode != "" {
		return mode
	}
	return "auto"
}

// openAIMessages writes one message of MCP, which is several where it has tool results: each is a message of its own.
func openAIMessages(role string, blocks []map[string]any) ([]any, error) {
	if role == "assistant" {
		return assistantMessage(blocks)
	}
	var results, after []any
	var parts []any
	for _, b := range blocks {
		if b["type"] == "tool_result" {
			content, media, err := resultContent(b)
			if err != nil {
				return nil, err
			}
			results = append(results, map[string]any{"role": "tool", "tool_call_id": b["toolUseId"], "content": content})
			for _, shown := range media {
				part, err := userPart(shown)
				if err != nil {
					return nil, err
				}
				after = append(after, part)
			}
			continue
		}
		part, err := userPart(b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if after != nil { // a tool message takes text only, so what a tool showed follows the results
		results = append(results, map[string]any{"role": "user", "content": after})
	}
	if len(parts) == 1 && blocks[0]["type"] == "text" {
		results = append(results, map[string]any{"role": "user", "content": blocks[0]["text"]})
	} else if parts != nil {
		results = append(results, map[string]any{"role": "user", "content": parts})
	}
	return results, nil
}

func assistantMessage(blocks []map[string]any) ([]any, error) {
	m := map[string]any{"role": "assistant"}
	var calls []any
	var said []string
	for _, b := range blocks {
		switch b["type"] {
		case "text":
			said = append(said, text(b, "text"))
		case "tool_use":
			calls = append(calls, map[string]any{"id": b["id"], "type": "function", "function": map[string]any{
				"name": b["name"], "arguments": string(marshal(b["input"]))}})
		default:
			return nil, &rpcError{codeInternal, fmt.Sprintf("the model takes no %v of its own turn", b["type"])}
		}
	}
	if said != nil {
		m["content"] = strings.Join(said, "\n")
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return []any{m}, nil
}

func userPart(b map[string]any) (map[string]any, error) {
	switch b["type"] {
	case "text":
		return map[string]any{"type": "text", "text": b["text"]}, nil
	case "image":
		url := "data:" + text(b, "mimeType") + ";base64," + text(b, "data")
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}, nil
	case "audio":
		return inputAudio(b), nil
	}
	return nil, &rpcError{codeInternal, fmt.Sprintf("the model takes no %v", b["type"])}
}

// inputAudio is an audio block in either of OpenAI's shapes.
func inputAudio(b map[string]any) map[string]any {
	_, format, _ := strings.Cut(text(b, "mimeType"), "/")
	if format = strings.TrimPrefix(format, "x-"); format == "mpeg" {
		format = "mp3"
	}
	return map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": b["data"], "format": format}}
}

// resultContent writes what a tool result holds as text, that it is an error too, and returns the blocks apart that are none.
func resultContent(b map[string]any) (content string, media []map[string]any, err error) {
	texts, media, err := resultTexts(b)
	if b["isError"] == true {
		texts = append([]string{"Error:"}, texts...)
	}
	return strings.Join(texts, "\n"), media, err
}

// resultTexts writes what a tool result holds as texts, and returns the blocks apart that are none.
func resultTexts(b map[string]any) (texts []string, media []map[string]any, err error) {
	blocks, _ := b["content"].([]any)
	for _, item := range blocks {
		block, _ := item.(map[string]any)
		switch block["type"] {
		case "text":
			texts = append(texts, text(block, "text"))
		case "image", "audio":
			texts = append(texts, fmt.Sprintf("(%v of the tool follows)", block["type"]))
			media = append(media, block)
		case "resource":
			resource, _ := block["resource"].(map[string]any)
			if _, isText := resource["text"].(string); !isText {
				return nil, nil, &rpcError{codeInternal, "the model takes no binary resource"}
			}
			texts = append(texts, fmt.Sprintf("%s:\n%s", text(resource, "uri"), text(resource, "text")))
		default: // a resource link, or what is yet to come
			texts = append(texts, string(marshal(block)))
		}
	}
	if structured, ok := b["structuredContent"]; ok && len(texts) == 0 {
		texts = append(texts, string(marshal(structured)))
	}
	return texts, media, nil
}

// turn is what the model said.
type turn struct {
	text   string
	calls  []call
	finish string
	model  string

	refuses bool // whatever finish says
}

// say takes in what the model says, or says in refusing, which is its reason then.
func (t *turn) say(d *delta, broken *faults) {
	t.text += d.Content
	if d.Refusal != "" && !broken.overlooksRefusals {
		t.text += d.Refusal
		t.refuses = true
	}
}

type call struct {
	id, name, arguments string
}

// result writes the model's turn as a CreateMessageResult.
func (t *turn) result() map[string]any {
	var blocks []any
	if t.text != "" || len(t.calls) == 0 {
		blocks = append(blocks, map[string]any{"type": "text", "text": t.text})
	}
	for _, c := range t.calls {
		if c.arguments == "" {
			c.arguments = "{}"
		}
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.id, "name": c.name, "input": inputOf([]byte(c.arguments))})
	}
	result := map[string]any{"role": "assistant", "model": t.model, "content": blocks, "stopReason": t.stopReason()}
	if len(t.calls) == 0 {
		result["content"] = blocks[0]
	}
	return result
}

// stopReason is the reason in the words of MCP, or the provider's where it has none.
func (t *turn) stopReason() string {
	switch {
	case t.refuses:
		return "refusal"
	case t.finish == "length":
		return "maxTokens"
	case t.finish == "stop": // beside calls, too, with some providers: see settle
		return "endTurn"
	case len(t.calls) > 0:
		return "toolUse"
	}
	return t.finish
}

// completion is a chat completion, or a chunk of one.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Message      delta  `json:"message"`
		Delta        delta  `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"` // what the model says in place of an answer, under any finish reason
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}
