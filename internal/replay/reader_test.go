package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// twoCalls is a session over stdio in which the server asks while two calls are under way. As a tap does, each event
// has a call, that of a question is a guess.
func twoCalls(tapped bool) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Tapped: tapped}}
	add := func(call int, dir trace.Direction, raw string) {
		t.Events = append(t.Events, trace.Event{Case: "tapped/day", Call: call,
			Frame: &trace.Frame{Dir: dir, Session: "stdio 1", Raw: trace.Bytes(raw)}})
	}
	add(0, trace.FromClient, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	add(0, trace.ToClient, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
	add(0, trace.ToClient, `connected to the database`)
	add(1, trace.FromClient, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"day","arguments":{"n":1}}}`)
	add(2, trace.FromClient, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"day","arguments":{"n":2}}}`)
	add(2, trace.ToClient, `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"maxTokens":1}}`)
	add(1, trace.ToClient, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	add(2, trace.ToClient, `{"jsonrpc":"2.0","id":8,"method":"sampling/createMessage","params":{"maxTokens":2}}`)
	add(2, trace.ToClient, `{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`)
	return t
}

func TestWhatATapGuessesIsShared(t *testing.T) {
	recording := New(twoCalls(true))
	require.Equal(t, 1, recording.Stray)
	calls := recording.Calls("2025-11-25")
	require.Len(t, calls, 2)
	require.Empty(t, calls[0].Asks)
	require.Len(t, calls[1].Asks, 2)
	require.True(t, calls[1].Asks[0].Shared, "two calls were under way")
	require.False(t, calls[1].Asks[1].Shared, "the other call was over")

	known := New(twoCalls(false)).Calls("2025-11-25")
	require.False(t, known[1].Asks[0].Shared, "the server of a run knows for which call it asks")
}
