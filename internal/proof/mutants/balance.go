package mutants

import (
	"errors"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

var balanceEdits = edits{
	"accepts-missing-result":      accepts("missing-result"),
	"accepts-no-result":           accepts("no-result"),
	"accepts-late-result":         accepts("late-result"),
	"accepts-trailing-use":        accepts("trailing-use"),
	"accepts-mixed-content":       accepts("mixed-content"),
	"accepts-orphan-result":       accepts("orphan-result"),
	"accepts-duplicate-use-id":    accepts("duplicate-use-id"),
	"accepts-duplicate-result":    accepts("duplicate-result"),
	"accepts-use-in-user":         accepts("use-in-user"),
	"accepts-result-in-assistant": accepts("result-in-assistant"),
	"hands-on-histories":          overlooks(func(string, object) bool { return true }),
	"counts-results": overlooks(func(rule string, params object) bool {
		uses := func(m object) bool { return ids(m, "tool_use", "id") != nil }
		return rule == "orphan-result" && slices.ContainsFunc(jsonvalue.Messages(params), uses)
	}),
	"imbalance-is-internal": answered(func(s *Sample) {
		if s.Wire.rule(s.Asked) != "" && s.Error["code"] != nil {
			s.Error["code"] = codeInternal
		}
	}),
	"invents-results": repairs(inventResults),
	"drops-orphans":   repairs(dropOrphans),
	"drops-misplaced": repairs(dropMisplaced),
	"drops-uses-of-the-user": func(w *Wire) Edit {
		edit := repairs(dropUsesOfUser)(w)
		edit.Options = accepts("orphan-result")(w).Options
		return edit
	},
	"asks-before-it-validates": asksAnyway(
		func(w *Wire, s *Sample) bool { return w.Declares(s.Asked) && w.rule(s.Asked) != "" },
		set("messages", []any{object{"role": "user", "content": textBlock("?")}})),
	"dies-of-imbalance": diesOf(func(w *Wire, s *Sample) bool { return w.rule(s.Asked) != "" }),
	"ignores-imbalance": withholds(func(s *Sample) bool { return s.Wire.rule(s.Asked) != "" }),
}

// accepts is a client that does not know one rule of histories. Providers know most of them themselves, so that the bug
// shows where the model does not.
func accepts(name string) func(*Wire) Edit {
	return overlooks(func(rule string, _ object) bool { return rule == name })
}

// overlooks is a client whose check of requests lacks some rules.
func overlooks(unknown func(rule string, params object) bool) func(*Wire) Edit {
	return just(Edit{Options: func(w *Wire, o *client.Options, _ *model.Options) {
		o.Validate = func(params object) error {
			err := w.validate(params)
			if broken := w.rule(params); broken != "" && unknown(broken, params) {
				w.Fire()
				return nil
			}
			return err
		}
	}})
}

// rule is the rule of tool uses and results that a request breaks; "" if it breaks none, or is malformed.
func (w *Wire) rule(params object) string {
	var fault *validity.Fault
	if params == nil || !errors.As(w.validate(params), &fault) || !fault.Kind.OfHistory() {
		return ""
	}
	return string(fault.Kind)
}

// repairs edits requests that are well-formed, whether their history is valid or not.
func repairs(repair func(params object)) func(*Wire) Edit {
	return asked(func(s *Sample) {
		if s.Wire.Declares(s.Params) && s.Wire.rule(s.Params) != "" {
			repair(s.Params)
		}
	})
}

// asksAnyway asks the model before the client refuses a request: the client gets one that it may serve, and its answer
// becomes the error that is due.
func asksAnyway(which func(w *Wire, s *Sample) bool, harmless func(params object)) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{
			Asked: func(s *Sample) {
				if which(w, s) {
					harmless(s.Params)
				}
			},
			Answered: func(s *Sample) {
				if which(w, s) {
					s.Refuse(codeInvalidParams, "broken on purpose: refuses this after it asked the model")
				}
			},
		}
	}
}

// diesOf exits over some requests: in the legacy era after the response.
func diesOf(which func(w *Wire, s *Sample) bool) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{
			Asked: func(s *Sample) {
				if s.Key != "" && which(w, s) {
					w.Die("a request that it refuses")
				}
			},
			Sent: func(m *Message) {
				if m.Sample != nil && m.Body["error"] != nil && which(w, m.Sample) {
					w.Die("a request that it refuses")
				}
			},
		}
	}
}

// inventResults adds a result for each tool use that has none in the next message.
func inventResults(params object) {
	var repaired []any
	messages := jsonvalue.Messages(params)
	for i, m := range messages {
		repaired = append(repaired, m)
		uses := ids(m, "tool_use", "id")
		if len(uses) == 0 || m["role"] != "assistant" {
			continue
		}
		var next object
		if i+1 < len(messages) {
			next = messages[i+1]
		}
		given := ids(next, "tool_result", "toolUseId")
		var invented []any
		for _, id := range uses {
			if !slices.Contains(given, id) {
				invented = append(invented, object{"type": "tool_result", "toolUseId": id,
					"content": []any{textBlock("cancelled")}})
			}
		}
		switch blocks, _ := next["content"].([]any); {
		case invented == nil:
		case given == nil:
			repaired = append(repaired, object{"role": "user", "content": invented})
		default:
			next["content"] = append(slices.Clip(blocks), invented...)
		}
	}
	params["messages"] = repaired
}

// dropOrphans drops the results that have no tool use in the message before them.
func dropOrphans(params object) {
	var uses []string
	eachMessage(func(m object) {
		drop(m, func(b object) bool {
			return b["type"] == "tool_result" && m["role"] == "user" && !slices.Contains(uses, text(b, "toolUseId"))
		})
		uses = ids(m, "tool_use", "id")
	})(params)
	dropEmpty(params)
}

// dropUsesOfUser drops the tool uses of the user, and leaves their results as orphans.
func dropUsesOfUser(params object) {
	eachMessage(func(m object) {
		drop(m, func(b object) bool { return b["type"] == "tool_use" && m["role"] == "user" })
	})(params)
	dropEmpty(params)
}

// dropMisplaced drops the tool uses of the user, the results of the assistant, and what belongs to them.
func dropMisplaced(params object) {
	var misplaced []string
	eachMessage(func(m object) {
		switch m["role"] {
		case "user":
			misplaced = append(misplaced, ids(m, "tool_use", "id")...)
		case "assistant":
			misplaced = append(misplaced, ids(m, "tool_result", "toolUseId")...)
		}
	})(params)
	eachMessage(func(m object) {
		drop(m, func(b object) bool {
			return b["type"] == "tool_use" && slices.Contains(misplaced, text(b, "id")) ||
				b["type"] == "tool_result" && slices.Contains(misplaced, text(b, "toolUseId"))
		})
	})(params)
	dropEmpty(params)
}

// dropEmpty drops messages without content.
func dropEmpty(params object) {
	messages, _ := params["messages"].([]any)
	params["messages"] = slices.DeleteFunc(messages, func(item any) bool {
		m, _ := item.(object)
		blocks, ok := m["content"].([]any)
		return ok && len(blocks) == 0
	})
}
