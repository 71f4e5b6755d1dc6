package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestInitializeNegotiatesALegacyRevision(t *testing.T) {
	for _, c := range []struct {
		speaks          []server.Revision
		requested, want server.Revision
	}{
		{nil, "2025-03-26", "2025-03-26"},
		{nil, "2025-06-18", "2025-06-18"},
		{nil, "2025-11-25", "2025-11-25"},
		{nil, "2024-11-05", "2025-11-25"},
		{nil, "2026-07-28", "2025-11-25"}, // has no initialize
		{nil, "tomorrow", "2025-11-25"},
		{server.AllRevisions()[:2], "2025-11-25", "2025-06-18"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{Revisions: c.speaks, Name: "fake"})
			reply := r.bare().post(dialect{revision: c.requested, capabilities: nothing}.initialize(1))
			require.Equal(t, http.StatusOK, reply.StatusCode)
			require.Regexp(t, `^[\x21-\x7E]{32}$`, reply.Header.Get("Mcp-Session-Id"))
			require.JSONEq(t, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},
				"serverInfo":{"name":"fake","version":"1"}}`, c.want), string(reply.last().Result))
		})
	}
}

func TestInitializeNeedsParams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		for params, want := range map[string]string{``: "found nothing", `,"params":[1]`: "found [1]",
			`,"params":null`: "found null"} {
			reply := r.bare().post(`{"jsonrpc":"2.0","id":1,"method":"initialize"` + params + `}`)
			require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
			reply.requireError(200, -32602, "params of initialize must be an object, "+want)
		}
	})
}

func TestSessionIDsDependOnTheSeed(t *testing.T) {
	ids := func(seed int64) (ids []string) {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{Seed: seed})
			for range 2 {
				ids = append(ids, r.legacy(nothing).header.Get("Mcp-Session-Id"))
			}
		})
		return ids
	}
	first, again, other := ids(1), ids(1), ids(2)
	require.NotEqual(t, first[0], first[1])
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
}

func TestRequestNeedsAKnownSessionAndVersion(t *testing.T) {
	for _, c := range []struct {
		header, value string
		status        int
		want          string
	}{
		{"Mcp-Session-Id", "", 400, "Mcp-Session-Id is missing"},
		{"Mcp-Session-Id", "other", 404, "session other is unknown"},
		{"Mcp-Protocol-Version", "2024-11-05", 400,
			`"2024-11-05" is not supported: expected one of [2025-11-25 2025-06-18 2025-03-26]`},
		{"Mcp-Protocol-Version", "2026-07-28", 400, `"2026-07-28" is not supported`},
	} {
		for method, id := range map[string]string{"POST": "7", "GET": "", "DELETE": ""} {
			inBubble(t, c.want+" "+method, func(t *testing.T) {
				client := startWith(t, server.Options{Revisions: server.AllRevisions()[:3]}).legacy(nothing)
				got := client.do(method, request(7, "ping", "{}"), c.header, c.value).requireError(c.status, -32600, c.want)
				require.Equal(t, id, string(got.ID))
				if method == "POST" {
					got = client.post(initialized, c.header, c.value).requireError(c.status, -32600, c.want)
					require.Nil(t, got.ID, "a notification has no id")
				}
			})
		}
	}
}

func TestDeleteEndsTheSessionAndItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		abandoned := make(chan error, 1)
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"))
			require.Equal(t, err != nil, s.Context().Err() != nil)
			abandoned <- err
			return nil, err
		}))
		c, other := r.legacy(sampling), r.legacy(sampling)
		call, listening := c.call(1, "ask"), c.listen("")
		sample := call.next()
		otherCall := other.call(1, "ask")
		otherSample := otherCall.next()

		require.Equal(t, http.StatusNoContent, c.do("DELETE", "").StatusCode)
		require.Error(t, <-abandoned)
		call.ends()
		listening.ends()
		for method, body := range map[string]string{"POST": sample.answer("late"), "GET": "", "DELETE": ""} {
			require.Equal(t, http.StatusNotFound, c.do(method, body).StatusCode, method)
		}
		require.Contains(t, r.story("ask"), "server closed")

		require.Equal(t, http.StatusAccepted, other.post(otherSample.answer("another session")).StatusCode)
		require.NoError(t, <-abandoned)
	})
}
