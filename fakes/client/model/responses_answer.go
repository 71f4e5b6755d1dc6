package model

import (
	"cmp"
	"errors"
	"io"
	"strings"
)

func (m *Model) responses(params map[string]any) (*exchange, error) {
	read := readResponseStream
	if m.options.Plain {
		read = readResponse
	}
	body, err := m.responsesBody(params)
	return &exchange{"/responses", m.bearer(), body, read}, err
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
	r, err := decode[response](answer)
	if err != nil {
		return nil, err
	}
	return r.turn()
}

// readResponseStream reads events up to the one that ends the response. An item is complete in the event that says that
// it is done.
func readResponseStream(answer io.Reader) (*turn, error) {
	type event struct {
		Type     string     `json:"type"`
		Item     outputItem `json:"item"`
		Response response   `json:"response"`
	}
	var r response
	var items []outputItem
	err := whole(readEvents(answer, func(e *event) (complete bool, err error) {
		switch kind := strings.TrimPrefix(e.Type, "response."); {
		case kind == "error":
			return false, errInStream
		case kind == "output_item.done":
			items = append(items, e.Item)
		case kind == e.Response.Status && kind != "in_progress":
			r = e.Response
			return true, nil
		}
		return false, nil
	}))
	if err != nil {
		return nil, err
	}
	r.Output = items
	return r.turn()
}

// turn reads the items of the output. Items that are neither messages nor calls are the provider's own.
func (r *response) turn() (*turn, error) {
	if r.Status == "failed" {
		return nil, errors.New("the provider failed to answer")
	}
	t := &turn{model: r.Model, finish: cmp.Or(r.Incomplete.Reason, r.Status)}
	for _, it := range r.Output {
		switch it.Type {
		case "function_call":
			t.use(it.CallID, it.Name, []byte(it.Arguments))
		case "message":
			for _, part := range it.Content {
				t.say(part.Text + part.Refusal)
				if part.Type == "refusal" {
					t.finish = part.Type
				}
			}
		}
	}
	return t, nil
}
