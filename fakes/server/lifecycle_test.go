package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestInitializeAgreesOnTheRevisionAskedForOrTheNewestLegacyOne(t *testing.T) {
	for _, c := range []struct {
		speaks          []server.Revision
		asked, answered server.Revision
	}{
		{nil, "2025-03-26", "2025-03-26"},
		{nil, "2025-06-18", "2025-06-18"},
		{nil, "2025-11-25", "2025-11-25"},
		{nil, "2024-11-05", "2025-11-25"},
		{nil, "2026-07-28", "2025-11-25"}, // has no initialize
		{nil, "tomorrow", "2025-11-25"},
		{[]server.Revision{server.V20250326, server.V20250618}, "2025-11-25", "2025-06-18"},
	} {
		t.Run(fmt.Sprint(c.asked, " of ", c.speaks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Revisions: c.speaks, Name: "fake"})
				reply := r.bare().post(request(1, "initialize", initializeParams(c.asked, nothing)))
				require.Equal(t, http.StatusOK, reply.StatusCode)
				require.Regexp(t, `^[\x21-\x7E]{32}$`, reply.Header.Get("Mcp-Session-Id"))
				require.JSONEq(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},
					"serverInfo":{"name":"fake","version":"1"}}}`, c.answered), reply.last().raw)
			})
		})
	}
}

func TestInitializeWithoutParamsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{})
		for body, want := range map[string]string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize"}`:               "params of initialize must be an object, got nothing",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[1]}`:  "params of initialize must be an object, got [1]",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":null}`: "params of initialize must be an object, got null",
		} {
			reply := r.bare().post(body)
			require.Equal(t, http.StatusOK, reply.StatusCode)
			require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
			require.Equal(t, &server.RPCError{Code: -32602, Message: want}, reply.last().Error)
		}
	})
}

func TestSessionsHaveIDsOfTheirOwnAndTheSameInEveryRun(t *testing.T) {
	ids := func(seed int64) (ids []string) {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{Seed: seed})
			for range 2 {
				ids = append(ids, r.legacy(server.V20251125, nothing).header.Get("Mcp-Session-Id"))
			}
		})
		return ids
	}
	first, again, other := ids(1), ids(1), ids(2)
	require.NotEqual(t, first[0], first[1])
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
}

func TestARequestNeedsASessionThatIsThere(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		id, message  string
	}{
		"missing":               {"POST", ping, []string{"Mcp-Session-Id", ""}, 400, `7`, "Mcp-Session-Id is missing: initialize comes first"},
		"unknown":               {"POST", ping, []string{"Mcp-Session-Id", "other"}, 404, `7`, "session other is unknown or has ended: initialize again"},
		"missing, notification": {"POST", `{"jsonrpc":"2.0","method":"a"}`, []string{"Mcp-Session-Id", ""}, 400, "", "Mcp-Session-Id is missing: initialize comes first"},
		"missing, GET":          {"GET", "", []string{"Mcp-Session-Id", ""}, 400, "", "Mcp-Session-Id is missing: initialize comes first"},
		"unknown, GET":          {"GET", "", []string{"Mcp-Session-Id", "other"}, 404, "", "session other is unknown or has ended: initialize again"},
		"missing, DELETE":       {"DELETE", "", []string{"Mcp-Session-Id", ""}, 400, "", "Mcp-Session-Id is missing: initialize comes first"},
		"unknown, DELETE":       {"DELETE", "", []string{"Mcp-Session-Id", "other"}, 404, "", "session other is unknown or has ended: initialize again"},
		"version":               {"POST", ping, []string{"Mcp-Protocol-Version", "2024-11-05"}, 400, `7`, `Mcp-Protocol-Version "2024-11-05" is not supported: want one of [2025-11-25 2025-06-18 2025-03-26]`},
		"version of era B":      {"POST", ping, []string{"Mcp-Protocol-Version", "2026-07-28"}, 400, `7`, `Mcp-Protocol-Version "2026-07-28" is not supported: want one of [2025-11-25 2025-06-18 2025-03-26]`},
		"version, GET":          {"GET", "", []string{"Mcp-Protocol-Version", "next"}, 400, "", `Mcp-Protocol-Version "next" is not supported: want one of [2025-11-25 2025-06-18 2025-03-26]`},
		"version, DELETE":       {"DELETE", "", []string{"Mcp-Protocol-Version", "next"}, 400, "", `Mcp-Protocol-Version "next" is not supported: want one of [2025-11-25 2025-06-18 2025-03-26]`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Revisions: []server.Revision{server.V20250326, server.V20250618, server.V20251125}})
				reply := r.legacy(server.V20251125, nothing).do(c.method, c.body, c.headers...)
				require.Equal(t, c.status, reply.StatusCode)
				got := reply.last()
				require.Equal(t, &server.RPCError{Code: -32600, Message: c.message}, got.Error)
				require.Equal(t, c.id, string(got.ID))
			})
		})
	}
}

func TestDeleteEndsTheSessionAndItsPlays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := make(chan error, 1)
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"))
			given <- err
			require.Error(t, s.Context().Err())
			return nil, err
		}})
		w := r.legacy(server.V20251125, sampling)
		call, listening := w.call(1, "ask"), w.do("GET", "")
		question := call.next()

		require.Equal(t, http.StatusNoContent, w.do("DELETE", "").StatusCode)
		require.Error(t, <-given)
		for _, stream := range []*reply{call, listening} {
			_, more := stream.event()
			require.False(t, more, "the stream goes on after the end of its session")
		}
		for method, body := range map[string]string{"POST": question.response(sampled("late")), "GET": "", "DELETE": ""} {
			require.Equal(t, http.StatusNotFound, w.do(method, body).StatusCode, method)
		}
		require.Contains(t, r.story("ask"), "server closed")
	})
}

func TestASessionOfAnotherClientIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		one, other := r.legacy(server.V20251125, sampling), r.legacy(server.V20251125, sampling)
		call := other.call(1, "ask")
		question := call.next()
		require.Equal(t, http.StatusNoContent, one.do("DELETE", "").StatusCode)
		require.Equal(t, http.StatusAccepted, other.post(question.response(sampled("still here"))).StatusCode)
		require.Contains(t, call.last().call(t).text(t), "still here")
	})
}

// ask is a play that asks for one sample and returns it.
func ask(s *server.Session) (any, error) { return s.Sample(s.Ask("what is it?")) }
