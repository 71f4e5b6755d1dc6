package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// generate asks Gemini's generateContent, or its stream.
func (m *Model) generate(params map[string]any) (*exchange, error) {
	name := modelName(params, cmp.Or(m.options.Model, "gemini-2.5-flash"), "gemini-2.0-flash", "gemini-2.5-pro")
	path, read := "/v1beta/models/"+url.PathEscape(name), readGeminiStream
	if m.options.Plain {
		path, read = path+":generateContent", readGemini
	} else {
		path += ":streamGenerateContent?alt=sse"
	}
	body, err := m.geminiBody(params, name)
	header := http.Header{"X-Goog-Api-Key": {m.options.Key}}
	return &exchange{path, header, body, func(answer io.Reader) (*turn, error) {
		a, err := read(answer)
		if err != nil {
			return nil, err
		}
		return m.geminiTurn(a, params)
	}}, err
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

// geminiAnswer is the part of an answer that was read.
type geminiAnswer struct {
	parts  []geminiAnswerPart
	finish string
	model  string
}

func readGemini(answer io.Reader) (*geminiAnswer, error) {
	r, err := decode[geminiResponse](answer)
	if err != nil {
		return nil, err
	}
	a := &geminiAnswer{}
	_, err = a.add(r)
	return a, whole(a.finish != "", err)
}

// readGeminiStream reads chunks to the end of the stream: chunks after the finish reason count.
func readGeminiStream(answer io.Reader) (*geminiAnswer, error) {
	a := &geminiAnswer{}
	_, err := readEvents(answer, a.add)
	return a, whole(a.finish != "", err)
}

// add adds a response or a chunk. No chunk says that it is the last.
func (a *geminiAnswer) add(r *geminiResponse) (complete bool, err error) {
	switch {
	case r.Error != nil:
		return false, errInStream
	case r.PromptFeedback.BlockReason != "":
		return false, errors.New("the provider blocked the prompt: " + r.PromptFeedback.BlockReason)
	}
	a.model = cmp.Or(r.ModelVersion, a.model)
	for _, c := range r.Candidates {
		a.parts = append(a.parts, c.Content.Parts...)
		a.finish = cmp.Or(c.FinishReason, a.finish)
	}
	return false, nil
}

// geminiTurn returns the model's turn, and keeps the signatures of its calls. An empty answer is an error, unless it is
// the end of a turn.
func (m *Model) geminiTurn(a *geminiAnswer, params map[string]any) (*turn, error) {
	if a.finish == "MALFORMED_FUNCTION_CALL" {
		return nil, refusal("the model made a tool call that cannot be read")
	}
	taken := map[string]bool{}
	for _, message := range jsonvalue.Messages(params) {
		for _, use := range jsonvalue.OfType(message["content"], "tool_use") {
			taken[jsonvalue.TextIn(use, "id")] = true
		}
	}
	t := &turn{model: a.model, finish: a.finish}
	for _, p := range a.parts {
		switch call := p.FunctionCall; {
		case p.Thought:
		case call == nil:
			t.say(p.Text)
		default:
			id := call.ID
			if id == "" {
				id = m.gemini.newID(taken)
			}
			m.gemini.keep(id, p.ThoughtSignature)
			t.use(id, call.Name, call.Args)
		}
	}
	if t.blocks == nil && stopReasons[a.finish] == "" {
		return nil, refusal("the model gave no answer")
	}
	return t, nil
}
