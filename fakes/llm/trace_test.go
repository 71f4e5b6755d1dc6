package llm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

const streamed = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`

// seen records short forms of events and of a client's actions, in order.
type seen struct {
	mu     sync.Mutex
	events []string
	all    []trace.Event
	hook   func(trace.Event) // called before an event is recorded
}

func (s *seen) record(e trace.Event) trace.Ref {
	if s.hook != nil {
		s.hook(e)
	}
	line := ""
	switch {
	case e.Request != nil:
		line = fmt.Sprintf("request %d %s", e.Request.Exchange, e.Request.Dialect)
	case e.Chunk != nil:
		line = fmt.Sprintf("chunk %d", e.Chunk.Exchange)
	case e.End != nil:
		line = fmt.Sprintf("end %d status %d", e.End.Exchange, e.End.Status)
		if e.End.Stream {
			line += " stream"
		}
		if e.End.HungUp {
			line += " hung up"
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, e)
	s.events = append(s.events, line)
	return trace.Ref{}
}

func (s *seen) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, line)
}

// inMemory runs a server on an in-memory network in a bubble, and requires that no goroutine remains.
func inMemory(t *testing.T, s *seen, rules []*Rule, run func(*testing.T, *Server, *memnet.Network)) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		listener, err := network.Listen("127.0.0.1:0")
		require.NoError(t, err)
		server, err := Start(Options{Listener: listener, Record: s.record, Key: "planted"}, rules...)
		require.NoError(t, err)
		defer server.Close()
		run(t, server, network)
	})
}

func send(t *testing.T, ctx context.Context, network *memnet.Network, s *Server, body string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", s.OpenAI()+"/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer planted")
	req.Header.Set("X-Api-Key", "real")
	client := network.Client()
	t.Cleanup(client.CloseIdleConnections)
	return client.Do(req)
}

func TestTraceHasRequestChunksAndEnd(t *testing.T) {
	var s seen
	inMemory(t, &s, []*Rule{When(LastUser("hello")).Reply(Text("hi")).Times(1)},
		func(t *testing.T, server *Server, network *memnet.Network) {
			for _, body := range []string{streamed, hello, `{"model":"m","messages":[]}`} {
				resp, err := send(t, t.Context(), network, server, body)
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
			}
		})
	require.Equal(t, []string{
		"request 1 openai-chat", "chunk 1", "chunk 1", "chunk 1", "chunk 1", "end 1 status 200 stream",
		"request 2 openai-chat", "chunk 2", "end 2 status 404",
		"request 3 openai-chat", "chunk 3", "end 3 status 400",
	}, s.events)
	request := s.all[0].Request
	require.Equal(t, "POST", request.Method)
	require.Equal(t, chatPath, request.Path)
	require.Equal(t, streamed, string(request.Body))
	require.Equal(t, "Bearer planted", request.Header["Authorization"])
	require.Equal(t, trace.Token("real"), request.Header["X-Api-Key"])
	require.Equal(t, "data: [DONE]\n\n", string(s.all[4].Chunk.Data))
	require.Contains(t, s.all[8].End.Unmatched, "it matches, but has given its 1 answer")
	require.Equal(t, "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array "+
		"instead.", s.all[11].End.Refused)
	require.Empty(t, s.all[5].End.Unmatched+s.all[5].End.Refused)
}

// Recording waits until the client has read all that was written. So the client's reaction to the last byte must follow
// the end, and each chunk before a wait must arrive before the next is recorded.
func TestTraceOrderIsReproducible(t *testing.T) {
	s := seen{hook: func(trace.Event) { synctest.Wait() }}
	paced := When().Reply(Text("hi")).Pace(Pace{Token: time.Second})
	inMemory(t, &s, []*Rule{paced}, func(t *testing.T, server *Server, network *memnet.Network) {
		resp, err := send(t, t.Context(), network, server, streamed)
		require.NoError(t, err)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			for _, part := range []string{`"refusal":null}`, `"content":"hi"}`, `"delta":{}`, "data: [DONE]"} {
				if strings.Contains(lines.Text(), part) {
					s.say("client has " + part)
				}
			}
		}
	})
	require.Equal(t, []string{
		"request 1 openai-chat",
		"chunk 1", `client has "refusal":null}`,
		"chunk 1", `client has "content":"hi"}`,
		"chunk 1", `client has "delta":{}`,
		"chunk 1", "end 1 status 200 stream", "client has data: [DONE]",
	}, s.events)
}

func TestCallerHangsUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		when   func(e trace.Event, n int) bool // n counts the chunks
		want   []string
		status int
	}{
		{"before the header", func(e trace.Event, n int) bool { return e.Request != nil },
			[]string{"request 1 openai-chat", "end 1 status 0 stream hung up"}, 0},
		{"in the middle of the stream", func(e trace.Event, n int) bool { return n == 2 },
			[]string{"request 1 openai-chat", "chunk 1", "chunk 1", "end 1 status 200 stream hung up"}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s seen
			inMemory(t, &s, []*Rule{When().Reply(Text("a text of several fragments"))},
				func(t *testing.T, server *Server, network *memnet.Network) {
					ctx, cancel := context.WithCancel(t.Context())
					chunks, noticed := 0, make(chan struct{})
					s.hook = func(e trace.Event) {
						if e.Chunk != nil {
							chunks++
						}
						if c.when(e, chunks) && ctx.Err() == nil {
							cancel()
							synctest.Wait() // until the server notices
							close(noticed)
						}
					}
					resp, err := send(t, ctx, network, server, streamed)
					if err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
					}
					require.ErrorIs(t, err, context.Canceled)
					<-noticed
					synctest.Wait()
					x := server.Journal()[0]
					require.True(t, x.HungUp)
					require.Equal(t, c.status, x.Status)
					require.False(t, x.Ended.IsZero())
				})
			require.Equal(t, c.want, s.events)
		})
	}
}

func TestCallerHangsUpDuringItsRequest(t *testing.T) {
	var s seen
	inMemory(t, &s, nil, func(t *testing.T, server *Server, network *memnet.Network) {
		conn, err := network.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
		require.NoError(t, err)
		_, err = io.WriteString(conn, "POST /native HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"messages\":")
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, conn.(interface{ CloseWrite() error }).CloseWrite())
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Empty(t, answer, "there is no answer to half a request")
		require.NoError(t, conn.Close())
		x := server.Journal()[0]
		require.True(t, x.HungUp)
		require.Equal(t, `{"messages":`, string(x.Body))
	})
	require.Equal(t, []string{"request 1 native", "end 1 status 0 hung up"}, s.events)
}

// brokenWriter is the connection of a caller who left unnoticed.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestUnwrittenLastChunkCorrectsTheEnd(t *testing.T) {
	var s seen
	server := start(t, Options{Record: s.record}, When().Reply())
	server.Handler().ServeHTTP(brokenWriter{httptest.NewRecorder()},
		httptest.NewRequest("POST", "http://localhost"+chatPath, strings.NewReader(hello)))
	require.Equal(t, []string{"request 1 openai-chat", "chunk 1", "end 1 status 200", "end 1 status 200 hung up"},
		s.events)
	require.True(t, server.Journal()[0].HungUp)
}

func TestCloseEndsExchangesInFlight(t *testing.T) {
	var s seen
	inMemory(t, &s, []*Rule{When().Reply(Text("hi"))}, func(t *testing.T, server *Server, network *memnet.Network) {
		held, closed := make(chan struct{}), make(chan struct{})
		s.hook = func(e trace.Event) {
			if e.Chunk != nil {
				s.hook = nil
				close(held)
				synctest.Wait() // until Close waits for this exchange
			}
		}
		go func() {
			<-held
			server.Close()
			close(closed)
		}()
		resp, err := send(t, t.Context(), network, server, streamed)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		require.Error(t, err)
		<-closed
		x := server.Journal()[0]
		require.True(t, x.Closed)
		require.False(t, x.HungUp, "the caller would have listened")
		_, err = send(t, t.Context(), network, server, hello)
		require.ErrorAs(t, err, new(*net.OpError))
	})
}
