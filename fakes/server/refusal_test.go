package server_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestOnlyLoopbackHostsAndOriginsAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t).bare()
		for _, c2 := range []struct {
			header  string
			allowed bool
			values  []string
		}{
			{"Host", true, []string{"localhost:80", "LOCALHOST", "127.0.0.1", "127.1.2.3:4", "[::1]:80", "[::1]"}},
			{"Host", false, []string{"evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "10.0.0.1:80"}},
			{"Origin", true, []string{"http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"}},
			{"Origin", false, []string{"http://evil.example", "http://localhost@evil.example", "null", "http://[::1"}},
		} {
			for _, value := range c2.values {
				for _, method := range []string{"POST", "GET", "DELETE", "PUT"} {
					reply := c.do(method, dialect{revision: server.V20251125, capabilities: nothing}.initialize(1),
						c2.header, value)
					if c2.allowed {
						require.NotEqual(t, http.StatusForbidden, reply.StatusCode, "%s %s", method, value)
						continue
					}
					require.Nil(t, reply.requireError(403, -32600, strings.ToLower(c2.header)+" "+value).ID)
				}
			}
		}
	})
}

func TestBodyOverTheLimitIsRefused(t *testing.T) {
	c := startOnLoopback(t,
		server.Options{MaxBody: 1000}).legacy(nothing) // in a bubble, net/http would outlive the test
	fits := request(1, "ping", "{}")
	fits += strings.Repeat(" ", 1000-len(fits))
	require.Equal(t, http.StatusOK, c.post(fits).StatusCode)
	c.post(fits+" ").requireError(413, -32600, "1000 bytes")
	require.Equal(t, http.StatusOK, c.post(fits).StatusCode, "the session continues")
}

func TestContentTypeMustBeJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t).legacy(nothing)
		ping := request(1, "ping", "{}")
		for _, media := range []string{"application/json", "Application/JSON; charset=utf-8", "application/json ;x"} {
			require.Equal(t, http.StatusOK, c.post(ping, "Content-Type", media).StatusCode, media)
		}
		for _, media := range []string{"", "text/plain", "application/jsonl", "application/x-www-form-urlencoded"} {
			c.post(ping, "Content-Type", media).requireError(415, -32600, `found "`+media+`"`)
		}
	})
}

func TestInvalidMessageIsRefused(t *testing.T) {
	for want, bodies := range map[string][]string{
		"not JSON":                  {``, `  `, `{"id":1`, request(1, "ping", "{}") + "\n{}"},
		"found 7":                   {`7`},
		"found null":                {`null`, `{"id":1,"method":null}`, `{"id":null,"method":"a"}`},
		"found an array":            {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		"error are missing":         {`{}`, `{"id":1}`, `{"id":1,"error":null}`, `{"id":1,"Method":"ping"}`},
		"method must be a string":   {`{"id":1,"method":5}`},
		"id must be a string or a ": {`{"id":true,"method":"a"}`, `{"id":[1],"method":"a"}`, `{"id":{"a":1},"result":1}`},
	} {
		t.Run(want, func(t *testing.T) {
			inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
				c := start(t).client(revision, nothing)
				code := -32600
				if want == "not JSON" {
					code = -32700
				}
				for _, body := range bodies {
					require.Nil(t, c.post(body).requireError(400, code, want).ID)
				}
			})
		})
	}
}

func TestUnsupportedHTTPMethodIsNotAllowed(t *testing.T) {
	for allowed, cases := range map[string][]struct {
		method  string
		speaks  []server.Revision
		version string
	}{
		"POST, GET, DELETE": {{"PUT", bothProtocols[:1], ""}, {"PUT", nil, "2025-11-25"}},
		"POST": {{"GET", bothProtocols[1:], ""}, {"DELETE", bothProtocols[1:], ""}, {"PATCH", bothProtocols[1:], ""},
			{"GET", nil, "2026-07-28"}, {"DELETE", nil, "2026-07-28"}},
	} {
		for _, c := range cases {
			synctest.Test(t, func(t *testing.T) {
				reply := startWith(t, server.Options{Revisions: c.speaks}).bare().do(c.method, "",
					"Mcp-Protocol-Version", c.version)
				require.Equal(t, allowed, reply.Header.Get("Allow"))
				reply.requireError(405, -32600, "takes "+allowed+", not "+c.method)
			})
		}
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t).bare()
		c.url += "/../.well-known/oauth-protected-resource"
		require.Equal(t, http.StatusNotFound, c.do("GET", "").StatusCode)
	})
}
