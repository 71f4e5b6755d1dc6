package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestPing(t *testing.T) {
	for name, c := range map[string]struct{ response, want string }{
		"result":      {`{"jsonrpc":"2.0","id":1000001,"result":{}}`, ""},
		"error":       {`{"jsonrpc":"2.0","id":1000001,"error":{"code":-32601,"message":"what?"}}`, "what?"},
		"no response": {"", "context deadline exceeded"},
	} {
		inBubble(t, name, func(t *testing.T) {
			pinged := make(chan error, 1)
			client := start(t, tool("ping", does(func(s *server.Session) {
				ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
				defer cancel()
				pinged <- s.Ping(ctx)
			}))).legacy(nothing)
			stream := client.call(1, "ping")
			require.Equal(t, `{"jsonrpc":"2.0","id":1000001,"method":"ping"}`, stream.next().raw)
			if c.response != "" {
				client.post(c.response)
			}
			if err := <-pinged; c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
			stream.last()
		})
	}
}

func TestModernRevisionsHaveNoPing(t *testing.T) {
	inCall(t, bothProtocols[1:], nothing, func(s *server.Session) {
		require.ErrorIs(t, s.Ping(s.Context()), server.ErrRevision)
	})
}
