package tap_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// Samples are tied to requests in every dialect: a loop with tools passes, and wrong ones are named.
func TestHostsInEachDialect(t *testing.T) {
	swap := func(ctx context.Context, ask *model.Model, p object) (object, error) {
		ms := p["messages"].([]any)
		if len(ms) == 3 {
			c := ms[2].(object)["content"].([]any)
			a, b := maps.Clone(c[0].(object)), maps.Clone(c[1].(object))
			a["content"], b["content"] = b["content"], a["content"]
			p, ms = maps.Clone(p), slices.Clone(ms)
			ms[2] = object{"role": "user", "content": []any{a, b}}
			p["messages"] = ms
		}
		return ask.Sample(ctx, p)
	}
	cut := func(ctx context.Context, ask *model.Model, p object) (object, error) {
		result, err := ask.Sample(ctx, p)
		if err == nil {
			if c, ok := result["content"].(object); ok && c["type"] == "text" {
				c["text"] = "Both are"
			}
		}
		return result, err
	}
	for _, name := range []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Anthropic, dialect.Gemini,
		dialect.Ollama, dialect.CohereChat} {
		for _, h := range []host{
			{name: "plain"},
			{name: "swaps results", fails: "always/model-was-given", sample: swap},
			{name: "cuts the answer", fails: "always/server-was-given", sample: cut},
		} {
			h.dialect, h.tools, h.rules = name, tools()[:1], append(rules()[:2], llm.When().Optional().Reply(llm.Text("x")))
			t.Run(name+"/"+h.name, func(t *testing.T) {
				ids := h.failures(t, "http", server.V20251125)
				if h.fails == "" {
					require.Empty(t, ids)
				} else {
					require.Contains(t, ids, h.fails)
				}
			})
		}
	}
}
