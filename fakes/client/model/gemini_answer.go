package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// askGemini asks generateContent, or its stream.
func (m *Model) askGemini(ctx context.Context, params map[string]any) (map[string]any, error) {
	name := modelName(params, cmp.Or(m.options.Model, "gemini-2.5-flash"), "gemini-2.0-flash", "gemini-2.5-pro")
	body, err := m.geminiBody(params, name)
	if err != nil {
		return nil, err
	}
	path, read := "/v1beta/models/"+url.PathEscape(name), readGeminiStream
	if m.options.Plain {
		path, read = path+":generateContent", readGemini
	} else {
		path += ":streamGenerateContent?alt=sse"
	}
	answer, err := m.post(ctx, path, http.Header{"X-Goog-Api-Key": {m.options.Key}}, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	t, err := read(answer)
	if err != nil {
		return nil, err
	}
	return m.geminiResult(t, params)
}

// geminiResponse is a GenerateContentResponse, or a chunk of one.
type geminiResponse struct {
	Candidates []struct {
		Content struct {
			Parts []geminiAnswerPart `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	ModelVersion string          `json:"modelVersion"`
	ResponseID   string          `json:"responseId"`
	Error        json.RawMessage `json:"error"`
}

type geminiAnswerPart struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature string `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// geminiTurn is the model's turn.
type geminiTurn struct {
	parts  []geminiAnswerPart
	finish string
	model  string
	id     string
}

func readGemini(answer io.Reader) (*geminiTurn, error) {
	t := &geminiTurn{}
	var r geminiResponse
	if err := decode(answer, &r); err != nil {
		return nil, err
	}
	if err := t.add(&r); err != nil {
		return nil, err
	}
	return t, t.complete()
}

// readGeminiStream reads chunks to the end of the stream: chunks after the finish reason count.
func readGeminiStream(answer io.Reader) (*geminiTurn, error) {
	t := &geminiTurn{}
	var invalid error
	err := sse.Events(answer, func(data []byte) bool {
		var r geminiResponse
		if invalid = json.Unmarshal(data, &r); invalid == nil {
			invalid = t.add(&r)
		}
		return invalid == nil
	})
	if err := errors.Join(invalid, err); err != nil {
		return nil, err
	}
	return t, t.complete()
}

// complete returns an error for an answer without a finish reason.
func (t *geminiTurn) complete() error {
	if t.finish == "" {
		return errCutShort
	}
	return nil
}

// add adds a response or a chunk. Pieces of one text are joined. Thoughts are not for the server.
func (t *geminiTurn) add(r *geminiResponse) error {
	switch {
	case r.Error != nil:
		return errInStream
	case r.PromptFeedback.BlockReason != "":
		return errors.New("the provider blocked the prompt: " + r.PromptFeedback.BlockReason)
	}
	t.model = cmp.Or(r.ModelVersion, t.model)
	t.id = cmp.Or(r.ResponseID, t.id)
	for _, c := range r.Candidates {
		for _, p := range c.Content.Parts {
			t.addPart(p)
		}
		t.finish = cmp.Or(c.FinishReason, t.finish)
	}
	return nil
}

func (t *geminiTurn) addPart(p geminiAnswerPart) {
	last := len(t.parts) - 1
	switch {
	case p.Thought:
	case p.FunctionCall == nil && last >= 0 && t.parts[last].FunctionCall == nil:
		t.parts[last].Text += p.Text
	case p.FunctionCall != nil || p.Text != "":
		t.parts = append(t.parts, p)
	}
}

// geminiResult returns the turn as a CreateMessageResult.
func (m *Model) geminiResult(t *geminiTurn, params map[string]any) (map[string]any, error) {
	taken := map[string]bool{}
	for _, message := range mcpjson.Messages(params) {
		for _, use := range mcpjson.OfType(message["content"], "tool_use") {
			taken[mcpjson.Text(use, "id")] = true
		}
	}
	var blocks []any
	calls := 0
	for _, p := range t.parts {
		call := p.FunctionCall
		if call == nil {
			blocks = append(blocks, map[string]any{"type": "text", "text": p.Text})
			continue
		}
		calls++
		input := map[string]any{}
		if call.Args != nil {
			var err error
			if input, err = mcpjson.Object(call.Args); err != nil {
				return nil, errBadArguments
			}
		}
		id := call.ID
		if id == "" {
			id = m.gemini.newID(t.id, calls, taken)
		}
		m.gemini.keep(id, p.ThoughtSignature)
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": id, "name": call.Name, "input": input})
	}
	reason, err := geminiStopReason(t.finish, calls > 0, len(blocks) == 0)
	if err != nil {
		return nil, err
	}
	if blocks == nil {
		blocks = []any{map[string]any{"type": "text", "text": ""}}
	}
	result := map[string]any{"role": "assistant", "model": t.model, "content": blocks, "stopReason": reason}
	if calls == 0 {
		result["content"] = blocks[0]
	}
	return result, nil
}

// geminiStopReason returns MCP's reason, or the API's if MCP has none. An empty answer is an error.
func geminiStopReason(finish string, calls, empty bool) (string, error) {
	switch {
	case finish == "MALFORMED_FUNCTION_CALL":
		return "", refusal("the model made a tool call that cannot be read")
	case finish == "MAX_TOKENS":
		return "maxTokens", nil
	case calls: // the API has no word for it
		return "toolUse", nil
	case finish == "STOP":
		return "endTurn", nil
	case empty:
		return "", refusal("the model gave no answer")
	}
	return finish, nil
}
