package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestPing(t *testing.T) {
	for name, c := range map[string]struct {
		params       any
		sent         string
		member, want string
	}{
		"result":      {nil, ``, `"result":{}`, ""},
		"error":       {nil, ``, `"error":{"code":-32601,"message":"what?"}`, "what?"},
		"with params": {map[string]any{"_meta": map[string]any{"a": 1}}, `,"params":{"_meta":{"a":1}}`, `"result":{}`, ""},
	} {
		inBubble(t, name, func(t *testing.T) {
			pinged := make(chan error, 1)
			r := start(t, tool("ping", does(func(s *server.Session) {
				ping, err := s.Start(c.params, server.Ping)
				require.NoError(t, err)
				_, err = ping.Wait()
				pinged <- err
			})))
			client := r.legacy(nothing)
			stream := client.call(1, "ping")
			require.Equal(t, `{"jsonrpc":"2.0","id":1000001,"method":"ping"`+c.sent+`}`, stream.next().raw)
			client.post(`{"jsonrpc":"2.0","id":1000001,` + c.member + `}`)
			if err := <-pinged; c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
			stream.last()
			require.Empty(t, r.Journal()[0].Samples)
		})
	}
}

func TestInvalidRequestsAreNotSent(t *testing.T) {
	r, got := callIn(t, server.V20251125, tool("ask", does(func(s *server.Session) {
		_, err := s.Start(make(chan int), server.Ping)
		require.ErrorIs(t, err, server.ErrInvalid)
		_, err = s.Start(server.TaskParams{TaskID: "t1"}, server.Method("tasks/forget"))
		require.ErrorContains(t, err, `the method "tasks/forget" is unknown`)
	})))
	r.expected = []string{"invalid ping", "invalid tasks/forget"}
	require.Equal(t, "done", got.text(t))
}

func TestModernRevisionsHaveNoPing(t *testing.T) {
	inCall(t, bothProtocols[1:], nothing, func(s *server.Session) {
		_, err := s.Start(nil, server.Ping)
		require.ErrorIs(t, err, server.ErrRevision)
	})
}
