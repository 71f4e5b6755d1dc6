package server_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestResponsesSelectsStreamsOrJSON(t *testing.T) {
	type streams struct{ initialize, ping, list, unknown, tool, wrong bool }
	for responses, want := range map[server.ResponseMode]streams{
		server.Auto: {tool: true},
		server.SSE:  {true, true, true, true, true, true},
		server.JSON: {},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{ResponseMode: responses}, tool("tool", always("done", nil)))
			c, modern := r.legacy(sampling), r.modern(nothing)
			stream := func(reply *reply) bool {
				t.Helper()
				require.Equal(t, http.StatusOK, reply.StatusCode)
				is := reply.isStream()
				require.NotEmpty(t, reply.last().raw)
				return is
			}
			require.Equal(t, want, streams{stream(r.bare().post(c.initialize(1))), stream(c.ask(2, "ping")),
				stream(c.ask(3, "tools/list")),
				stream(c.ask(4, "no")), stream(c.call(5, "tool")), stream(c.call(6, "nobody"))})
			require.Equal(t, want.list, stream(modern.ask(7, "tools/list")))
			require.Equal(t, want.list, stream(modern.call(8, "tool")))
		})
	}
}

func TestCallWithoutAcceptGetsAStreamOnlyForMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("quiet", always(nil, nil)), tool("ask", ask)).legacy(sampling)
		c.header.Set("Accept", "application/json")
		require.False(t, c.call(1, "quiet").isStream())
		call := c.call(2, "ask")
		require.True(t, call.isStream())
		c.post(call.next().answer("a"))
		call.last()
	})
}

func TestStreamHeadersAreRecordedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("tool", always("done", nil)))
		reply := r.legacy(sampling).call(1, "tool")
		require.Equal(t, "no-cache", reply.Header.Get("Cache-Control"))
		require.Equal(t, "no", reply.Header.Get("X-Accel-Buffering"))
		require.Equal(t, `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`+"\n\n",
			reply.body())
		frames := r.frames(func(f *trace.Frame) bool { return f.Stream == "post-1" })
		require.Len(t, frames, 1)
		require.Equal(t, &trace.HTTP{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}},
			frames[0].HTTP)
	})
}

func TestWithJSONResponsesMessagesUseTheGETStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWith(t, server.Options{ResponseMode: server.JSON}, tool("ask", func(s *server.Session) (any, error) {
			require.NoError(t, s.Transport().Send([]byte("hello")))
			return s.Sample(s.Ask("?"))
		}))
		c := r.legacy(sampling)
		response := make(chan message)
		call := func(id int) {
			go func() { response <- c.call(id, "ask").last() }()
			synctest.Wait()
		}
		serve := func(stream *reply, text string) {
			t.Helper()
			data, _ := stream.event()
			require.Equal(t, "hello", data)
			c.post(stream.next().answer(text))
			require.Equal(t, sampled(text), (<-response).text(t))
		}
		call(1)
		r.requireStory("ask", "call, start", "the handler waits for the stream")
		first := c.listen("")
		serve(first, "on the first")
		r.requireStory("ask", `call, start, server "hello" hostile, sample, client result, end, server result`)

		second := c.listen("")
		require.NoError(t, second.Body.Close())
		synctest.Wait()
		call(2)
		serve(first, "on the first again")

		require.NoError(t, first.Body.Close())
		synctest.Wait()
		call(3)
		serve(c.listen(""), "on the third")
	})
}

func TestProgressDoesNotWaitForAGETStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startWith(t, server.Options{ResponseMode: server.JSON}, tool("tool", func(s *server.Session) (any, error) {
			return nil, s.Progress(1, 2, "half", "done")
		})).legacy(sampling)
		c.meta = `"progressToken":1`
		require.Contains(t, c.call(1, "tool").text(), server.ErrNoStream.Error())
		listening := c.listen("")
		require.False(t, c.call(1, "tool").last().call(t).IsError)
		require.Equal(t, `{"progressToken":1,"progress":1,"total":2,"message":"half done"}`, string(listening.next().Params))
	})
}

func TestCancelledCallWithJSONResponsesEndsAsAnEmptyStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startWith(t, server.Options{ResponseMode: server.JSON}, tool("ask", func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"))
			require.ErrorIs(t, err, server.ErrNoStream)
			return nil, err
		})).legacy(sampling)
		ended := make(chan string)
		go func() {
			reply := c.call(1, "ask")
			ended <- reply.Status + reply.Header.Get("Content-Type") + reply.body()
		}()
		synctest.Wait()
		c.post(cancels(1))
		require.Equal(t, "200 OKtext/event-stream", <-ended, "not an empty JSON body or a broken connection")
	})
}

func TestProgressNeedsAToken(t *testing.T) {
	progress := func(s *server.Session) (any, error) {
		for i := range 3 {
			require.NoError(t, s.Progress(float64(i)/2, float64(i)))
		}
		return fmt.Sprint(s.Call().ProgressToken != nil), nil
	}
	for token, valid := range map[string]bool{
		``: false, `null`: false, `{"a":1}`: false, `[1]`: false, `true`: false, `"a b"`: true, `0`: true,
		`9007199254740993`: true,
	} {
		t.Run(token, func(t *testing.T) {
			inEach(t, append(server.AllRevisions()[:1], bothProtocols...), func(t *testing.T, revision server.Revision) {
				c := start(t, tool("tool", progress)).client(revision, nothing)
				if token != "" {
					c.meta = `"progressToken":` + token
				}
				reply := c.call(1, "tool")
				if valid {
					for _, want := range []string{`"progress":0}`, `"progress":0.5,"total":1}`,
						`"progress":1,"total":2}`} {
						m := reply.next()
						require.Equal(t, "notifications/progress", m.Method)
						require.Equal(t, `{"progressToken":`+token+`,`+want, string(m.Params))
					}
				}
				require.Equal(t, !revision.Modern() || valid, reply.isStream())
				require.Equal(t, fmt.Sprint(valid), reply.text())
			})
		})
	}
}

func TestProgressRejectsNaN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("tool",
			func(s *server.Session) (any, error) { return nil, s.Progress(math.NaN(), 0) })).legacy(nothing)
		c.meta = `"progressToken":1`
		require.Contains(t, c.call(1, "tool").text(), server.ErrInvalid.Error())
	})
}

func TestCancelledCallEndsWithoutAResponse(t *testing.T) {
	for _, id := range []string{`1`, `"1"`, `"a b"`} {
		synctest.Test(t, func(t *testing.T) {
			abandoned := make(chan error, 1)
			r := start(t, tool("ask", does(func(s *server.Session) {
				_, err := s.Sample(s.Ask("?"))
				_, again := s.Sample(s.Ask("still there?"))
				require.ErrorIs(t, again, context.Canceled)
				abandoned <- err
			})))
			c := r.legacy(sampling)
			call := c.call(id, "ask")
			sample := call.next()
			c.post(cancels(`"other"`))
			synctest.Wait()
			require.Empty(t, abandoned)
			c.post(cancels(id))
			require.ErrorIs(t, <-abandoned, context.Canceled)
			call.ends()
			require.Equal(t, http.StatusAccepted, c.post(sample.answer("late")).StatusCode)
			r.requireStory("ask", "call, start, sample, client notifications/cancelled, end, server closed, client result")
		})
	}
}

// eagerWriter calls act as soon as the headers of a response are written.
type eagerWriter struct {
	*httptest.ResponseRecorder
	act func()
}

func (w eagerWriter) WriteHeader(status int) {
	w.ResponseRecorder.WriteHeader(status)
	w.act()
}

// serveTo serves a legacy call with the client's headers, and writes the response to w.
func (c *httpClient) serveTo(r *rig, w http.ResponseWriter, id int, tool string) {
	call := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(c.calls(id, tool)))
	call.Header = c.header.Clone()
	call.Header.Set("Content-Type", "application/json")
	call.Header.Set("Accept", "application/json, text/event-stream")
	for routing := c.routing(tool); len(routing) > 0; routing = routing[2:] {
		call.Header.Set(routing[0], routing[1])
	}
	r.Handler().ServeHTTP(w, call)
}

func TestCallCanBeCancelledAsSoonAsItsStreamIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait, _ := waiting()
		r := start(t, tool("wait", wait))
		c := r.legacy(sampling)
		recorded := httptest.NewRecorder()
		c.serveTo(r, eagerWriter{recorded, func() { c.post(cancels(1)) }}, 1, "wait")
		require.Empty(t, recorded.Body.String())
	})
}

func TestCancelOfADuplicateIDIsForTheLaterCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", ask)).legacy(sampling)
		first, second := c.call(1, "ask"), c.call(1, "ask")
		sample := first.next()
		second.next()
		c.post(sample.answer("a"))
		require.Equal(t, sampled("a"), first.text())
		c.post(cancels(1))
		second.ends()
	})
}

func TestLegacyClientThatDisconnectsHasNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, ended := make(chan struct{}), make(chan error, 1)
		r := start(t, tool("ask", does(func(s *server.Session) {
			<-left
			require.NoError(t, s.Context().Err())
			_, err := s.Sample(s.Ask("?"))
			require.ErrorIs(t, err, server.ErrNoStream)
			require.False(t, server.Refused(err))
			ended <- s.Transport().Send([]byte("hostile"))
		})))
		call := r.legacy(sampling).call(1, "ask")
		synctest.Wait()
		require.NoError(t, call.Body.Close())
		synctest.Wait()
		close(left)
		require.ErrorIs(t, <-ended, server.ErrNoStream)
		synctest.Wait()
		r.requireStory("ask",
			`call, start, client closed, sample lost, server "hostile" lost hostile, end, server result lost`)
	})
}

func TestModernClientThatDisconnectsHasCancelled(t *testing.T) {
	for _, stream := range []bool{false, true} {
		inBubble(t, fmt.Sprint("stream ", stream), func(t *testing.T) {
			r := start(t, tool("wait", does(func(s *server.Session) {
				if stream {
					require.NoError(t, s.Transport().Send([]byte(`{}`)))
				}
				<-s.Context().Done()
				_, err := s.Sample(s.Ask("anybody?"))
				require.True(t, server.Refused(err))
			})))
			ctx, disconnect := context.WithCancel(t.Context())
			go func() {
				synctest.Wait()
				disconnect()
			}()
			reply, err := r.modern(sampling).tryCall(ctx, 1, "wait")
			want := "call, start, client closed, end"
			if stream {
				require.NoError(t, err)
				_, _ = reply.rest.ReadString(0)
				want = `call, start, server "{}" hostile, client closed, end`
			} else {
				require.ErrorIs(t, err, context.Canceled)
			}
			synctest.Wait()
			r.requireStory("wait", want)
		})
	}
}

func TestDisconnectingOnRealSockets(t *testing.T) {
	for _, revision := range bothProtocols {
		t.Run(string(revision), func(t *testing.T) {
			started, ended, release := make(chan struct{}), make(chan error, 1), make(chan struct{})
			r := startOnLoopback(t, server.Options{}, tool("wait", does(func(s *server.Session) {
				close(started)
				select {
				case <-s.Context().Done():
				case <-release:
				}
				ended <- s.Context().Err()
			})))
			ctx, disconnect := context.WithCancel(t.Context())
			c := r.client(revision, sampling)
			go func() {
				<-started
				if revision.Modern() {
					disconnect()
				}
			}()
			_, err := c.tryCall(ctx, 1, "wait")
			if revision.Modern() {
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, <-ended, context.Canceled)
				return
			}
			require.NoError(t, err)
			<-started
			disconnect()
			r.until("wait", "client closed")
			close(release)
			require.NoError(t, <-ended)
			r.until("wait", "server result lost")
		})
	}
}
