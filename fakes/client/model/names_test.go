package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestToolNamesThatTheProviderRefusesAreMappedAndMappedBack(t *testing.T) {
	const (
		tool    = `,"description":"d","inputSchema":{"type":"object","properties":{}}}`
		request = `{"maxTokens":70,"tools":[{"name":"t_a_b"` + tool + `,{"name":"a.b"` + tool + `,{"name":"a-b"` + tool +
			`],"messages":[{"role":"user","content":{"type":"text","text":"?"}},` +
			`{"role":"assistant","content":{"type":"tool_use","id":"u","name":"a.b","input":{"name":"a.b"}}},` +
			`{"role":"user","content":[{"type":"tool_result","toolUseId":"u","content":[{"type":"text","text":"so"}]}]}]}`
	)
	for dialect, mapped := range map[string]string{"openai-chat": "t_a_b_2", "openai-responses": "t_a_b_2",
		"anthropic": "t_a_b_2", "gemini": "a.b", "ollama": "a.b", "native": "a.b", "cohere-chat": "t_a_b_2"} {
		t.Run(dialect, func(t *testing.T) {
			srv := llm.New(t, llm.When().ReplyFunc(func(r *llm.Request) []llm.Block {
				return []llm.Block{llm.Call(r.Tools[1].Name, `{}`)}
			}))
			url := srv.BaseURLs()[dialect]
			params, err := jsonvalue.ReadObject([]byte(request))
			require.NoError(t, err)
			result, err := model.New(model.Options{Dialect: dialect, URL: url, Key: "k"}).Sample(t.Context(), params)
			require.NoError(t, err)
			require.Equal(t, "a.b", jsonvalue.OfType(result["content"], "tool_use")[0]["name"])
			asked := srv.Requests()[0]
			other := "a-b"
			if dialect == "cohere-chat" {
				other = "t_a_b_3"
			}
			require.Equal(t, []string{"t_a_b", mapped, other},
				[]string{asked.Tools[0].Name, asked.Tools[1].Name, asked.Tools[2].Name})
			require.Equal(t, mapped, asked.Messages[1].Content[0].Name)
			require.JSONEq(t, `{"name":"a.b"}`, string(asked.Messages[1].Content[0].Input))
			require.JSONEq(t, request, string(jsonvalue.Marshal(params)), "the caller's params stay as they are")
		})
	}
}
