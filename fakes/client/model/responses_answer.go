package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// askResponses asks OpenAI's responses.
func (m *Model) askResponses(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := responsesBody(params, !m.options.Plain)
	if err != nil {
		return nil, err
	}
	answer, err := m.post(ctx, "/responses", m.bearer(), body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	read := readResponseStream
	if m.options.Plain {
		read = readResponse
	}
	t, err := read(answer)
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

// response is a whole response, or what an event says of one.
type response struct {
	Status     string `json:"status"`
	Model      string `json:"model"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []outputItem `json:"output"`
}

type outputItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

func readResponse(answer io.Reader) (*turn, error) {
	var r response
	if err := decode(answer, &r); err != nil {
		return nil, err
	}
	return r.turn(r.Output)
}

// readResponseStream reads events up to the one that ends the response. An item is complete in the event that says that
// it is done.
func readResponseStream(answer io.Reader) (*turn, error) {
	var items []outputItem
	var end *response
	var invalid error
	err := sse.Events(answer, func(data []byte) bool {
		var e struct {
			Type     string     `json:"type"`
			Item     outputItem `json:"item"`
			Response response   `json:"response"`
		}
		if invalid = json.Unmarshal(data, &e); invalid != nil {
			return false
		}
		switch kind := strings.TrimPrefix(e.Type, "response."); {
		case kind == "error":
			invalid = errInStream
			return false
		case kind == "output_item.done":
			items = append(items, e.Item)
		case kind == e.Response.Status && kind != "in_progress":
			end = &e.Response
			return false
		}
		return true
	})
	switch {
	case invalid != nil:
		return nil, invalid
	case err != nil:
		return nil, err
	case end == nil:
		return nil, errCutShort
	}
	return end.turn(items)
}

// turn reads the items of an output. Items that are neither messages nor calls are the provider's own.
func (r *response) turn(items []outputItem) (*turn, error) {
	if r.Status == "failed" {
		return nil, errors.New("the provider failed to answer")
	}
	t := &turn{model: r.Model, finish: r.finish()}
	for _, it := range items {
		switch it.Type {
		case "function_call":
			t.calls = append(t.calls, call{it.CallID, it.Name, it.Arguments})
		case "message":
			for _, part := range it.Content {
				t.text += part.Text + part.Refusal
				if part.Type == "refusal" {
					t.finish = "refusal"
				}
			}
		}
	}
	return t, nil
}

// finish returns the reason of the end in the words of chat completions, if they have one.
func (r *response) finish() string {
	switch {
	case r.Status == "completed":
		return "stop"
	case r.Incomplete.Reason == "max_output_tokens":
		return "length"
	case r.Incomplete.Reason != "":
		return r.Incomplete.Reason
	}
	return r.Status
}
