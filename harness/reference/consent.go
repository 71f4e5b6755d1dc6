package reference

import (
	"context"
	"errors"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness"
)

// codeDeclined is the error for what the person declined (2025-11-25, client/sampling#error-handling).
const codeDeclined = -1

// Refusals of the person.
var (
	errDeclined      = &rpcError{codeDeclined, "the person declined the request"}
	errDeclinedAfter = &rpcError{codeDeclined, "the person declined the answer"}
)

// isDeclined reports whether it was the person who refused.
func isDeclined(err error) bool {
	return errors.Is(err, errDeclined) || errors.Is(err, errDeclinedAfter)
}

// consentFaults are ways in which the client fails the person. The zero value asks the person before the model is asked, and again before the
// server gets the answer.
type consentFaults struct {
	overrules        bool // asks nobody before the model is asked
	asksAhead        bool // asks the model while the person still decides
	code             int  // the error is this one; 0 for the right one
	makesUp          bool // answers in the model's place
	retriesWithout   bool // sends the call again without the input (second era)
	answersWithError bool // puts the error where the input belongs (second era)
	delivers         bool // gives the answer to the server before the person has seen it
	tells            bool // says in the error what the person kept back
	dies             bool
}

// decide asks the person whether the request may go to the model. Decided is false where it may.
func (m *model) decide(ctx context.Context, params map[string]any) (result map[string]any, refused *rpcError, decided bool) {
	broken := &m.config.broken.consent
	if m.env.Decision != harness.Decline || broken.overrules {
		return nil, nil, false
	}
	if broken.asksAhead {
		_, _ = m.ask(ctx, params) // what it says is of no use to anybody
	}
	switch {
	case broken.makesUp:
		return map[string]any{"role": "assistant", "content": map[string]any{"type": "text", "text": "The user declined this request."},
			"model": "none", "stopReason": "endTurn"}, nil, true
	case broken.code != 0:
		return nil, &rpcError{broken.code, "broken on purpose: another code"}, true
	}
	return nil, errDeclined, true
}

// review asks the person whether the server may have the answer.
func (m *model) review(result map[string]any) *rpcError {
	broken := &m.config.broken.consent
	switch {
	case m.env.Decision != harness.DeclineAnswer || broken.delivers:
		return nil
	case broken.tells:
		var said strings.Builder
		for _, b := range ofType(result["content"], "text") {
			said.WriteString(text(b, "text"))
		}
		return &rpcError{codeDeclined, "the person declined this answer: " + said.String()}
	}
	return errDeclinedAfter
}

// diesOf reports whether the client ends itself over a refusal.
func (f *faults) diesOf(err error) bool {
	return f.diesWhenItRefuses && isUndeclared(err) || f.consent.dies && isDeclined(err)
}
