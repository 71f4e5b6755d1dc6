package conformance_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// withTools are the revisions in which content may be an array.
var withTools = []server.Revision{server.V20251125, server.V20260728}

// open is what is said of a client that leaves its sessions open, which a right one should not.
var open = looked{"transport/ends-session": report.Warn}

// TestClientsThatAreRightButDifferAreNotAccused is about our worst bug: a verdict against a client that does nothing
// wrong.
func TestClientsThatAreRightButDifferAreNotAccused(t *testing.T) {
	plain, native := reference.Config{Plain: true}, reference.Config{Dialect: dialect.Native}
	own := func(id string) string { return "own-" + id }
	for name, c := range map[string]struct {
		habit
		config    reference.Config
		revisions []server.Revision
		want      looked
	}{
		"gives the model ids of its own": {habit: habit{request: chatIDs(own)}},
		"gives the server ids of its own": {config: plain, habit: habit{
			reply: func(body map[string]any) {
				for _, choice := range objects(body["choices"]) {
					message, _ := choice["message"].(map[string]any)
					for _, call := range objects(message["tool_calls"]) {
						call["id"] = own(call["id"].(string))
					}
				}
			},
			request: chatIDs(func(id string) string { return strings.TrimPrefix(id, "own-") })}},
		"puts the system prompt into the first user message": {habit: habit{request: func(body map[string]any) {
			messages := objects(body["messages"])
			prompt, first := messages[0]["content"].(string), messages[1]
			said(first, func(text string) string { return prompt + "\n\n" + text })
			body["messages"] = body["messages"].([]any)[1:]
		}}},
		"drops the system prompt": {habit: habit{request: func(body map[string]any) { body["messages"] = body["messages"].([]any)[1:] }}},
		"calls the system the developer": {habit: habit{request: eachMessage(func(m map[string]any) {
			if m["role"] == "system" {
				m["role"] = "developer"
			}
		})}},
		"adds text of its own around the prompt": {habit: habit{request: eachMessage(func(m map[string]any) {
			if m["role"] == "user" {
				said(m, func(text string) string { return "<request>\n" + text + "\n</request>" })
			}
		})}},
		"sends text as parts": {habit: habit{request: eachMessage(func(m map[string]any) {
			if text, ok := m["content"].(string); ok {
				m["content"] = []any{map[string]any{"type": "text", "text": text}}
			}
		})}},
		"sends text in two parts": {habit: habit{request: eachMessage(func(m map[string]any) {
			if text, ok := m["content"].(string); ok && m["role"] == "user" {
				one, other := cut(text)
				m["content"] = []any{map[string]any{"type": "text", "text": one}, map[string]any{"type": "text", "text": other}}
			}
		})}},
		"says hello before the conversation": {habit: habit{request: func(body map[string]any) {
			hello := map[string]any{"role": "user", "content": "You speak for a server of mine."}
			body["messages"] = slices.Insert(body["messages"].([]any), 1, any(hello))
		}}},
		"wraps tool results in JSON": {habit: habit{request: eachMessage(func(m map[string]any) {
			if m["role"] == "tool" {
				said(m, func(text string) string { return string(dialect.Marshal(map[string]any{"result": text})) })
			}
		})}},
		"says what it means by auto": {habit: habit{request: func(body map[string]any) {
			if body["tools"] != nil && body["tool_choice"] == nil {
				body["tool_choice"], body["parallel_tool_calls"] = "auto", true
			}
		}}},
		"gives the model no tools where it must use none": {habit: habit{request: func(body map[string]any) {
			if body["tool_choice"] == "none" {
				delete(body, "tools")
				delete(body, "tool_choice")
			}
		}}},
		"says nothing where auto is meant": {habit: habit{request: func(body map[string]any) {
			if body["tool_choice"] == "auto" {
				delete(body, "tool_choice")
			}
		}}},
		"offers tools in an order of its own": {habit: habit{request: func(body map[string]any) {
			if tools, ok := body["tools"].([]any); ok {
				slices.Reverse(tools)
			}
		}}},
		"puts what a schema refers to in place": {habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				parameters := tool["function"].(map[string]any)["parameters"].(map[string]any)
				properties := parameters["properties"].(map[string]any)
				definitions, _ := parameters["$defs"].(map[string]any)
				for name, property := range properties {
					if to, ok := property.(map[string]any)["$ref"].(string); ok {
						properties[name] = definitions[strings.TrimPrefix(to, "#/$defs/")]
					}
				}
				delete(parameters, "$defs")
			}
		}}},
		"says in the system prompt that a tool is required": {habit: habit{request: func(body map[string]any) {
			if body["tool_choice"] == "required" {
				first := objects(body["messages"])[0]
				first["content"] = first["content"].(string) + " You have to use a tool."
			}
		}}},
		"leaves texts out that are empty": {revisions: withTools, habit: habit{message: results(func(r map[string]any) {
			if blocks, ok := r["content"].([]any); ok {
				r["content"] = slices.DeleteFunc(blocks, func(b any) bool { return b.(map[string]any)["text"] == "" })
				r["_meta"] = map[string]any{"com.example/blocks": len(blocks)}
			}
		})}},
		"sets what the server leaves open": {habit: habit{request: func(body map[string]any) {
			body["temperature"], body["top_p"], body["user"], body["store"] = 0.7, 0.9, "host", false
		}}},
		"uses the newer name of a limit": {habit: habit{request: func(body map[string]any) {
			body["max_completion_tokens"] = body["max_tokens"]
			delete(body, "max_tokens")
		}}},
		"has strict schemas": {habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				function := tool["function"].(map[string]any)
				function["strict"] = true
				parameters := function["parameters"].(map[string]any)
				parameters["additionalProperties"] = false
				parameters["required"] = slices.Collect(maps.Keys(parameters["properties"].(map[string]any)))
			}
		}}},
		"says whose tools they are": {habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				function := tool["function"].(map[string]any)
				function["description"] = "[a server's] " + function["description"].(string)
			}
		}}},
		"answers with an array of one block": {revisions: withTools, habit: habit{message: results(func(r map[string]any) {
			if block, ok := r["content"].(map[string]any); ok {
				r["content"] = []any{block}
			}
		})}},
		"answers with text in two blocks": {revisions: withTools, habit: habit{message: results(func(r map[string]any) {
			if block, ok := r["content"].(map[string]any); ok {
				one, other := cut(block["text"].(string))
				r["content"] = []any{map[string]any{"type": "text", "text": one}, map[string]any{"type": "text", "text": other}}
			}
		})}},
		"says something beside its tool uses": {revisions: withTools, habit: habit{message: results(func(r map[string]any) {
			if blocks, ok := r["content"].([]any); ok {
				r["content"] = append([]any{map[string]any{"type": "text", "text": "Let me see."}}, blocks...)
			}
		})}},
		"tells the server more than it must": {habit: habit{message: results(func(r map[string]any) {
			meta, _ := r["_meta"].(map[string]any)
			if meta == nil {
				meta = map[string]any{}
			}
			meta["com.example/trace"] = "1"
			r["usage"], r["_meta"] = map[string]any{"tokens": 3}, meta
		})}},
		"leaves the stop reason out": {habit: habit{message: results(func(r map[string]any) { delete(r, "stopReason") })},
			want: looked{"tool-use/stop-reason-tooluse": report.Warn, "provider-errors/refusal-told": report.Warn}},
		"has stop reasons of its own": {habit: habit{message: results(func(r map[string]any) { r["stopReason"] = "done" })},
			want: looked{"tool-use/stop-reason-tooluse": report.Warn}},
		"ties a call to its samples by a token": {habit: habit{message: func(m map[string]any) {
			if params, ok := m["params"].(map[string]any); ok && m["method"] == "tools/call" {
				meta, _ := params["_meta"].(map[string]any)
				if meta == nil {
					meta = map[string]any{}
				}
				meta["com.example/call"], meta["progressToken"] = "7", "progress-7"
				params["_meta"] = meta
			}
		}}},
		"writes its errors and results both": {revisions: []server.Revision{server.V20251125}, habit: habit{message: func(m map[string]any) {
			if m["result"] != nil {
				m["error"] = nil
			}
		}}},
		"listens on the GET stream":               {habit: habit{listens: true}},
		"listens, and never ends a session":       {habit: habit{listens: true, stays: true}, want: open},
		"never ends a session":                    {habit: habit{stays: true}, want: open},
		"passes on what it is given, and listens": {config: native, habit: habit{listens: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = looked{}
			}
			var shown atomic.Bool
			require.Equal(t, c.want, look(t, c.client(c.config, &shown), c.revisions...))
			require.True(t, shown.Load(), "the habit never showed")
		})
	}
}

func TestClientsMayCallInWhateverWayTheyLike(t *testing.T) {
	with := func(ctx context.Context, env harness.Env, names ...string) error {
		env.Tools = names
		return reference.Client(reference.Config{})(ctx, env)
	}
	together := func(runs ...func() error) error {
		var wg sync.WaitGroup
		errs := make([]error, len(runs))
		for i, run := range runs {
			wg.Go(func() { errs[i] = run() })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for name, run := range map[string]func(context.Context, harness.Env) error{
		"in reverse": func(ctx context.Context, env harness.Env) error {
			names := tools(env.Revision)
			slices.Reverse(names)
			return with(ctx, env, names...)
		},
		"each tool twice": func(ctx context.Context, env harness.Env) error {
			names := tools(env.Revision)
			return with(ctx, env, append(names, names...)...)
		},
		"each tool twice at once": func(ctx context.Context, env harness.Env) error {
			env.GiveUp = nil // which is for clients that make one call after the other
			all := func() error { return with(ctx, env, tools(env.Revision)...) }
			return together(all, all)
		},
		"all tools at once, each in a session of its own": func(ctx context.Context, env harness.Env) error {
			env.GiveUp = nil // which is for clients that make one call after the other
			var runs []func() error
			for _, name := range tools(env.Revision) {
				runs = append(runs, func() error { return with(ctx, env, name) })
			}
			return together(runs...)
		},
		"after a first session that was only a look": func(ctx context.Context, env harness.Env) error {
			if err := with(ctx, env, []string{}...); err != nil {
				return err
			}
			return with(ctx, env, tools(env.Revision)...)
		},
		"tools that are not there, too": func(ctx context.Context, env harness.Env) error {
			return with(ctx, env, append([]string{"no-such-tool"}, tools(env.Revision)...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := look(t, run)
			// Where the last tool is not called last, nothing follows from what did not come.
			maps.DeleteFunc(got, func(_ string, v report.Verdict) bool { return v == report.Unsupported })
			require.Equal(t, looked{}, got)
		})
	}
}
