package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/conversation"
)

func TestAShrinkerPlaysNothingItKnowsAndNoMoreThanItMay(t *testing.T) {
	one, two := []byte(`{}`), []byte(`{"steps":[{"exchanges":[{"maxTokens":2}]}]}`)
	tries := &tries{failed: failed{Conversation: &conversation.Conversation{Revision: "2025-11-25"}}, left: 1,
		known: map[string]bool{}}
	for raw, fails := range map[string]bool{string(one): false, string(two): true} {
		tries.known[string(tries.made([]byte(raw)).JSON())] = fails
	}
	require.Equal(t, 1, tries.first(t.Context(), [][]byte{one, two}), "without a session, which would need a suite")
	require.Equal(t, -1, tries.first(t.Context(), [][]byte{one}))
	require.Equal(t, 1, tries.left)
	tries.left = 0
	require.Equal(t, -1, tries.first(t.Context(), [][]byte{[]byte(`{"steps":[{},{}]}`), two}))
}
