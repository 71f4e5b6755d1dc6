package server_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestOnlyThisMachineMayComeIn(t *testing.T) {
	r := onLoopback(t, server.Options{})
	initialize := request(1, "initialize", initializeParams(server.V20251125, nothing))
	for _, c := range []struct {
		header, value string
		refused       string
	}{
		{"Host", "localhost:80", ""},
		{"Host", "LOCALHOST", ""},
		{"Host", "127.0.0.1", ""},
		{"Host", "127.1.2.3:4", ""},
		{"Host", "[::1]:80", ""},
		{"Host", "[::1]", ""},
		{"Host", "evil.example", "host evil.example is not this machine's loopback"},
		{"Host", "127.0.0.1.evil.example:80", "host 127.0.0.1.evil.example:80 is not this machine's loopback"},
		{"Host", "localhost.evil.example", "host localhost.evil.example is not this machine's loopback"},
		{"Host", "10.0.0.1:80", "host 10.0.0.1:80 is not this machine's loopback"},
		{"Origin", "http://localhost:3000", ""},
		{"Origin", "https://127.0.0.1", ""},
		{"Origin", "http://[::1]:1", ""},
		{"Origin", "http://evil.example", "origin http://evil.example is not this machine's loopback"},
		{"Origin", "http://localhost@evil.example", "origin http://localhost@evil.example is not this machine's loopback"},
		{"Origin", "null", "origin null is not this machine's loopback"},
		{"Origin", "http://[::1", "origin http://[::1 is not this machine's loopback"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "PUT"} {
			reply := r.bare().do(method, initialize, c.header, c.value)
			if c.refused == "" {
				require.NotEqual(t, http.StatusForbidden, reply.StatusCode, "%s %s", method, c.value)
				continue
			}
			require.Equal(t, http.StatusForbidden, reply.StatusCode, "%s %s", method, c.value)
			got := reply.last()
			require.Equal(t, &server.RPCError{Code: -32600, Message: c.refused}, got.Error)
			require.Nil(t, got.ID)
		}
	}
}

func TestABodyOverTheLimitIsRefused(t *testing.T) {
	r := onLoopback(t, server.Options{MaxBody: 1000})
	w := r.legacy(server.V20251125, nothing)
	fits := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	fits += strings.Repeat(" ", 1000-len(fits))
	require.Equal(t, http.StatusOK, w.post(fits).StatusCode)
	reply := w.post(fits + " ")
	require.Equal(t, http.StatusRequestEntityTooLarge, reply.StatusCode)
	require.Equal(t, &server.RPCError{Code: -32600, Message: "the body is over the limit of 1000 bytes"}, reply.last().Error)
	require.Equal(t, http.StatusOK, w.post(fits).StatusCode, "the session goes on")
}

func TestABodyThatIsNoJSONByItsTypeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}).legacy(server.V20251125, nothing)
		const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		for _, media := range []string{"application/json", "Application/JSON; charset=utf-8", "application/json ;x"} {
			require.Equal(t, http.StatusOK, w.post(ping, "Content-Type", media).StatusCode, media)
		}
		for _, media := range []string{"", "text/plain", "application/jsonl", "application/x-www-form-urlencoded"} {
			reply := w.post(ping, "Content-Type", media)
			require.Equal(t, http.StatusUnsupportedMediaType, reply.StatusCode, media)
			require.Equal(t, &server.RPCError{Code: -32600, Message: `Content-Type must be application/json, got "` + media + `"`}, reply.last().Error)
		}
	})
}

func TestWhatIsNoMessageIsRefusedAndSaysWhy(t *testing.T) {
	for body, want := range map[string]server.RPCError{
		``:        {Code: -32700, Message: "the message is not JSON"},
		`  `:      {Code: -32700, Message: "the message is not JSON"},
		`{"id":1`: {Code: -32700, Message: "the message is not JSON"},
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{}": {Code: -32700, Message: "the message is not JSON"},
		`7`:    {Code: -32600, Message: "want a JSON-RPC message, got 7"},
		`null`: {Code: -32600, Message: "want a JSON-RPC message, got null"},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: {Code: -32600, Message: "want a single JSON-RPC message, got an array"},
		`{}`:                        {Code: -32600, Message: "neither request, notification nor response: no method, result or error"},
		`{"id":1}`:                  {Code: -32600, Message: "neither request, notification nor response: no method, result or error"},
		`{"id":1,"error":null}`:     {Code: -32600, Message: "neither request, notification nor response: no method, result or error"},
		`{"id":1,"Method":"ping"}`:  {Code: -32600, Message: "neither request, notification nor response: no method, result or error"},
		`{"id":1,"method":5}`:       {Code: -32600, Message: "method must be a string, got 5"},
		`{"id":1,"method":null}`:    {Code: -32600, Message: "method must be a string, got null"},
		`{"id":null,"method":"a"}`:  {Code: -32600, Message: "id must be a string or a number, got null"},
		`{"id":true,"method":"a"}`:  {Code: -32600, Message: "id must be a string or a number, got true"},
		`{"id":[1],"method":"a"}`:   {Code: -32600, Message: "id must be a string or a number, got [1]"},
		`{"id":{"a":1},"result":1}`: {Code: -32600, Message: `id must be a string or a number, got {"a":1}`},
	} {
		t.Run(body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{})
				for _, w := range []*wire{r.legacy(server.V20251125, nothing), r.modern()} {
					reply := w.post(body)
					require.Equal(t, http.StatusBadRequest, reply.StatusCode)
					got := reply.last()
					require.Equal(t, &want, got.Error)
					require.Nil(t, got.ID)
				}
			})
		})
	}
}

func TestMethodsThatTheEndpointDoesNotHave(t *testing.T) {
	legacy, modern := []server.Revision{server.V20251125}, []server.Revision{server.V20260728}
	for _, c := range []struct {
		name, method string
		speaks       []server.Revision
		version      string
		allowed      string
	}{
		{"PUT", "PUT", legacy, "", "POST, GET, DELETE"},
		{"GET of the second era", "GET", modern, "", "POST"},
		{"DELETE of the second era", "DELETE", modern, "", "POST"},
		{"PATCH of the second era", "PATCH", modern, "", "POST"},
		{"GET of the second era, both are spoken", "GET", nil, "2026-07-28", "POST"},
		{"DELETE of the second era, both are spoken", "DELETE", nil, "2026-07-28", "POST"},
		{"PUT of the first era, both are spoken", "PUT", nil, "2025-11-25", "POST, GET, DELETE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Revisions: c.speaks})
				reply := r.bare().do(c.method, "", "Mcp-Protocol-Version", c.version)
				require.Equal(t, http.StatusMethodNotAllowed, reply.StatusCode)
				require.Equal(t, c.allowed, reply.Header.Get("Allow"))
				require.Equal(t, &server.RPCError{Code: -32600, Message: "the MCP endpoint takes " + c.allowed + ", not " + c.method}, reply.last().Error)
			})
		})
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}).bare()
		w.url += "/../.well-known/oauth-protected-resource"
		require.Equal(t, http.StatusNotFound, w.do("GET", "").StatusCode)
	})
}
