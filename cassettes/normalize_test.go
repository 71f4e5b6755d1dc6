package cassettes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Members are visited in the order of the elements, whichever path they are on.
func TestMembersAreVisitedInOrder(t *testing.T) {
	tree := jsonvalue.Decode([]byte(`{"a":[{"b":{"c":1},"d":2},{"d":3,"b":[{"c":4},{"c":5}]}],"e":6}`))
	var seen []string
	eachMember(tree, paths([]string{"a.b.c", "e", "a.d"}), func(o map[string]any, name string) {
		seen = append(seen, name+jsonvalue.Canonical(o[name]))
	})
	require.Equal(t, "c1 d2 c4 c5 d3 e6", strings.Join(seen, " "))
}

// What a codec says about its dialect is enough for a cassette, a proxy and an environment.
func TestFactsAreComplete(t *testing.T) {
	for name, f := range dialects.Facts() {
		if f.Compatible != "" {
			require.Contains(t, dialects.Facts(), f.Compatible)
			continue
		}
		require.NotEmpty(t, f.Provider, name)
		require.NotEmpty(t, f.IDs, name)
		require.True(t, f.Path != "" || f.Detail != nil, name)
		require.Equal(t, f.Address == "", f.BaseVariables == nil, name)
		require.Equal(t, f.Address == "", f.KeyVariables == nil, name)
	}
}

// A client may generate its own ids, but each result must stay with its call. C and D are the ids of two calls.
func TestGeneratedIDsOfEveryDialectAreCompared(t *testing.T) {
	for kind, body := range map[string]string{
		"openai-chat": `{"messages":[{"tool_calls":[{"id":"C"},{"id":"D"}]},{"tool_call_id":"C"},{"tool_call_id":"D"}]}`,
		"cohere-chat": `{"messages":[{"tool_calls":[{"id":"C"},{"id":"D"}]},{"tool_call_id":"C"},{"tool_call_id":"D"}]}`,
		"ollama":      `{"messages":[{"tool_calls":[{"id":"C"},{"id":"D"}]},{"tool_call_id":"C"},{"tool_call_id":"D"}]}`,
		"openai-responses": `{"input":[{"type":"function_call","call_id":"C"},{"type":"function_call","call_id":"D"},` +
			`{"type":"function_call_output","call_id":"C"},{"type":"function_call_output","call_id":"D"}]}`,
		"anthropic": `{"messages":[{"content":[{"type":"tool_use","id":"C"},{"type":"tool_use","id":"D"}]},` +
			`{"content":[{"type":"tool_result","tool_use_id":"C"},{"type":"tool_result","tool_use_id":"D"}]}]}`,
		"native": `{"messages":[{"content":[{"type":"tool_use","id":"C"},{"type":"tool_use","id":"D"}]},` +
			`{"content":[{"type":"tool_result","toolUseId":"C"},{"type":"tool_result","toolUseId":"D"}]}]}`,
		"gemini m:generateContent": `{"contents":[{"parts":[{"functionCall":{"id":"C"}},{"functionCall":{"id":"D"}}]},` +
			`{"parts":[{"functionResponse":{"id":"C"}},{"functionResponse":{"id":"D"}}]}]}`,
	} {
		recorded := newRequest(kind, nil, body)
		other := newRequest(kind, nil, strings.NewReplacer(`"C"`, `"new-1"`, `"D"`, `"new-2"`).Replace(body))
		require.Equal(t, recorded.key(), other.key(), kind)
		crossed := strings.Replace(body, `"C"`, `"D"`, 1)
		require.NotEqual(t, recorded.key(), newRequest(kind, nil, crossed).key(), kind)
	}
}
