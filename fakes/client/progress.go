package client

import (
	"bytes"
	"encoding/json"
)

// progress reports on one sampling request that has a progress token (2025-11-25, basic/utilities/progress). Nil does
// nothing.
type progress struct {
	session *session
	token   json.RawMessage
	task    string // the id of the request's task; "" without one
	steps   int
}

// progressOf returns the progress of a request; nil if it has no token.
func (s *session) progressOf(params json.RawMessage) *progress {
	if !bytes.Contains(params, []byte(`"progressToken"`)) {
		return nil // without parsing long params
	}
	var asked struct {
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &asked) != nil || asked.Meta.ProgressToken == nil {
		return nil
	}
	return &progress{session: s, token: asked.Meta.ProgressToken}
}

// report sends that one more of two steps is done: the request is accepted, and the model has answered.
func (p *progress) report() error {
	if p == nil {
		return nil
	}
	p.steps++
	params := map[string]any{"progressToken": p.token, "progress": p.steps, "total": 2}
	if p.task != "" {
		params["_meta"] = related(p.task)
	}
	return p.session.send(request(nil, "notifications/progress", params))
}

// ping asks a server that follows the progress whether it is still there, before the model is asked.
func (p *progress) ping() error {
	if p == nil {
		return nil
	}
	_, err := p.session.request(p.session.client.ctx, "ping", map[string]any{})
	return err
}
