package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A client that exits early can leave a frame that only ends its GET stream, without bytes and without HTTP.
func TestDecodeAcceptsTheEndOfAGetStream(t *testing.T) {
	s := Decode(&trace.Trace{
		Header: trace.Header{Revision: "2025-11-25"},
		Events: []trace.Event{{Seq: 1, Frame: &trace.Frame{Dir: trace.FromClient, Stream: "get", Session: "s",
			Closed: true}}},
		Whole: true,
	})
	require.False(t, s.Connected)
	require.False(t, s.Foreign)
	require.False(t, s.Asked)
}

// A host that lists the models, or counts tokens, asks the model nothing.
func TestSideRequestsAreNotModelRequests(t *testing.T) {
	decode := func(side bool) *Session {
		request := &trace.ModelRequest{Exchange: 1, SideRequest: side, Dialect: "openai-chat", Body: trace.Bytes(`{}`)}
		return Decode(&trace.Trace{Header: trace.Header{Cases: []trace.Case{{ID: "c"}}}, Events: []trace.Event{
			{Seq: 1, Case: "c", Request: request},
			{Seq: 2, Case: "c", End: &trace.ModelEnd{Exchange: 1, Status: 200}},
		}})
	}
	require.Empty(t, decode(true).Exchanges["c"])
	require.Len(t, decode(false).Exchanges["c"], 1)
}
