package mutants

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
)

var malformedEdits = edits{
	"defaults-max-tokens": mends(func(p object) {
		if _, there := p["maxTokens"]; !there {
			p["maxTokens"] = json.Number("1000")
		}
	}),
	"system-as-user": mends(eachMessage(func(m object) {
		if m["role"] == "system" {
			m["role"] = "user"
		}
	})),
	"wraps-text": mends(eachMessage(func(m object) {
		if s, is := m["content"].(string); is {
			m["content"] = textBlock(s)
		}
	})),
	"any-max-tokens": mends(func(p object) {
		if v, there := p["maxTokens"]; there {
			if _, is := v.(json.Number); !is {
				p["maxTokens"] = json.Number("1000")
			}
		}
	}),
	"asks-before-it-reads": asksAnyway(
		func(w *Wire, s *Sample) bool {
			_, there := s.Asked["maxTokens"]
			return s.Asked != nil && !there && w.Declares(s.Asked)
		}, set("maxTokens", json.Number("1000"))),
	"malformed-as-internal": answered(func(s *Sample) {
		if isMalformed(s) && s.Error != nil {
			s.Error["code"] = codeInternal
		}
	}),
	"drops-malformed": asked(func(s *Sample) {
		if isMalformed(s) {
			s.Withhold()
		}
	}),
	"dies-of-null": asked(func(s *Sample) {
		if firstMessageIs(s.Asked, func(message any) bool { return message == nil }) {
			s.Withhold()
			s.Wire.Die("a message that is null")
		}
	}),
	"hangs-at-null-content": asked(func(s *Sample) {
		if firstMessageIs(s.Asked, func(message any) bool {
			m, _ := message.(object)
			content, there := m["content"]
			return there && content == nil
		}) {
			s.Wire.Fire()
			<-s.Wire.Context.Done()
		}
	}),
	"deaf-after-malformed": deafAfter(func(asked object) bool {
		return firstMessageIs(asked, func(message any) bool {
			m, _ := message.(object)
			_, is := m["content"].(string)
			return is
		})
	}),
	"takes-any-schema": just(Edit{Options: func(w *Wire, o *client.Options, _ *model.Options) {
		o.Validate = func(p object) error {
			lenient := copyOf(p)
			eachTool(func(tool object) {
				if member(tool, "inputSchema")["type"] == "object" {
					tool["inputSchema"] = object{"type": "object"}
				}
			})(lenient)
			err := w.validate(lenient)
			if err == nil && w.validate(p) != nil {
				w.Fire()
			}
			return err
		}
	}}),
	"raises-max-tokens": mends(func(p object) {
		if n, is := p["maxTokens"].(json.Number); is {
			if f, err := n.Float64(); err == nil && f < 1 {
				p["maxTokens"] = json.Number("16")
			}
		}
	}),
}

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
	return s.Asked != nil && s.Wire.validate(s.Asked) != nil && s.Wire.rule(s.Asked) == ""
}

func firstMessageIs(params object, is func(message any) bool) bool {
	messages, _ := params["messages"].([]any)
	return len(messages) > 0 && is(messages[0])
}
