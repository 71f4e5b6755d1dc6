package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func TestTheEnvironmentChoosesTheModel(t *testing.T) {
	const own = "https://api.openai.com/v1"
	for _, c := range []struct {
		provider, endpoint string
		want               Options
		problem            string
	}{
		{"OpenAI", "", Options{Dialect: dialect.OpenAIChat, URL: own, Key: "k", Model: "m"}, ""},
		{"openai-responses", "", Options{Dialect: dialect.OpenAIResponses, URL: own, Key: "k", Model: "m"}, ""},
		{"ollama", "http://here", Options{Dialect: dialect.Ollama, URL: "http://here", Key: "k", Model: "m"}, ""},
		{"cohere", "", Options{Dialect: dialect.CohereChat, URL: "https://api.cohere.com", Key: "k", Model: "m"}, ""},
		{"", "http://here", Options{}, ""},
		{"oracle", "", Options{Dialect: "oracle", Key: "k", Model: "m"}, `found "oracle"`},
	} {
		values := map[string]string{"SAMPLING_PROVIDER": c.provider, "SAMPLING_ENDPOINT": c.endpoint,
			"SAMPLING_API_KEY": "k", "SAMPLING_MODEL": "m"}
		got, found, err := FromEnvironment(func(name string) string { return values[name] })
		require.Equal(t, c.want, got)
		require.Equal(t, c.provider != "", found)
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
		} else {
			require.NoError(t, err)
		}
	}
	for _, name := range []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Anthropic} {
		m := New(Options{Dialect: name, Model: "my-model"})
		x, err := m.exchange(map[string]any{"messages": []any{}})
		require.NoError(t, err)
		require.Equal(t, "my-model", x.body["model"])
	}
}
