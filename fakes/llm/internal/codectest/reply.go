package codectest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Reads reads a recorded answer, complete, and compares what the model said with another reading of it: the texts, the
// thinking if that has any, and the names and inputs of tool uses.
func Reads(t *testing.T, codec dialect.Codec, answer string, want *dialect.Reply) {
	t.Helper()
	got, err := codec.DecodeReply([]byte(answer))
	require.NoError(t, err)
	require.True(t, got.Complete, answer)
	require.NotEmpty(t, got.FinishReason)
	require.NotEmpty(t, got.Model)
	require.Equal(t, joined(want.Content, dialect.Text), joined(got.Content, dialect.Text))
	if thinking := joined(want.Content, dialect.Thinking); thinking != "" {
		require.Equal(t, thinking, joined(got.Content, dialect.Thinking))
	}
	uses := func(blocks []dialect.Block) []dialect.Block {
		return dialect.Blocks([]dialect.Message{{Content: blocks}}, dialect.ToolUse)
	}
	found := uses(got.Content)
	require.Len(t, found, len(uses(want.Content)))
	for i, use := range uses(want.Content) {
		require.Equal(t, use.Name, found[i].Name)
		if len(use.Input) > 0 {
			require.JSONEq(t, string(use.Input), string(found[i].Input))
		}
	}
}

func joined(blocks []dialect.Block, kind dialect.BlockType) (text string) {
	for _, b := range blocks {
		if b.Type == kind {
			text += b.Text
		}
	}
	return text
}
