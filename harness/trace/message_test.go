package trace_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestReadMessageReadsMembersByTheirExactNames(t *testing.T) {
	raw := `{"jsonrpc":"2.0","id":1,"method":"m","Method":"x","params":{},"error":null}`
	require.Equal(t, trace.Message{
		ID: json.RawMessage("1"), Method: "m", Params: json.RawMessage("{}"), Version: json.RawMessage(`"2.0"`),
	}, trace.ReadMessage([]byte(raw)))
	for _, invalid := range []string{"", "{", "[]", "null", `"text"`} {
		require.Zero(t, trace.ReadMessage([]byte(invalid)), invalid)
	}
}
