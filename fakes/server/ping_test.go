package server_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestAPlayPingsTheClient(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(id string) string // "" answers nothing
		want   string
	}{
		"answered": {func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }, ""},
		"refused": {func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"what?"}}`
		}, "what?"},
		"in vain": {func(string) string { return "" }, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pinged := make(chan error, 1)
				r := inMemory(t, server.Options{}, server.Tool{Name: "ping", Handler: func(s *server.Session) (any, error) {
					ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
					defer cancel()
					pinged <- s.Ping(ctx)
					return "done", nil
				}})
				client := r.legacy(server.V20251125, nothing)
				stream := client.call(1, "ping")
				data, ok := stream.event()
				require.True(t, ok)
				require.Equal(t, `{"jsonrpc":"2.0","id":1000001,"method":"ping"}`, data)
				if answer := c.answer("1000001"); answer != "" {
					client.post(answer)
				}
				if err := <-pinged; c.want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.want)
				}
				stream.last()
			})
		})
	}
}

func TestThereAreNoPingsInTheSecondEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pinged := make(chan error, 1)
		r := inMemory(t, server.Options{}, server.Tool{Name: "ping", Handler: func(s *server.Session) (any, error) {
			pinged <- s.Ping(s.Context())
			return "done", nil
		}})
		r.modern().callModern(1, "ping", nothing, "").body()
		err := <-pinged
		require.True(t, errors.Is(err, server.ErrEra))
		require.ErrorContains(t, err, "a server's ping came with 2025-03-26, the client speaks 2026-07-28")
	})
}
