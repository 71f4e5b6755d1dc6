package server_test

import (
	"bytes"
	"encoding/json"
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

func TestTheTraceHasTheQuestionBeforeItsAnswer(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		t.Run(string(revision), func(t *testing.T) {
			r := onLoopback(t, server.Options{}, server.Tool{Name: "twenty", Handler: func(s *server.Session) (any, error) {
				for range 20 {
					if _, err := s.Sample(s.Ask("?")); err != nil {
						return nil, err
					}
				}
				return nil, nil
			}})
			r.converse(revision, sampling, "twenty", func(string) string { return sampled("!") })
			var frames []*trace.Frame
			for _, e := range r.trace() {
				if e.Case == "twenty" && e.Frame != nil {
					frames = append(frames, e.Frame)
				}
			}
			require.Len(t, frames, 1+20*2+1) // the call, questions with their answers, the result
			for i, f := range frames {
				require.Equal(t, i%2 == 0, f.Dir == trace.FromClient, "frame %d: %s", i, f.Raw)
			}
		})
	}
}

func TestFramesAreRecordedAsTheyCameWithTheirHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always("done", nil)})
		w := r.legacy(server.V20251125, nothing)
		session := w.header.Get("Mcp-Session-Id")
		r.forget()
		call := `{ "jsonrpc":"2.0",  "id":1,"method":"tools/call","params":{"name":"tool"}, "extra":1.0 }` + "\n"
		w.post(call, "Authorization", "Bearer secret", "Accept", "application/json").last()
		events := r.trace()
		r.forget() // two frames that no request of theirs is before
		require.Len(t, events, 4)
		require.Equal(t, trace.Event{Case: "tool", Call: 1, Frame: &trace.Frame{Dir: trace.FromClient, Raw: trace.Bytes(call), Session: session,
			HTTP: &trace.HTTP{Method: "POST", Header: map[string]string{"Accept": "application/json", "Authorization": trace.Token("Bearer secret"),
				"Content-Type": "application/json", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session, "User-Agent": "Go-http-client/1.1"}}}}, events[0])
		require.Equal(t, trace.Event{Case: "tool", Call: 1, Frame: &trace.Frame{Dir: trace.ToClient, Session: session,
			Raw:  trace.Bytes(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`),
			HTTP: &trace.HTTP{Status: 200, Header: map[string]string{"Content-Type": "application/json"}}}}, events[3])
	})
}

func TestAPlantedSecretIsRecordedAsItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planted := func(text string) bool { return strings.Contains(text, "sk-planted") }
		r := inMemory(t, server.Options{Planted: planted}, server.Tool{Name: "tool", Handler: always("done", nil)})
		w := r.legacy(server.V20251125, nothing)
		r.forget()
		w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool"}}`, "Authorization", "Bearer sk-planted", "X-Debug", "key=sk-planted", "Cookie", "real").last()
		header := r.trace()[0].Frame.HTTP.Header
		r.forget()
		require.Equal(t, "Bearer sk-planted", header["Authorization"])
		require.Equal(t, "key=sk-planted", header["X-Debug"])
		require.Equal(t, trace.Token("real"), header["Cookie"])
		w.url += "?token=real&key=sk-planted"
		w.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool"}}`).last()
		address := r.trace()[0].Frame.HTTP.Address
		r.forget()
		require.Equal(t, "?key=sk-planted", address)
	})
}

func TestStreamsHaveNamesOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "send", Handler: func(s *server.Session) (any, error) { return nil, s.Send([]byte("{}")) }})
		one, other, modern := r.legacy(server.V20251125, nothing), r.legacy(server.V20251125, nothing), r.modern()
		one.do("GET", "").Body.Close()
		one.call(1, "send").next()
		other.call(1, "send").next()
		modern.callModern(1, "send", nothing, "").next()
		other.do("GET", "").Body.Close()
		synctest.Wait()
		var streams []string
		for _, e := range r.trace() {
			if e.Frame != nil && (e.Frame.Hostile || e.Frame.Closed) {
				streams = append(streams, e.Frame.Stream)
			}
		}
		require.ElementsMatch(t, []string{"get-1", "post-1", "post-2", "post-3", "get-2"}, streams)
	})
}

// brokenWriter is a client that went away without anybody noticing.
type brokenWriter struct{ header http.Header }

func (w brokenWriter) Header() http.Header       { return w.header }
func (w brokenWriter) WriteHeader(int)           {}
func (w brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// serveBroken has a request served whose response cannot be written.
func (r *rig) serveBroken(body string, headers http.Header) {
	request := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
	request.Header = headers.Clone()
	request.Header.Set("Content-Type", "application/json")
	r.Handler().ServeHTTP(brokenWriter{http.Header{}}, request)
}

func TestAClientThatIsGoneIsNoticedWhenItIsWrittenTo(t *testing.T) {
	t.Run("first era", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				_, err := s.Sample(s.Ask("?"))
				require.ErrorIs(t, err, server.ErrNoStream)
				require.NoError(t, s.Context().Err())
				return nil, err
			}}, server.Tool{Name: "quiet", Handler: always(nil, nil)})
			w := r.legacy(server.V20251125, sampling)
			r.serveBroken(request(1, "tools/call", `{"name":"ask"}`), w.header)
			r.serveBroken(request(2, "tools/call", `{"name":"quiet"}`), w.header)
			synctest.Wait()
			require.Equal(t, []string{"client tools/call", "mark handler-started", "server sampling/createMessage", "client closed", "mark handler-ended", "server result lost"}, r.story("ask"))
			require.Equal(t, []string{"client tools/call", "mark handler-started", "mark handler-ended", "server result", "client closed"}, r.story("quiet"))
		})
	})
	t.Run("second era", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
			r.serveBroken(modernCall(1, "ask", sampling, ""), http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"ask"}})
			synctest.Wait()
			require.Equal(t, []string{"client tools/call", "mark handler-started", "server input_required", "client closed", "mark handler-ended"}, r.story("ask"),
				"that is a cancel, and the play does not wait for a retry")
		})
	})
}

func TestAWriterThatCannotFlushIsNoClientThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) { return "done", s.Send([]byte("{}")) }})
		w := r.legacy(server.V20251125, nothing)
		recorded := httptest.NewRecorder()
		request := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(request(1, "tools/call", `{"name":"tool"}`)))
		request.Header = w.header.Clone()
		request.Header.Set("Content-Type", "application/json")
		r.Handler().ServeHTTP(struct{ http.ResponseWriter }{recorded}, request)
		require.Equal(t, "data: {}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n", recorded.Body.String())
		require.NotContains(t, r.story("tool"), "client closed")
	})
}

func TestAPanicOfOursIsOurProblem(t *testing.T) {
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
		r := &rig{Server: srv, t: t, http: client}
		_, err = r.bare().try(t.Context(), "POST", "{}")
		require.Error(t, err)
		require.Len(t, srv.Problems(), 1)
		require.Contains(t, srv.Problems()[0], "the server panicked: out of paper\n")
		require.Contains(t, srv.Problems()[0], "record_test.go", "the stack")
	})
}

// A client that does not read what it is sent holds up its own play and nobody else, and not Close.
func TestAClientThatDoesNotRead(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		t.Run(string(revision), func(t *testing.T) {
			ended := make(chan error, 1)
			r := onLoopback(t, server.Options{}, server.Tool{Name: "flood", Handler: func(s *server.Session) (any, error) {
				err := s.Send(make([]byte, 32<<20))
				ended <- err
				return nil, err
			}})
			w := r.legacy(server.V20251125, nothing)
			body, headers := request(1, "tools/call", `{"name":"flood"}`), "Mcp-Session-Id: "+w.header.Get("Mcp-Session-Id")
			if revision.Modern() {
				body, headers = modernCall(1, "flood", nothing, ""), "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: flood"
			}
			conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.URL, "http://"), "/mcp"))
			require.NoError(t, err)
			defer conn.Close()
			_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n\r\n%s", len(body), headers, body)
			require.NoError(t, err)
			r.until("flood", "server 33554432 bytes hostile")
			// What is written is put together after it was recorded, which takes its time on a busy machine, and cannot be broken off.
			for began, piece := []byte(nil), make([]byte, 16); !bytes.Contains(began, []byte("data: ")); began = append(began, piece...) {
				_, err = io.ReadFull(conn, piece)
				require.NoError(t, err)
			}
			require.JSONEq(t, `{}`, string(w.post(request(2, "ping", "{}")).last().Result), "others are served")
			require.NoError(t, r.Close())
			require.ErrorIs(t, <-ended, server.ErrNoStream)
			require.NotContains(t, r.story("flood"), "client closed", "it was us")
		})
	}
}

func TestProblemsAreACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) { return s.Sample(json.RawMessage(`{}`)) }})
		r.expected = []string{"samples with invalid params"}
		r.legacy(server.V20251125, sampling).call(1, "ask").last()
		r.Problems()[0] = "changed"
		require.Contains(t, r.Problems()[0], "samples with invalid params")
	})
}
