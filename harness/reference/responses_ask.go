package reference

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// askResponses asks for a response.
func (m *model) askResponses(ctx context.Context, params map[string]any) (map[string]any, error) {
	body, err := responsesBody(params, !m.config.Plain)
	if err != nil {
		return nil, err
	}
	answer, err := m.post(ctx, dialect.OpenAIResponses, "/responses", m.bearer(), body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var t *turn
	if m.config.Plain {
		var r response
		if err := json.NewDecoder(answer).Decode(&r); err != nil {
			return nil, err
		}
		t, err = r.turn(r.Output)
	} else {
		t, err = m.readEvents(answer)
	}
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}

// readEvents reads the events to the one that ends the response: each item is whole in the event that says that it is done, whatever pieces
// it came in. A stream without an end was cut short and is no answer.
func (m *model) readEvents(body io.Reader) (*turn, error) {
	var items []outputItem
	var end *response
	var bad error
	err := events(body, func(data []byte) bool {
		var e struct {
			Type     string     `json:"type"`
			Item     outputItem `json:"item"`
			Response response   `json:"response"`
		}
		if bad = json.Unmarshal(data, &e); bad != nil {
			return false
		}
		switch kind := strings.TrimPrefix(e.Type, "response."); {
		case kind == "error":
			bad = errors.New("the provider reported an error in the stream")
			return false
		case kind == "output_item.done":
			if m.config.broken.keepsLastStreamed {
				items = slices.DeleteFunc(items, func(it outputItem) bool { return it.Type == "function_call" })
			}
			items = append(items, e.Item)
		case kind == e.Response.Status && kind != "in_progress":
			end = &e.Response
			return false
		}
		return true
	})
	switch {
	case bad != nil:
		return nil, bad
	case err != nil:
		return nil, err
	case end == nil:
		return nil, errors.New("the stream ended before it was whole")
	}
	return end.turn(items)
}
