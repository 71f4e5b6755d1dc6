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
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Host returns a host with a model of its own, for [harness.Agent]. It gives its model the prompt and the tools of the
// server, calls those that the model uses, and ends when the model answers with a text. It answers samples as [Client]
// does. Of a mistake it tells the model: see [Mistakes].
func Host(config Config) func(context.Context, harness.Env) error {
	return func(ctx context.Context, env harness.Env) error {
		o, m := config.prepare(&env)
		h := &host{env: &env, turns: config.Turns, mistakes: mistakes(), model: model.New(m),
			messages: []any{message("user", text(env.Prompt))}}
		if config.EditHost != nil {
			config.EditHost(h.params, &o)
		}
		if config.EditMistakes != nil {
			config.EditMistakes(&h.mistakes)
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
	env      *harness.Env
	client   *client.Client
	model    *model.Model
	turns    int
	mistakes Mistakes
	listed   map[string]*client.Tool // by the name for the model

	mu       sync.Mutex
	messages []any
	tools    []any
}

func (h *host) params() map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return map[string]any{"systemPrompt": "You are a host.", "messages": slices.Clone(h.messages),
		"tools": slices.Clone(h.tools), "maxTokens": json.Number("1000")}
}

func (h *host) add(message any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, message)
}

// forgetLast takes the latest message back: the model is asked again.
func (h *host) forgetLast() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = slices.Clip(h.messages[:len(h.messages)-1])
}

func (h *host) run(ctx context.Context) error {
	listed, err := h.client.ListTools(ctx)
	if err != nil {
		return err
	}
	h.listed = map[string]*client.Tool{}
	for i := range listed {
		t := &listed[i]
		name := "mcp__conform__" + t.Name
		h.listed[name] = t
		h.tools = append(h.tools, map[string]any{"name": name, "description": t.Description, "inputSchema": t.InputSchema})
	}
	empty, repeats := 0, repetition{}
	for turn := 1; h.turns == 0 || turn <= h.turns; turn++ {
		answer, err := h.model.Sample(ctx, h.params())
		if err != nil && !errors.Is(err, model.ErrArguments) {
			return fmt.Errorf("the host's own model: %w", err)
		}
		uses := jsonvalue.OfType(answer["content"], "tool_use")
		if len(uses) == 0 {
			if empty++; saysNothing(answer) && h.mistakes.AskAgain(empty) {
				continue
			}
			return nil
		}
		if repeats.count(uses) == h.mistakes.MostRepeats {
			return fmt.Errorf("the host's own model makes the same call for the %dth time", h.mistakes.MostRepeats)
		}
		h.add(message("assistant", answer["content"]))
		results, err := h.results(ctx, uses)
		switch {
		case errors.Is(err, ErrEndsTask):
			return nil
		case err != nil:
			return err
		case len(results) == 0:
			h.forgetLast()
		default:
			h.add(message("user", results))
		}
	}
	return nil
}

func message(role string, content any) any { return map[string]any{"role": role, "content": content} }
func text(text string) any                 { return map[string]any{"type": "text", "text": text} }
