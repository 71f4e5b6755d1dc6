package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A host that asks for the list of models, or has its tokens counted, has not asked the model anything.
func TestAsidesAreNoModelRequests(t *testing.T) {
	request := func(aside bool) *Session {
		return Decode(&trace.Trace{Header: trace.Header{Cases: []trace.Case{{ID: "c"}}}, Events: []trace.Event{
			{Seq: 1, Case: "c", Request: &trace.ModelRequest{Exchange: 1, SideRequest: aside, Dialect: "openai-chat", Body: trace.Bytes(`{}`)}},
			{Seq: 2, Case: "c", End: &trace.ModelEnd{Exchange: 1, Status: 200}},
		}})
	}
	require.Empty(t, request(true).Exchanges["c"])
	require.Len(t, request(false).Exchanges["c"], 1)
}
