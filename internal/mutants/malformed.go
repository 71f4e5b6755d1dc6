package mutants

import (
	"encoding/json"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
)

var malformedMutants = []Mutant{
	{Name: "defaults-max-tokens", Wire: true, Doc: "uses a default if maxTokens is missing",
		Kills: []string{"malformed/error-due"}, Also: []string{"malformed/no-model-call"},
		edit: mends(func(p map[string]any) {
			if _, there := p["maxTokens"]; !there {
				p["maxTokens"] = json.Number("1000")
			}
		})},
	{Name: "system-as-user", Wire: true, Doc: "treats messages with the role system as the user's",
		Kills: []string{"malformed/error-due"}, Also: []string{"malformed/no-model-call"},
		edit: mends(eachMessage(func(m map[string]any) {
			if m["role"] == "system" {
				m["role"] = "user"
			}
		}))},
	{Name: "wraps-text", Wire: true, Doc: "accepts a string as content", Kills: []string{"malformed/error-due"},
		Also: []string{"malformed/no-model-call"}, edit: mends(eachMessage(func(m map[string]any) {
			if s, is := m["content"].(string); is {
				m["content"] = textBlock(s)
			}
		}))},
	{Name: "any-max-tokens", Wire: true, Doc: "uses a default if maxTokens is not a number",
		Kills: []string{"malformed/wrong-types"}, Also: []string{"malformed/no-model-call"},
		edit: mends(func(p map[string]any) {
			if v, there := p["maxTokens"]; there {
				if _, is := v.(json.Number); !is {
					p["maxTokens"] = json.Number("1000")
				}
			}
		})},
	{Name: "asks-before-it-reads", Wire: true, Doc: "asks the model before it finds that maxTokens is missing",
		Kills: []string{"malformed/no-model-call"}, edit: asksAnyway(
			func(w *Wire, s *Sample) bool {
				_, there := s.Asked["maxTokens"]
				return s.Asked != nil && !there && w.Declares(s.Asked)
			}, func(p map[string]any) { p["maxTokens"] = json.Number("1000") })},
	{Name: "malformed-as-internal", Wire: true, Doc: "refuses a malformed request with an internal error",
		Kills: []string{"malformed/error-code"}, Era: "legacy", edit: answered(func(s *Sample) {
			if isMalformed(s) && s.Error != nil {
				s.Error["code"] = codeInternal
			}
		})},
	{Name: "drops-malformed", Wire: true, Doc: "never responds to a malformed request",
		Kills: []string{"malformed/answered"}, Era: "legacy", edit: asked(func(s *Sample) {
			if isMalformed(s) {
				s.Withhold()
			}
		})},
	{Name: "dies-of-null", Wire: true, Doc: "crashes at a message that is null", Kills: []string{"malformed/survives"},
		Also: []string{"client/ends-cleanly"}, edit: func(w *Wire) Edit {
			return Edit{Asked: func(s *Sample) {
				if firstMessageIs(s.Asked, func(message any) bool { return message == nil }) {
					s.Withhold()
					w.Die("a message that is null")
				}
			}}
		}},
	{Name: "hangs-at-null-content", Wire: true, Doc: "hangs at content that is null", Kills: []string{"malformed/survives"},
		Also: []string{"client/ends-cleanly"}, Hangs: true, edit: func(w *Wire) Edit {
			return Edit{Asked: func(s *Sample) {
				if firstMessageIs(s.Asked, func(message any) bool {
					m, _ := message.(map[string]any)
					content, there := m["content"]
					return there && content == nil
				}) {
					w.Fire()
					<-w.Context.Done()
				}
			}}
		}},
	{Name: "deaf-after-malformed", Wire: true, Doc: "refuses every request after one whose content is a string",
		Kills: []string{"malformed/alive"}, edit: func(*Wire) Edit {
			var mu sync.Mutex
			deaf := false
			return Edit{Asked: func(s *Sample) {
				mu.Lock()
				defer mu.Unlock()
				if deaf {
					s.Refuse(codeInternal, "broken on purpose: answers nothing more")
				}
				deaf = deaf || firstMessageIs(s.Asked, func(message any) bool {
					m, _ := message.(map[string]any)
					_, is := m["content"].(string)
					return is
				})
			}}
		}},
	{Name: "takes-any-schema", Doc: "passes tools with an invalid input schema to the model",
		Kills: []string{"malformed/bad-schema"}, Dialects: nativeOnly, edit: func(w *Wire) Edit {
			return Edit{Options: func(o *client.Options, _ *model.Options) {
				o.Validate = func(p map[string]any) error {
					lenient := copyOf(p)
					eachTool(func(tool map[string]any) {
						if member(tool, "inputSchema")["type"] == "object" {
							tool["inputSchema"] = map[string]any{"type": "object"}
						}
					})(lenient)
					err := client.Validate(lenient)
					if err == nil && client.Validate(p) != nil {
						w.Fire()
					}
					return err
				}
			}}
		}},
	{Name: "raises-max-tokens", Wire: true, Doc: "raises an invalid maxTokens to the provider's minimum",
		Kills: []string{"malformed/tolerated"}, edit: mends(func(p map[string]any) {
			if n, is := p["maxTokens"].(json.Number); is {
				if f, err := n.Float64(); err == nil && f < 1 {
					p["maxTokens"] = json.Number("16")
				}
			}
		})},
}

// mends edits the params of every request, before the client checks them.
func mends(f func(params map[string]any)) func(*Wire) Edit {
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
func firstMessageIs(params map[string]any, is func(message any) bool) bool {
	messages, _ := params["messages"].([]any)
	return len(messages) > 0 && is(messages[0])
}
