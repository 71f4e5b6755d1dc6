package server_test

import (
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
		"plain":  {server.Style{}, "data: " + sent + "\n\n"},
		"CRLF":   {server.Style{LineEnd: "\r\n"}, "data: " + sent + "\r\n\r\n"},
		"CR":     {server.Style{LineEnd: "\r"}, "data: " + sent + "\r\r"},
		"tight":  {server.Style{Tight: true}, "data:" + sent + "\n\n"},
		"folded": {server.Style{Folded: true}, "data: {\ndata: \"é\": [\ndata: 1,\ndata: \"𝄞\"\ndata: ]\ndata: }\n\n"},
		"extra lines": {server.Style{Extra: []string{": hello", "event: message", "x", ""}},
			": hello\nevent: message\nx\n\ndata: " + sent + "\n\n"},
		"BOM": {server.Style{BOM: true, LineEnd: "\r"}, "\ufeffdata: " + sent + "\r\r"},
		"all": {server.Style{BOM: true, LineEnd: "\r\n", Tight: true, Extra: []string{":"}, Folded: true, Piece: 1},
			"\ufeff:\r\ndata:{\r\ndata:\"é\": [\r\ndata:1,\r\ndata:\"𝄞\"\r\ndata:]\r\ndata:}\r\n\r\n"},
		"by bytes": {server.Style{Piece: 1}, "data: " + sent + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
				r := start(t, tool("send", func(s *server.Session) (any, error) {
					require.NoError(t, s.Style(c.style))
					return nil, s.Send([]byte(sent))
				}))
				whole := r.client(revision, nothing).call(1, "send").body()
				require.Equal(t, c.wire, whole[:min(len(c.wire), len(whole))])
				require.Equal(t, strings.Count(c.wire, "\ufeff"), strings.Count(whole, "\ufeff"),
					"the BOM is at the beginning only")
			})
		})
	}
}

func TestStyleAppliesToAllRoundsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, server.Tool{Name: "ask", Responses: server.SSE, Handler: func(s *server.Session) (any, error) {
			require.NoError(t, s.Style(server.Style{Tight: true}))
			return s.Sample(s.Ask("?"))
		}}).modern(sampling)
		first := c.call(1, "ask").body()
		require.True(t, strings.HasPrefix(first, "data:{"), first)
		second := c.call(2, "ask", retry(t, read(t, strings.TrimPrefix(first, "data:")), says("a"))).body()
		require.True(t, strings.HasPrefix(second, "data:{"), second)
	})
}

func TestStyleRejectsInvalidLines(t *testing.T) {
	inCall(t, bothProtocols[:1], nothing, func(s *server.Session) {
		require.ErrorIs(t, s.Style(server.Style{LineEnd: "\n\n"}), server.ErrInvalid)
		require.ErrorIs(t, s.Style(server.Style{Extra: []string{"a\rb"}}), server.ErrInvalid)
	})
}

func TestResponsesOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Tool{Name: "plain", Responses: server.JSON, Handler: always("done", nil)},
			server.Tool{Name: "streamed", Responses: server.SSE, Handler: always("done", nil)},
			tool("default", always("done", nil)))
		legacy, modern := r.legacy(nothing), r.modern(nothing)
		for name, want := range map[string][2]bool{"plain": {false, false}, "streamed": {true, true},
			"default": {true, false}} {
			first, second := legacy.call(1, name), modern.call(1, name)
			require.Equal(t, http.StatusOK, first.StatusCode)
			require.Equal(t, want, [2]bool{first.isStream(), second.isStream()}, name)
		}
	})
}
