package variations

import (
	"context"
	"encoding/json"
	"strings"

	mcp "github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

const loopCases = "client-loop tool-use parallel/two-cities loop/three-cities"

// loopVariations run the tool loop themselves, and differ in how.
var loopVariations = of(reference.Config{Loop: true}, "loop-",
	edited("of-five", "runs at most five iterations", "loop-limits", loopCases, loopOption(func(l *mcp.Loop) {
		l.MaxIterations = 5
	})),
	edited("ignores-the-hint", "has a limit of its own, whatever the request says", "loop-limits", loopCases,
		mutants.Edit{Params: func(p object) {
			if p["maxIterations"] != nil {
				p["maxIterations"] = json.Number("9")
				delete(p, "_meta")
				delete(p, "metadata")
			}
		}}),
	edited("text-only", "refuses images and sound", "refusal", loopCases, textOnly,
		func(v *Variation) { v.Whole = true }),
	edited("calls-unlisted", "calls a tool that the server does not list", "own-loop", loopCases,
		listed(func(tools []any) []any {
			return append(tools, object{"name": "get_weather", "inputSchema": object{"type": "object"}})
		}), func(v *Variation) { v.AnyOrder = true }), // it also calls the tool by itself
	edited("plain-end", "returns a text at the limit of the loop", "loop-limits",
		"client-loop", mutants.Edit{Answered: func(s *mutants.Sample) {
			if s.Error != nil && strings.Contains(text(s.Error, "message"), "limit of") {
				s.Answer(object{"role": "assistant", "model": "own", "content": textBlock("I give up.")})
			}
		}}, having(server.Revision.HasPrimingEvents)),
	edited("own-stop-reasons", "gives its own stop reasons", "stop-reasons", loopCases, result(func(r object) {
		r["stopReason"] = "done"
	})),
	edited("own-prompt", "adds a system prompt of its own", "system-prompt", loopCases,
		beforeModel(func(p object) { p["systemPrompt"] = "You may use tools. " + text(p, "systemPrompt") })),
	edited("tells-in-words", "tells the model in words what it did wrong, without the flag", "error-in-words", loopCases,
		beforeModel(eachResult(func(b object, said string) {
			if strings.Contains(said, "unknown tool") || strings.Contains(said, "do not fit") {
				delete(b, "isError")
			}
		}))),
	edited("results-in-json", "gives the model results as JSON", "results-in-json", loopCases,
		beforeModel(eachResult(func(b object, said string) {
			onlyTexts := len(ofType(b["content"], "text")) == len(array(b["content"]))
			if raw, err := json.Marshal(object{"output": said}); err == nil && b["isError"] != true && onlyTexts {
				b["content"] = []any{textBlock(string(raw))}
			}
		}))),
	edited("prefixed-names", "puts the server before the names of tools for the model, and knows them under no other",
		"tool-names", "client-loop", replyAndRequest(
			chatNames(func(name string) string {
				if plain, ok := strings.CutPrefix(name, "mcp__srv__"); ok {
					return plain
				}
				return "unknown__" + name
			}),
			chatNames(func(name string) string {
				if unknown, ok := strings.CutPrefix(name, "unknown__"); ok {
					return unknown
				}
				return "mcp__srv__" + name
			})),
		with(reference.Config{Dialect: "openai-chat", Plain: true, Loop: true}),
		func(v *Variation) { v.Whole = true }),
)

func loopOption(f func(*mcp.Loop)) mutants.Edit {
	return mutants.Edit{Options: func(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
		w.Fire()
		loop := *o.Loop
		f(&loop)
		o.Loop = &loop
	}}
}

// beforeModel edits the params of each request to the model that has tools.
func beforeModel(f func(params object)) mutants.Edit {
	return mutants.Edit{Options: func(w *mutants.Wire, o *mcp.Options, _ *model.Options) {
		next := o.Sampling
		o.Sampling = func(ctx context.Context, params map[string]any) (map[string]any, error) {
			if params["tools"] != nil {
				w.Fire()
				f(params)
			}
			return next(ctx, params)
		}
	}}
}

// eachResult edits each tool result, given its text.
func eachResult(f func(block object, said string)) func(object) {
	return func(p object) {
		for _, m := range objects(p["messages"]) {
			for _, b := range ofType(m["content"], "tool_result") {
				said := ""
				for _, inner := range ofType(b["content"], "text") {
					said += text(inner, "text")
				}
				f(b, said)
			}
		}
	}
}
