package reference

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// errDies is why a client that is broken so ends itself.
var errDies = errors.New("the client ends itself")

// turnOf is the model's turn that a request is for, counted from 1.
func turnOf(params map[string]any) int {
	turn := 1
	eachMessage(params, func(m map[string]any) {
		if m["role"] == "assistant" {
			turn++
		}
	})
	return turn
}

// rounds is how many answers of the model a request's history holds.
func rounds(raw json.RawMessage) int {
	params, _ := object(raw) // what cannot be read holds none
	return turnOf(params) - 1
}

// over reports whether a loop has gone on for longer than a limit; never where there is none.
func over(raw json.RawMessage, limit int) bool { return limit > 0 && rounds(raw) >= limit }

// leavesOpen reports whether the client leaves a request of the first era without an answer.
func (f *faults) leavesOpen(params json.RawMessage) bool {
	return over(params, f.hangsAfter) || f.ignoresImbalance && unbalanced(params)
}

// dies returns why the client ends itself over a request; nil where it does not.
func (f *faults) dies(params json.RawMessage) error {
	if over(params, f.diesAfter) {
		return errDies
	}
	return nil
}

// forgets counts the requests of a call that begin a conversation, and reports whether this is one too many of them.
func (f *faults) forgets(params json.RawMessage, first *int) bool {
	if f.forgetsOver == 0 || rounds(params) > 0 {
		return false
	}
	*first++
	return *first > f.forgetsOver
}

// remembered asks the model, by way of what a client that shares too much has from other requests.
func (m *model) remembered(ctx context.Context, params map[string]any) (map[string]any, error) {
	broken := &m.config.broken
	if broken.sharesFirst {
		m.shareFirst(params)
	}
	if !broken.ignoresDigits {
		return m.askAgain(ctx, params)
	}
	m.turn <- struct{}{} // one after the other, or none would find what another left; virtual time goes on meanwhile, as with a mutex it would not
	defer func() { <-m.turn }()
	key := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, string(marshal(params)))
	if known := m.cache[key]; known != nil {
		return object(marshal(known))
	}
	result, err := m.askAgain(ctx, params)
	if err == nil {
		if m.cache == nil {
			m.cache = map[string]map[string]any{}
		}
		m.cache[key], err = object(marshal(result))
	}
	return result, err
}

// shareFirst takes note of how a conversation with tools begins, and makes every one that goes on begin so.
func (m *model) shareFirst(params map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	messages, _ := params["messages"].([]any)
	switch {
	case params["tools"] == nil:
	case len(messages) == 1:
		m.latest = messages[0]
	case m.latest != nil:
		messages[0] = m.latest
	}
}
