package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// Host returns a host with a model of its own, for [harness.Agent]. It gives its model the prompt and the tools of the
// server, calls those that the model uses, and ends when the model answers with a text. It answers samples as [Client]
// does.
func Host(config Config) func(context.Context, harness.Env) error {
	return func(ctx context.Context, env harness.Env) error {
		o, m := config.prepare(&env)
		h := &host{env: &env, turns: config.Turns, model: model.New(m), messages: []any{message("user", text(env.Prompt))}}
		if config.EditHost != nil {
			config.EditHost(h.params, &o)
		}
		var err error
		if h.client, err = client.Connect(ctx, o); err != nil {
			return err
		}
		return errors.Join(h.run(ctx), h.client.Close())
	}
}

// host is a conversation of a host's own.
type host struct {
	env    *harness.Env
	client *client.Client
	model  *model.Model
	turns  int

	mu       sync.Mutex
	messages []any
	tools    []any
}

// params is what the host asks its model next.
func (h *host) params() map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return map[string]any{"systemPrompt": "You are a host.", "messages": slices.Clone(h.messages),
		"tools": slices.Clone(h.tools), "maxTokens": json.Number("1000")}
}

func (h *host) add(messages ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, messages...)
}

func (h *host) run(ctx context.Context) error {
	listed, err := h.client.ListTools(ctx)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, t := range listed {
		name := "mcp__conform__" + t.Name
		names[name] = t.Name
		h.tools = append(h.tools, map[string]any{"name": name, "description": t.Description,
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{}}})
	}
	for turn := 1; h.turns == 0 || turn <= h.turns; turn++ {
		answer, err := h.model.Sample(ctx, h.params())
		if err != nil {
			return fmt.Errorf("the host's own model: %w", err)
		}
		uses := mcpjson.OfType(answer["content"], "tool_use")
		if len(uses) == 0 {
			return nil
		}
		h.add(message("assistant", answer["content"]))
		var results []any
		for _, use := range uses {
			result, err := h.call(ctx, names[mcpjson.Text(use, "name")])
			if err != nil {
				return err
			}
			result["toolUseId"] = use["id"]
			results = append(results, result)
		}
		h.add(message("user", results))
	}
	return nil
}

// call calls a tool and returns a tool result without its id.
func (h *host) call(ctx context.Context, name string) (map[string]any, error) {
	called, err := h.client.CallTool(ctx, name, nil)
	if fatal := report(h.env, name, err); fatal != nil {
		return nil, fatal
	}
	result := map[string]any{"type": "tool_result", "content": []any{text(called.Text())}}
	if err != nil {
		result["content"], result["isError"] = []any{text(err.Error())}, true
	}
	return result, nil
}

func message(role string, content any) any { return map[string]any{"role": role, "content": content} }
func text(text string) any                 { return map[string]any{"type": "text", "text": text} }
