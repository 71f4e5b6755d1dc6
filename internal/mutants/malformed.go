package mutants

import (
	"encoding/json"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var malformedMutants = chapter("malformed",
	m("defaults-max-tokens", "uses a default if maxTokens is missing", "error-due | no-model-call",
		mends(func(p object) {
			if _, there := p["maxTokens"]; !there {
				p["maxTokens"] = json.Number("1000")
			}
		}), wire),
	m("system-as-user", "treats messages with the role system as the user's", "error-due | no-model-call",
		mends(eachMessage(func(m object) {
			if m["role"] == "system" {
				m["role"] = "user"
			}
		})), wire),
	m("wraps-text", "accepts a string as content", "error-due | no-model-call",
		mends(eachMessage(func(m object) {
			if s, is := m["content"].(string); is {
				m["content"] = textBlock(s)
			}
		})), wire),
	m("any-max-tokens", "uses a default if maxTokens is not a number", "wrong-types | no-model-call",
		mends(func(p object) {
			if v, there := p["maxTokens"]; there {
				if _, is := v.(json.Number); !is {
					p["maxTokens"] = json.Number("1000")
				}
			}
		}), wire),
	m("asks-before-it-reads", "asks the model before it finds that maxTokens is missing", "no-model-call", asksAnyway(
		func(w *Wire, s *Sample) bool {
			_, there := s.Asked["maxTokens"]
			return s.Asked != nil && !there && w.Declares(s.Asked)
		}, set("maxTokens", json.Number("1000"))), wire),
	m("malformed-as-internal", "refuses a malformed request with an internal error", "error-code",
		answered(func(s *Sample) {
			if isMalformed(s) && s.Error != nil {
				s.Error["code"] = codeInternal
			}
		}), wire, legacy),
	m("drops-malformed", "never responds to a malformed request", "answered", asked(func(s *Sample) {
		if isMalformed(s) {
			s.Withhold()
		}
	}), wire, legacy),
	m("dies-of-null", "crashes at a message that is null", "survives | client/ends-cleanly", asked(func(s *Sample) {
		if firstMessageIs(s.Asked, func(message any) bool { return message == nil }) {
			s.Withhold()
			s.Wire.Die("a message that is null")
		}
	}), wire),
	m("hangs-at-null-content", "hangs at content that is null", "survives | client/ends-cleanly", asked(func(s *Sample) {
		if firstMessageIs(s.Asked, func(message any) bool {
			m, _ := message.(object)
			content, there := m["content"]
			return there && content == nil
		}) {
			s.Wire.Fire()
			<-s.Wire.Context.Done()
		}
	}), wire, hangs),
	m("deaf-after-malformed", "refuses every request after one whose content is a string", "alive", func(*Wire) Edit {
		var mu sync.Mutex
		deaf := false
		return Edit{Asked: func(s *Sample) {
			mu.Lock()
			defer mu.Unlock()
			if deaf {
				s.Refuse(codeInternal, "broken on purpose: answers nothing more")
			}
			deaf = deaf || firstMessageIs(s.Asked, func(message any) bool {
				m, _ := message.(object)
				_, is := m["content"].(string)
				return is
			})
		}}
	}, wire),
	m("takes-any-schema", "passes tools with an invalid input schema to the model", "bad-schema", just(Edit{Options: func(w *Wire, o *client.Options, _ *model.Options) {
		o.Validate = func(p object) error {
			lenient := copyOf(p)
			eachTool(func(tool object) {
				if member(tool, "inputSchema")["type"] == "object" {
					tool["inputSchema"] = object{"type": "object"}
				}
			})(lenient)
			err := client.Validate(lenient)
			if err == nil && client.Validate(p) != nil {
				w.Fire()
			}
			return err
		}
	}}), only(dialect.Native)),
	m("raises-max-tokens", "raises an invalid maxTokens to the provider's minimum", "tolerated",
		mends(func(p object) {
			if n, is := p["maxTokens"].(json.Number); is {
				if f, err := n.Float64(); err == nil && f < 1 {
					p["maxTokens"] = json.Number("16")
				}
			}
		}), wire),
)

// mends edits the params of every request, before the client checks them.
func mends(f func(params object)) func(*Wire) Edit {
	return asked(func(s *Sample) {
		if s.Params != nil {
			f(s.Params)
		}
	})
}

// isMalformed reports whether a request is invalid for another reason than its history.
func isMalformed(s *Sample) bool {
	return s.Asked != nil && client.Validate(s.Asked) != nil && rule(s.Asked) == ""
}

// firstMessageIs reports whether the first message meets a condition.
func firstMessageIs(params object, is func(message any) bool) bool {
	messages, _ := params["messages"].([]any)
	return len(messages) > 0 && is(messages[0])
}
