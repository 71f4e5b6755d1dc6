package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A client that exits, or is quicker to hang up than the server is to end the stream, leaves a frame that is only the end of its
// GET stream: without bytes, and without HTTP.
func TestDecodeTakesTheEndOfAGetStream(t *testing.T) {
	s := evidence.Decode(&trace.Trace{
		Header: trace.Header{Revision: "2025-11-25"},
		Events: []trace.Event{{Seq: 1, Frame: &trace.Frame{Dir: trace.FromClient, Stream: "get", Session: "s", Closed: true}}},
		Whole:  true,
	})
	require.False(t, s.Connected, "hanging up is no use of the server")
	require.False(t, s.Foreign)
}
