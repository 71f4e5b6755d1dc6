package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// progress reports on one sampling request, where the server asked for it with a token (2025-11-25, basic/utilities/progress). Nil does not.
type progress struct {
	wire  *legacy
	token any
	said  int
	task  string // that the request was taken as; "" for none
}

// progressOf reads the token of a request, as it was written.
func (l *legacy) progressOf(params json.RawMessage) *progress {
	if !bytes.Contains(params, []byte(`"progressToken"`)) {
		return nil // and what is long is not read for it
	}
	var asked map[string]json.RawMessage
	_ = json.Unmarshal(params, &asked) // what cannot be read has none
	meta, _ := object(asked["_meta"])
	token := meta["progressToken"]
	if token == nil {
		return nil
	}
	if l.model.config.broken.tokenAsText {
		token = fmt.Sprint(token)
	}
	return &progress{wire: l, token: token}
}

// report says that one more of the two steps is done: the request was taken up, and the model has answered.
func (p *progress) report(ctx context.Context) error {
	if p == nil {
		return nil
	}
	if p.said++; p.wire.model.config.broken.progressStands {
		p.said = 1
	}
	params := map[string]any{"progressToken": p.token, "progress": p.said, "total": 2}
	if p.task != "" {
		params["_meta"] = related(p.task)
	}
	return p.wire.send(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

// looksAfter asks the server, while the model is being asked, whether it is still there: one that wants to hear of progress may wait for long.
func (p *progress) looksAfter(ctx context.Context) error {
	if p == nil {
		return nil
	}
	_, err := p.wire.request(ctx, "ping", map[string]any{})
	return err
}

// token is the progress token of a request of the client's: its id, which is its own.
func (m *model) token(id int64) any {
	switch broken := &m.config.broken; {
	case broken.oneToken:
		return "progress"
	case broken.fractionalToken:
		return float64(id) + 0.5
	}
	return id
}

// goesOn reports on a request that was answered long ago: broken on purpose.
func (l *legacy) goesOn(ctx context.Context, p *progress) error {
	if p != nil {
		l.reported.CompareAndSwap(nil, p)
		return nil
	}
	return l.reported.Load().report(ctx)
}
