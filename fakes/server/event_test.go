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
		style server.SSEStyle
		wire  string
	}{
		"plain": {server.SSEStyle{}, "data: " + sent + "\n\n"},
		"CRLF":  {server.SSEStyle{LineEnd: "\r\n"}, "data: " + sent + "\r\n\r\n"},
		"CR":    {server.SSEStyle{LineEnd: "\r"}, "data: " + sent + "\r\r"},
		"tight": {server.SSEStyle{NoSpaceAfterColon: true}, "data:" + sent + "\n\n"},
		"folded": {server.SSEStyle{SplitData: true},
			"data: {\n: the message goes on\ndata: \"é\": [\ndata: 1,\ndata: \"𝄞\"\ndata: ]\ndata: }\n\n"},
		"extra lines": {server.SSEStyle{ExtraLines: []string{": hello", "event: message", "x", ""}},
			": hello\nevent: message\nx\n\ndata: " + sent + "\n\n"},
		"BOM": {server.SSEStyle{BOM: true, LineEnd: "\r"}, "\ufeffdata: " + sent + "\r\r"},
		"all": {server.SSEStyle{BOM: true, LineEnd: "\r\n", NoSpaceAfterColon: true, ExtraLines: []string{":"},
			SplitData: true, BytesPerWrite: 1},
			"\ufeff:\r\ndata:{\r\n: the message goes on\r\ndata:\"é\": [\r\ndata:1,\r\ndata:\"𝄞\"\r\ndata:]\r\ndata:}\r\n\r\n"},
		"by bytes": {server.SSEStyle{BytesPerWrite: 1}, "data: " + sent + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
				r := start(t, tool("send", func(s *server.Session) (any, error) {
					require.NoError(t, s.Transport().SetSSEStyle(c.style))
					return nil, s.Transport().Send([]byte(sent))
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
		c := start(t, server.Tool{Name: "ask", ResponseMode: server.SSE, Handler: func(s *server.Session) (any, error) {
			require.NoError(t, s.Transport().SetSSEStyle(server.SSEStyle{NoSpaceAfterColon: true}))
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
		require.ErrorIs(t, s.Transport().SetSSEStyle(server.SSEStyle{LineEnd: "\n\n"}), server.ErrInvalid)
		require.ErrorIs(t, s.Transport().SetSSEStyle(server.SSEStyle{ExtraLines: []string{"a\rb"}}), server.ErrInvalid)
	})
}

func TestResponsesOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Tool{Name: "plain", ResponseMode: server.JSON, Handler: always("done", nil)},
			server.Tool{Name: "streamed", ResponseMode: server.SSE, Handler: always("done", nil)},
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
