package reference

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// askGemini asks by generateContent, or by its stream.
func (m *model) askGemini(ctx context.Context, params map[string]any) (map[string]any, error) {
	name := modelName(params, m.config.Model, "gemini-2.0-flash", "gemini-2.5-pro")
	body, err := m.geminiBody(params, name)
	if err != nil {
		return nil, err
	}
	path := "/v1beta/models/" + url.PathEscape(name)
	if m.config.Plain {
		path += ":generateContent"
	} else {
		path += ":streamGenerateContent?alt=sse"
	}
	if m.config.broken.keyInAddress {
		path += map[bool]string{true: "?", false: "&"}[m.config.Plain] + "key=" + m.env.Key
	}
	answer, err := m.post(ctx, dialect.Gemini, path, http.Header{"X-Goog-Api-Key": {m.env.Key}}, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	t := &geminiTurn{}
	if m.config.Plain {
		var r geminiResponse
		if err := json.NewDecoder(answer).Decode(&r); err != nil {
			return nil, err
		}
		err = t.add(&r)
	} else {
		err = m.readGeminiStream(answer, t)
	}
	if err != nil {
		return nil, err
	}
	if t.finish == "" {
		return nil, errors.New("the answer ended before it was whole")
	}
	return m.geminiResult(t, params)
}

// readGeminiStream reads the chunks to the very end: there is no mark of it, and what comes after the finish reason counts too.
func (m *model) readGeminiStream(body io.Reader, t *geminiTurn) error {
	var bad error
	err := events(body, func(data []byte) bool {
		var r geminiResponse
		if bad = json.Unmarshal(data, &r); bad == nil {
			bad = t.add(&r)
		}
		return bad == nil && !(m.config.broken.stopsAfterFinish && t.finish != "")
	})
	return errors.Join(bad, err)
}

// geminiResponse is a GenerateContentResponse, or a chunk of one.
type geminiResponse struct {
	Candidates []struct {
		Content struct {
			Parts []geminiSaid `json:"parts"`
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

// geminiSaid is a part of what the model said.
type geminiSaid struct {
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
	parts  []geminiSaid
	finish string
	model  string
	id     string
}

// add takes in a response or a chunk. Pieces of one text are put together; thoughts are the model's own.
func (t *geminiTurn) add(r *geminiResponse) error {
	switch {
	case r.Error != nil:
		return errors.New("the provider reported an error in the stream")
	case r.PromptFeedback.BlockReason != "":
		return errors.New("the provider blocked the prompt: " + r.PromptFeedback.BlockReason)
	}
	if r.ModelVersion != "" {
		t.model = r.ModelVersion
	}
	if r.ResponseID != "" {
		t.id = r.ResponseID
	}
	for _, c := range r.Candidates {
		for _, p := range c.Content.Parts {
			last := len(t.parts) - 1
			switch {
			case p.Thought:
			case p.FunctionCall == nil && last >= 0 && t.parts[last].FunctionCall == nil:
				t.parts[last].Text += p.Text
			case p.FunctionCall != nil || p.Text != "":
				t.parts = append(t.parts, p)
			}
		}
		if c.FinishReason != "" {
			t.finish = c.FinishReason
		}
	}
	return nil
}

// geminiResult writes the model's turn as a CreateMessageResult.
func (m *model) geminiResult(t *geminiTurn, params map[string]any) (map[string]any, error) {
	broken := &m.config.broken
	taken := map[string]bool{}
	eachMessage(params, func(message map[string]any) {
		for _, use := range ofType(message["content"], "tool_use") {
			taken[text(use, "id")] = true
		}
	})
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
			if input, err = object(call.Args); err != nil {
				return nil, &rpcError{codeInternal, "the model gave arguments that are no JSON object"}
			}
		}
		id := call.ID
		switch {
		case broken.idsFromNames:
			id = call.Name
		case id != "" || broken.mintsNoIDs:
		default:
			id = m.gemini.mint(t.id, calls, taken)
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

// geminiStopReason is the reason in the words of MCP, or the API's where it has none. An answer of which nothing is left is an error.
func geminiStopReason(finish string, calls, empty bool) (string, error) {
	switch {
	case finish == "MALFORMED_FUNCTION_CALL":
		return "", &rpcError{codeInternal, "the model made a tool call that cannot be read"}
	case finish == "MAX_TOKENS":
		return "maxTokens", nil
	case calls: // the API has no word for it
		return "toolUse", nil
	case finish == "STOP":
		return "endTurn", nil
	case empty:
		return "", &rpcError{codeInternal, "the model gave no answer"}
	}
	return finish, nil
}
