package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestAReplayedAnswerKeepsItsOrder(t *testing.T) {
	const answer = `{"_meta":{"n":9007199254740993},"action":"accept",` +
		`"content":{"name":"x","check":true,"list":[{"b":1,"a":2}]}}`
	o, err := asWritten([]byte(answer))
	require.NoError(t, err)
	require.Equal(t, answer, string(jsonvalue.Marshal(o)))
	require.IsType(t, map[string]any{}, o["_meta"], "which gets more members")
	for _, invalid := range []string{`null`, `[]`, `{`} {
		_, err := asWritten([]byte(invalid))
		require.Error(t, err, invalid)
	}
}
