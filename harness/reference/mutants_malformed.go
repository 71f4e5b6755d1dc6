package reference

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// wrongness is how the client is broken where a request is not well-formed.
type wrongness struct {
	// What it does to the params before it holds them against the schema.
	mends func(params map[string]any)
	// The requests at which it dies or hangs, and those after which it answers no more.
	diesAt, hangsAt, deafAfter func(params map[string]any) bool

	code           int  // of the error, in place of -32602
	answersNot     bool // in the first era
	asksFirst      bool // the model, where all that is missing is the limit
	takesAnySchema bool
}

// errDeadly is what the client dies of.
var errDeadly = &rpcError{codeInternal, "broken on purpose: dies of this"}

// errUnanswered is what the client does not answer with.
var errUnanswered = &rpcError{codeInternal, "broken on purpose: does not answer this"}

// suffer does to the client what a request does that is not well-formed; nil where it does nothing.
func (m *model) suffer(ctx context.Context, params map[string]any) *rpcError {
	broken := &m.config.broken
	at := func(when func(map[string]any) bool) bool { return when != nil && when(params) }
	m.mu.Lock()
	deaf := m.deaf
	m.deaf = m.deaf || at(broken.deafAfter)
	m.mu.Unlock()
	switch {
	case at(broken.diesAt):
		return errDeadly
	case at(broken.hangsAt):
		<-ctx.Done()
		return errDeadly
	case deaf:
		return &rpcError{codeInternal, "broken on purpose: answers no more"}
	}
	edit(broken.mends, params)
	return nil
}

// refuse is the answer to what is not well-formed.
func (m *model) refuse(ctx context.Context, params map[string]any, why error) *rpcError {
	broken := &m.config.broken
	refused := &rpcError{codeInvalidParams, why.Error()}
	if broken.code != 0 {
		refused.Code = broken.code
	}
	if broken.answersNot {
		refused = errUnanswered
	}
	if _, there := params["maxTokens"]; broken.asksFirst && !there {
		params = maps.Clone(params)
		params["maxTokens"] = json.Number("1000")
		_, _ = m.ask(ctx, params) // what it says is of no use to anybody
	}
	return refused
}

// firstMessageIs reports whether the first message fits.
func firstMessageIs(fits func(message any) bool) func(map[string]any) bool {
	return func(p map[string]any) bool {
		messages, _ := p["messages"].([]any)
		return len(messages) > 0 && fits(messages[0])
	}
}

func isNull(message any) bool { return message == nil }

func hasNullContent(message any) bool {
	m, _ := message.(map[string]any)
	content, there := m["content"]
	return there && content == nil
}

func hasTextForContent(message any) bool {
	m, _ := message.(map[string]any)
	_, is := m["content"].(string)
	return is
}

var malformedMutants = []Mutant{
	{Name: "defaults-max-tokens", Wire: true, Doc: "takes a default for maxTokens where it is missing", Kills: []string{"malformed/error-due"},
		Also: []string{"malformed/no-model-call"}, broken: faults{wrongness: wrongness{mends: func(p map[string]any) {
			if _, there := p["maxTokens"]; !there {
				p["maxTokens"] = json.Number("1000")
			}
		}}}},
	{Name: "system-as-user", Wire: true, Doc: "takes messages of the system for the user's", Kills: []string{"malformed/error-due"}, Also: []string{"malformed/no-model-call"},
		broken: faults{wrongness: wrongness{mends: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				if m["role"] == "system" {
					m["role"] = "user"
				}
			})
		}}}},
	{Name: "wraps-text", Wire: true, Doc: "makes a block of content that is a string", Kills: []string{"malformed/error-due"}, Also: []string{"malformed/no-model-call"},
		broken: faults{wrongness: wrongness{mends: func(p map[string]any) {
			eachMessage(p, func(m map[string]any) {
				if s, is := m["content"].(string); is {
					m["content"] = map[string]any{"type": "text", "text": s}
				}
			})
		}}}},
	{Name: "any-max-tokens", Wire: true, Doc: "takes a default for a maxTokens that is no number", Kills: []string{"malformed/wrong-types"}, Also: []string{"malformed/no-model-call"},
		broken: faults{wrongness: wrongness{mends: func(p map[string]any) {
			if v, there := p["maxTokens"]; there {
				if _, is := v.(json.Number); !is {
					p["maxTokens"] = json.Number("1000")
				}
			}
		}}}},
	{Name: "asks-before-it-reads", Wire: true, Doc: "asks the model, and then finds that the request has no limit", Kills: []string{"malformed/no-model-call"},
		broken: faults{wrongness: wrongness{asksFirst: true}}},
	{Name: "malformed-as-internal", Wire: true, Doc: "calls a request that is not well-formed an internal error", Kills: []string{"malformed/error-code"}, Era: "legacy",
		broken: faults{wrongness: wrongness{code: codeInternal}}},
	{Name: "drops-malformed", Wire: true, Doc: "never answers a request that it cannot read, so that the server waits for ever", Kills: []string{"malformed/answered"}, Era: "legacy",
		broken: faults{wrongness: wrongness{answersNot: true}}},
	{Name: "dies-of-null", Wire: true, Doc: "dies of a message that is null, as clients do that look into it unasked", Kills: []string{"malformed/survives"},
		Also: []string{"client/ends-cleanly"}, broken: faults{wrongness: wrongness{diesAt: firstMessageIs(isNull)}}},
	{Name: "hangs-at-null-content", Wire: true, Doc: "never comes back from content that is null", Kills: []string{"malformed/survives"},
		Also: []string{"client/ends-cleanly"}, Hangs: true, broken: faults{wrongness: wrongness{hangsAt: firstMessageIs(hasNullContent)}}},
	{Name: "deaf-after-malformed", Wire: true, Doc: "answers no more once it was sent content that is a string", Kills: []string{"malformed/alive"},
		broken: faults{wrongness: wrongness{deafAfter: firstMessageIs(hasTextForContent)}}},
	{Name: "takes-any-schema", Doc: "hands tools on whose input schema is none", Kills: []string{"malformed/bad-schema"}, Dialects: []string{dialect.Native},
		broken: faults{wrongness: wrongness{takesAnySchema: true}}},
	{Name: "raises-max-tokens", Wire: true, Doc: "raises a limit that makes no sense to the least that its provider takes", Kills: []string{"malformed/tolerated"},
		broken: faults{wrongness: wrongness{mends: func(p map[string]any) {
			if n, is := p["maxTokens"].(json.Number); is {
				if f, err := n.Float64(); err == nil && f < 1 {
					p["maxTokens"] = json.Number("16")
				}
			}
		}}}},
}
