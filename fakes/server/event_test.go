package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestEventsInEveryStyle(t *testing.T) {
	const sent = `{"é": [1,"𝄞"]}`
	for name, c := range map[string]struct {
		style server.Style
		wire  string
	}{
		"plain":       {server.Style{}, "data: {\"é\": [1,\"𝄞\"]}\n\n"},
		"CRLF":        {server.Style{LineEnd: "\r\n"}, "data: {\"é\": [1,\"𝄞\"]}\r\n\r\n"},
		"CR":          {server.Style{LineEnd: "\r"}, "data: {\"é\": [1,\"𝄞\"]}\r\r"},
		"tight":       {server.Style{Tight: true}, "data:{\"é\": [1,\"𝄞\"]}\n\n"},
		"folded":      {server.Style{Folded: true}, "data: {\ndata: \"é\": [\ndata: 1,\ndata: \"𝄞\"\ndata: ]\ndata: }\n\n"},
		"extra lines": {server.Style{Extra: []string{": hello", "event: message", "x", ""}}, ": hello\nevent: message\nx\n\ndata: {\"é\": [1,\"𝄞\"]}\n\n"},
		"BOM":         {server.Style{BOM: true, LineEnd: "\r"}, "\ufeffdata: {\"é\": [1,\"𝄞\"]}\r\r"},
		"all":         {server.Style{BOM: true, LineEnd: "\r\n", Tight: true, Extra: []string{":"}, Folded: true, Piece: 1}, "\ufeff:\r\ndata:{\r\ndata:\"é\": [\r\ndata:1,\r\ndata:\"𝄞\"\r\ndata:]\r\ndata:}\r\n\r\n"},
		"by bytes":    {server.Style{Piece: 1}, "data: {\"é\": [1,\"𝄞\"]}\n\n"},
	} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			t.Run(name+" "+string(revision), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{}, server.Tool{Name: "send", Handler: func(s *server.Session) (any, error) {
						if err := s.Style(c.style); err != nil {
							return nil, err
						}
						return nil, s.Send([]byte(sent))
					}})
					var whole string
					if revision.Modern() {
						whole = r.modern().callModern(1, "send", nothing, "").body()
					} else {
						whole = r.legacy(revision, nothing).call(1, "send").body()
					}
					require.Equal(t, c.wire, whole[:min(len(c.wire), len(whole))])
					require.Equal(t, 1, strings.Count(whole, "\ufeff")+btoi(!c.style.BOM), "the mark comes once")
				})
			})
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAStyleHoldsForAllRoundsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Responses: server.SSE, Handler: func(s *server.Session) (any, error) {
			if err := s.Style(server.Style{Tight: true}); err != nil {
				return nil, err
			}
			return s.Sample(s.Ask("?"))
		}})
		w := r.modern()
		first := w.callModern(1, "ask", sampling, "").body()
		require.True(t, strings.HasPrefix(first, "data:{"), first)
		asked := read(t, strings.TrimPrefix(first, "data:")).call(t)
		var key string
		for key = range asked.InputRequests {
		}
		second := w.callModern(2, "ask", sampling, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, *asked.RequestState, key, sampled("a"))).body()
		require.True(t, strings.HasPrefix(second, "data:{"), second)
	})
}

func TestStylesThatAreNotLegal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) {
			require.ErrorIs(t, s.Style(server.Style{LineEnd: "\n\n"}), server.ErrInvalid)
			require.ErrorIs(t, s.Style(server.Style{Extra: []string{"a\rb"}}), server.ErrInvalid)
			return "done", nil
		}})
		require.Equal(t, "done", r.legacy(server.V20251125, nothing).call(1, "tool").last().call(t).text(t))
	})
}

func TestAToolMayBeAnsweredInAWayOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "plain", Responses: server.JSON, Handler: always("done", nil)},
			server.Tool{Name: "streamed", Responses: server.SSE, Handler: always("done", nil)}, server.Tool{Name: "usual", Handler: always("done", nil)})
		legacy, modern := r.legacy(server.V20251125, nothing), r.modern()
		for name, want := range map[string][2]bool{"plain": {false, false}, "streamed": {true, true}, "usual": {true, false}} {
			first, second := legacy.call(1, name), modern.callModern(1, name, nothing, "")
			require.Equal(t, http.StatusOK, first.StatusCode)
			require.Equal(t, want, [2]bool{first.isStream(), second.isStream()}, name)
		}
	})
}
