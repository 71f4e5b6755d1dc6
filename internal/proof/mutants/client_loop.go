package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
)

// ClientLoop is the chapter of clients that run the tool loop themselves. Its mutants are such clients.
const ClientLoop = "client-loop"

var clientLoopEdits = edits{
	"loop-runs-first-use-only": afterModel(func(_, result object) { keep(result, "tool_use", 1) }),
	"loop-changes-arguments": toolCalls(func(m *Message) {
		arguments := member(m.Params(), "arguments")
		if place, ok := arguments["place"].(string); ok {
			arguments["place"] = strings.ToUpper(place)
		}
	}),
	"loop-runs-twice": afterModel(func(_, result object) {
		if uses := ofType(result["content"], "tool_use"); len(uses) > 0 {
			again := copyOf(uses[0])
			again["id"] = text(uses[0], "id") + "-again"
			blocks, _ := result["content"].([]any)
			result["content"] = append(slices.Clip(blocks), again)
		}
	}),
	"loop-swaps-results": beforeModel(eachMessage(func(m object) {
		if results := ofType(m["content"], "tool_result"); len(results) > 1 {
			first, last := results[0], results[len(results)-1]
			first["content"], last["content"] = last["content"], first["content"]
		}
	})),
	"loop-hides-failures": beforeModel(eachBlock("tool_result", func(b object) { delete(b, "isError") })),
	"loop-empties-results": beforeModel(eachBlock("tool_result", func(b object) {
		if b["isError"] != true {
			b["content"] = []any{textBlock("done")}
		}
	})),
	"loop-ends-on-failure": failsBeforeModel(`"isError":true`),
	"loop-ends-at-unknown": failsBeforeModel("unknown tool"),
	"loop-drops-unknown": afterModel(func(params, result object) {
		drop(result, func(b object) bool {
			known := b["type"] != "tool_use"
			eachTool(func(tool object) { known = known || tool["name"] == b["name"] })(params)
			return !known
		})
	}),
	"loop-trusts-arguments": in(func(m *Message) {
		if m.Answers("tools/list") {
			eachTool(func(tool object) {
				if loops(text(tool, "name")) {
					tool["inputSchema"] = object{"type": "object"}
				}
			})(m.Result())
		}
	}),
	"loop-ends-at-invalid": failsBeforeModel("do not fit its"),
	"loop-ignores-patterns": params(func(p object) {
		for _, holder := range []object{p, member(p, "metadata"), member(p, "_meta")} {
			delete(holder, "allowedToolPatterns")
		}
	}),
	"loop-offers-everything": beforeModel(func(p object) {
		tools, _ := p["tools"].([]any)
		for _, tool := range tools {
			if hidden := copyOf(tool.(object)); hidden["name"] == "loop_read_note" {
				hidden["name"] = "loop_drop_note"
				p["tools"] = append(slices.Clip(tools), hidden)
			}
		}
	}),
	"loop-without-end": loopOption(func(l *client.Loop, _ *Wire) { l.MaxIterations = 1000 }, func(p object) {
		for _, holder := range []object{p, member(p, "metadata"), member(p, "_meta")} {
			delete(holder, "maxIterations")
		}
		if !inLoop(p) {
			p["maxIterations"] = json.Number("10")
		}
	}),
	"loop-returns-last-use": answered(func(s *Sample) {
		if s.Error != nil && strings.Contains(text(s.Error, "message"), "limit of") {
			s.Answer(object{"role": "assistant", "model": "none", "stopReason": "toolUse", "content": []any{
				object{"type": "tool_use", "id": "last", "name": "loop_mile", "input": object{"place": "here"}}}})
		}
	}),
	"loop-without-timeout": loopOption(func(l *client.Loop, w *Wire) { l.Timeout = -1 }, nil),
	"loop-asks-nobody": loopOption(func(l *client.Loop, w *Wire) {
		l.Confirm = func(context.Context, client.LoopUse) error {
			w.Fire()
			return nil
		}
	}, nil),
	"loop-declines-the-turn": toolCalls(func(m *Message) {
		if text(m.Params(), "name") == "loop_count_boats" {
			m.Drop()
			m.Reply("error", object{"code": codeDeclined, "message": "the user declined the turn"})
		}
	}),
	"loop-returns-first-reason": afterModel(func(params, result object) {
		if hasUsed(params) && len(ofType(result["content"], "tool_use")) == 0 {
			result["stopReason"] = "toolUse"
		}
	}),
	"loop-returns-another-text": afterModel(func(params, result object) {
		if hasUsed(params) && len(ofType(result["content"], "tool_use")) == 0 {
			result["content"] = textBlock("The tools have run.")
		}
	}),
	"loop-ignores-cancel": in(func(m *Message) {
		if m.Method() == methodCancelled {
			m.Drop()
		}
	}),
	"loop-returns-uses-too": answered(func(s *Sample) {
		name := ""
		eachTool(func(tool object) { name = text(tool, "name") })(s.Asked)
		if s.Result != nil && loops(name) {
			s.Result["content"] = []any{s.Result["content"],
				object{"type": "tool_use", "id": "also", "name": name, "input": object{"place": "here"}}}
			s.Result["stopReason"] = "toolUse"
		}
	}),
}

// loops reports whether a tool is one of the chapter's. The bugs of these mutants are in loops with such tools.
func loops(tool string) bool { return strings.HasPrefix(tool, "loop_") }

func inLoop(params object) bool {
	is := false
	eachTool(func(tool object) { is = is || loops(text(tool, "name")) })(params)
	return is
}

func hasUsed(params object) bool { return SampleFacts(params).Later }

// beforeModel edits the params of each request to the model in a loop.
func beforeModel(f func(params object)) func(*Wire) Edit {
	return sampling(func(w *Wire, next client.Handler) client.Handler {
		return func(ctx context.Context, params object) (object, error) {
			if inLoop(params) {
				was := marshal(params)
				params = copyOf(params)
				f(params)
				w.fireIf(was, params)
			}
			return next(ctx, params)
		}
	})
}

// afterModel edits each answer of the model in a loop.
func afterModel(f func(params, result object)) func(*Wire) Edit {
	return sampling(func(w *Wire, next client.Handler) client.Handler {
		return func(ctx context.Context, params object) (object, error) {
			result, err := next(ctx, params)
			if err == nil && inLoop(params) {
				was := marshal(result)
				f(params, result)
				w.fireIf(was, result)
			}
			return result, err
		}
	})
}

func (w *Wire) fireIf(was []byte, now object) {
	if string(was) != string(marshal(now)) {
		w.Fire()
	}
}

// failsBeforeModel ends a loop in which the JSON of the latest tool results holds a text.
func failsBeforeModel(ends string) func(*Wire) Edit {
	return sampling(func(w *Wire, next client.Handler) client.Handler {
		return func(ctx context.Context, params object) (object, error) {
			messages, _ := params["messages"].([]any)
			if inLoop(params) && hasUsed(params) && strings.Contains(string(marshal(messages[len(messages)-1])), ends) {
				w.Fire()
				return nil, errors.New("broken on purpose: the loop ends")
			}
			return next(ctx, params)
		}
	})
}

func toolCalls(f func(m *Message)) func(*Wire) Edit {
	return out(func(m *Message) {
		if m.nested() && loops(text(m.Params(), "name")) {
			f(m)
		}
	})
}

// loopOption edits the options of the loop, and the params of each sampling request; nil for none.
func loopOption(f func(l *client.Loop, w *Wire), params func(object)) func(*Wire) Edit {
	return just(Edit{Params: params, Options: func(w *Wire, o *client.Options, _ *model.Options) {
		w.Fire()
		loop := *o.Loop
		f(&loop, w)
		o.Loop = &loop
	}})
}
