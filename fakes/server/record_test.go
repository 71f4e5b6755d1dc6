package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestRequestIsRecordedBeforeItsResponse(t *testing.T) {
	for _, revision := range bothProtocols {
		t.Run(string(revision), func(t *testing.T) {
			r := startOnLoopback(t, server.Options{}, tool("twenty", does(func(s *server.Session) {
				for range 20 {
					_, err := s.Sample(s.Ask("?"))
					require.NoError(t, err)
				}
			})))
			r.client(revision, sampling).converse("twenty", says("!"))
			var frames []*trace.Frame
			for _, e := range r.trace() {
				if e.Case == "twenty" && e.Frame != nil {
					frames = append(frames, e.Frame)
				}
			}
			require.Len(t, frames, 1+20*2+1)
			for i, f := range frames {
				require.Equal(t, i%2 == 0, f.Dir == trace.FromClient, "frame %d: %s", i, f.Raw)
			}
		})
	}
}

func TestFramesAreRecordedWithTheirHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("tool", always("done", nil)))
		c := r.legacy(nothing)
		session := c.header.Get("Mcp-Session-Id")
		r.forget()
		call := `{ "jsonrpc":"2.0",  "id":1,"method":"tools/call","params":{"name":"tool"}, "extra":1.0 }` + "\n"
		c.post(call, "Authorization", "Bearer secret", "Accept", "application/json").last()
		events := r.trace()
		r.forget() // they are not valid without initialize
		require.Len(t, events, 4)
		headers := map[string]string{"Accept": "application/json", "Content-Type": "application/json",
			"Authorization": trace.Token("Bearer secret"), "User-Agent": "Go-http-client/1.1",
			"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
		require.Equal(t, trace.Event{Case: "tool", Call: 1, Frame: &trace.Frame{Dir: trace.FromClient, Session: session,
			Raw: trace.Bytes(call), HTTP: &trace.HTTP{Method: "POST", Header: headers}}}, events[0])
		require.Equal(t, trace.Event{Case: "tool", Call: 1, Frame: &trace.Frame{Dir: trace.ToClient, Session: session,
			Raw:  trace.Bytes(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`),
			HTTP: &trace.HTTP{Status: 200, Header: map[string]string{"Content-Type": "application/json"}}}}, events[3])
	})
}

func TestPlantedSecretIsRecordedUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planted := func(text string) bool { return strings.Contains(text, "sk-planted") }
		r := startWith(t, server.Options{IsPlantedSecret: planted}, tool("tool", always("done", nil)))
		c := r.legacy(nothing)
		r.forget()
		c.url += "?token=real&key=sk-planted"
		c.post(c.calls(1, "tool"), "Authorization", "Bearer sk-planted", "X-Debug", "key=sk-planted", "Cookie",
			"real").last()
		http := r.trace()[0].Frame.HTTP
		r.forget()
		require.Equal(t, "Bearer sk-planted", http.Header["Authorization"])
		require.Equal(t, "key=sk-planted", http.Header["X-Debug"])
		require.Equal(t, trace.Token("real"), http.Header["Cookie"])
		require.Equal(t, "?key=sk-planted", http.Address)
	})
}

func TestEachStreamHasItsOwnName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("send", func(s *server.Session) (any, error) { return nil, s.Transport().Send([]byte("{}")) }))
		one, other, modern := r.legacy(nothing), r.legacy(nothing), r.modern(nothing)
		one.listen("").Body.Close()
		one.call(1, "send").next()
		other.call(1, "send").next()
		modern.call(1, "send").next()
		other.listen("").Body.Close()
		synctest.Wait()
		var streams []string
		for _, f := range r.frames(func(f *trace.Frame) bool { return f.Hostile || f.Closed }) {
			streams = append(streams, f.Stream)
		}
		require.ElementsMatch(t, []string{"get-1", "post-1", "post-2", "post-3", "get-2"}, streams)
	})
}

// brokenWriter is a client that has disconnected unnoticed.
type brokenWriter struct{ header http.Header }

func (w brokenWriter) Header() http.Header       { return w.header }
func (w brokenWriter) WriteHeader(int)           {}
func (w brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestFailedWriteDetectsThatTheClientHasDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"))
			require.ErrorIs(t, err, server.ErrNoStream)
			require.NoError(t, s.Context().Err())
			return nil, err
		}), tool("quiet", always(nil, nil)), tool("modern", ask))
		legacy := r.legacy(sampling)
		legacy.serveTo(r, brokenWriter{http.Header{}}, 1, "ask")
		legacy.header.Set("Accept", "application/json")
		legacy.serveTo(r, brokenWriter{http.Header{}}, 2, "quiet")
		r.modern(sampling).serveTo(r, brokenWriter{http.Header{}}, 1, "modern")
		synctest.Wait()
		r.requireStory("ask", "call, start, sample, client closed, end, server result lost")
		r.requireStory("quiet", "call, start, end, server result, client closed")
		r.requireStory("modern", "call, start, input, client closed, end", "the handler does not wait for a retry")
	})
}

func TestWriterWithoutFlushIsNotADisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("tool", func(s *server.Session) (any, error) { return "done", s.Transport().Send([]byte("{}")) }))
		recorded := httptest.NewRecorder()
		r.legacy(nothing).serveTo(r, struct{ http.ResponseWriter }{recorded}, 1, "tool")
		events := "data: {}\n\ndata: " +
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}` + "\n\n"
		require.Equal(t, events, recorded.Body.String())
		require.NotContains(t, r.story("tool"), "client closed")
	})
}

func TestPanicOfTheServerIsAProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, client := network(t)
		defer client.CloseIdleConnections()
		var once atomic.Bool
		srv, err := server.Start(server.Options{Listener: listener, Record: func(trace.Event) trace.Ref {
			if !once.Swap(true) {
				panic("out of paper")
			}
			return trace.Ref{}
		}})
		require.NoError(t, err)
		defer srv.Close()
		_, err = (&rig{Server: srv, t: t, http: client}).bare().try(t.Context(), "POST", "{}")
		require.Error(t, err)
		require.Len(t, srv.Problems(), 1)
		require.Contains(t, srv.Problems()[0], "the server panicked: out of paper\n")
		require.Contains(t, srv.Problems()[0], "record_test.go", "the stack")
	})
}

// A client that does not read blocks its own handler, but no other client and not Close.
func TestClientThatDoesNotReadABody(t *testing.T) {
	for _, revision := range bothProtocols {
		t.Run(string(revision), func(t *testing.T) {
			ended := make(chan error, 1)
			r := startOnLoopback(t, server.Options{}, tool("flood", func(s *server.Session) (any, error) {
				err := s.Transport().Send(make([]byte, 32<<20))
				ended <- err
				return nil, err
			}))
			c, other := r.client(revision, nothing), r.legacy(nothing)
			headers := ""
			for name := range c.header {
				headers += name + ": " + c.header.Get(name) + "\r\n"
			}
			if revision.Modern() {
				headers += "Mcp-Method: tools/call\r\nMcp-Name: flood\r\n"
			}
			conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.URL, "http://"), "/mcp"))
			require.NoError(t, err)
			defer conn.Close()
			body := c.calls(1, "flood")
			_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"+
				"Content-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", len(body), headers, body)
			require.NoError(t, err)
			r.until("flood", "server 33554432 bytes hostile")
			// The event is built after it was recorded, and a write that has not begun cannot fail.
			for began, piece := []byte(nil),
				make([]byte, 16); !bytes.Contains(began, []byte("data: ")); began = append(began, piece...) {
				_, err = io.ReadFull(conn, piece)
				require.NoError(t, err)
			}
			require.Equal(t, fmt.Sprintf(pong, 2), other.ask(2, "ping").last().raw)
			require.NoError(t, r.Close())
			require.ErrorIs(t, <-ended, server.ErrNoStream)
			require.NotContains(t, r.story("flood"), "client closed", "the server closed the connection")
		})
	}
}
