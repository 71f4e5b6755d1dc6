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

func TestResponsesComeInTheWayAskedFor(t *testing.T) {
	type kinds struct{ initialize, ping, list, unknown, tool, wrong bool } // true for a stream
	for _, c := range []struct {
		name      string
		responses server.Responses
		want      kinds
	}{
		{"auto", server.Auto, kinds{tool: true}},
		{"stream", server.SSE, kinds{true, true, true, true, true, true}},
		{"plain", server.JSON, kinds{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Responses: c.responses}, server.Tool{Name: "tool", Handler: always("done", nil)})
				w := r.legacy(server.V20251125, sampling)
				stream := func(reply *reply) bool {
					t.Helper()
					require.Equal(t, http.StatusOK, reply.StatusCode)
					is := reply.isStream()
					require.NotEmpty(t, reply.last().raw)
					return is
				}
				require.Equal(t, c.want, kinds{
					stream(r.bare().post(request(1, "initialize", initializeParams(server.V20250326, nothing)))),
					stream(w.post(request(2, "ping", "{}"))), stream(w.post(request(3, "tools/list", "{}"))), stream(w.post(request(4, "no", "{}"))),
					stream(w.call(5, "tool")), stream(w.call(6, "nobody")),
				})
				modern := r.modern()
				require.Equal(t, kinds{list: c.want.list, tool: c.want.list}, kinds{
					list: stream(modern.post(request(7, "tools/list", "{"+meta(nothing, "")+"}"), "Mcp-Method", "tools/list")),
					tool: stream(modern.callModern(8, "tool", nothing, "")),
				})
			})
		})
	}
}

func TestACallThatTakesNoStreamGetsOneOnlyIfItMust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "quiet", Handler: always(nil, nil)}, server.Tool{Name: "ask", Handler: ask})
		w := r.legacy(server.V20251125, sampling)
		w.header.Set("Accept", "application/json")
		require.False(t, w.call(1, "quiet").isStream())
		call := w.call(2, "ask")
		require.True(t, call.isStream())
		w.post(call.next().response(sampled("a")))
		call.last()
	})
}

func TestStreamsHaveTheHeadersOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always("done", nil)})
		reply := r.legacy(server.V20251125, sampling).call(1, "tool")
		require.Equal(t, "no-cache", reply.Header.Get("Cache-Control"))
		require.Equal(t, "no", reply.Header.Get("X-Accel-Buffering"))
		require.Equal(t, `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`+"\n\n", reply.body())
		var recorded []*trace.HTTP
		for _, e := range r.trace() {
			if e.Case == "tool" && e.Frame != nil && e.Frame.Dir == trace.ToClient {
				require.Equal(t, "post-1", e.Frame.Stream)
				recorded = append(recorded, e.Frame.HTTP)
			}
		}
		require.Equal(t, []*trace.HTTP{{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}}}, recorded)
	})
}

func TestWithPlainResponsesSamplesGoOutOnTheGETStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.JSON}, server.Tool{Name: "ask", Handler: ask})
		w := r.legacy(server.V20251125, sampling)
		answered := make(chan message)
		go func() { answered <- w.call(1, "ask").last() }()
		synctest.Wait()
		require.Equal(t, []string{"client tools/call", "mark handler-started"}, r.story("ask"), "the play waits for the stream")

		listening := w.do("GET", "", "Accept", "text/event-stream")
		require.True(t, listening.isStream())
		w.post(listening.next().response(sampled("heard")))
		require.Equal(t, sampled("heard"), (<-answered).call(t).text(t))
		require.Equal(t, []string{"client tools/call", "mark handler-started", "server sampling/createMessage", "client result", "mark handler-ended", "server result"}, r.story("ask"),
			"what goes out on the session's stream is the tool's all the same")
	})
}

func TestAGETStreamThatIsClosedIsWaitedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.JSON}, server.Tool{Name: "ask", Handler: ask})
		w := r.legacy(server.V20251125, sampling)
		first, second := w.do("GET", ""), w.do("GET", "")
		require.NoError(t, second.Body.Close())
		synctest.Wait()
		answered := make(chan message)
		go func() { answered <- w.call(1, "ask").last() }()
		w.post(first.next().response(sampled("on the first")))
		require.Equal(t, sampled("on the first"), (<-answered).call(t).text(t))

		require.NoError(t, first.Body.Close())
		synctest.Wait()
		go func() { answered <- w.call(2, "ask").last() }()
		synctest.Wait()
		third := w.do("GET", "")
		w.post(third.next().response(sampled("on the third")))
		require.Equal(t, sampled("on the third"), (<-answered).call(t).text(t))
		require.Equal(t, []string{"client", "client", "client closed", "client closed", "client"}, streamsOnly(r.story("")))
	})
}

// streamsOnly leaves out what has a message.
func streamsOnly(story []string) []string {
	var found []string
	for _, line := range story {
		if line = strings.TrimSpace(line); line == "client" || line == "client closed" {
			found = append(found, line)
		}
	}
	return found
}

func TestWithoutAGETStreamProgressIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.JSON}, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) {
			return nil, s.Progress(1, 2)
		}})
		w := r.legacy(server.V20251125, sampling)
		call := request(1, "tools/call", `{"name":"tool","_meta":{"progressToken":1}}`)
		require.Equal(t, "there is no stream to the client: the client has no GET stream open", w.post(call).last().call(t).text(t))
		listening := w.do("GET", "")
		require.False(t, w.post(call).last().call(t).IsError)
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":2}}`, listening.next().raw)
	})
}

func TestWithPlainResponsesACancelledPlayWaitsForNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.JSON}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"))
			require.ErrorIs(t, err, server.ErrNoStream)
			return nil, err
		}})
		w := r.legacy(server.V20251125, sampling)
		ended := make(chan string)
		go func() {
			reply := w.call(1, "ask")
			ended <- reply.Status + reply.Header.Get("Content-Type") + reply.body()
		}()
		synctest.Wait()
		w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		require.Equal(t, "200 OKtext/event-stream", <-ended, "an end without a response: neither an empty JSON body nor a broken connection")
	})
}

func TestProgressIsSentOnlyToThoseWhoAskedForIt(t *testing.T) {
	progress := func(s *server.Session) (any, error) {
		for i := range 3 {
			if err := s.Progress(float64(i)/2, float64(i)); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}
	for token, want := range map[string]string{
		``:                 "",
		`null`:             "",
		`{"a":1}`:          "",
		`[1]`:              "",
		`true`:             "",
		`"a b"`:            `"a b"`,
		`0`:                `0`,
		`9007199254740993`: `9007199254740993`,
	} {
		for _, revision := range []server.Revision{server.V20250326, server.V20251125, server.V20260728} {
			t.Run(token+" "+string(revision), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: progress})
					member := ""
					if token != "" {
						member = fmt.Sprintf(`"progressToken":%s,`, token)
					}
					var reply *reply
					if revision.Modern() {
						reply = r.modern().post(request(1, "tools/call", fmt.Sprintf(`{"name":"tool",%s}`, meta(nothing, member))), "Mcp-Method", "tools/call", "Mcp-Name", "tool")
						require.Equal(t, want != "", reply.isStream())
					} else {
						reply = r.legacy(revision, nothing).post(request(1, "tools/call", fmt.Sprintf(`{"name":"tool","_meta":{%s"a":1}}`, member)))
					}
					if want != "" {
						require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+want+`,"progress":0}}`, reply.next().raw)
						require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+want+`,"progress":0.5,"total":1}}`, reply.next().raw)
						require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+want+`,"progress":1,"total":2}}`, reply.next().raw)
					}
					require.Equal(t, "done", reply.last().call(t).text(t))
				})
			})
		}
	}
}

func TestProgressThatIsNoNumberIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) { return nil, s.Progress(math.NaN(), 0) }})
		got := r.legacy(server.V20251125, nothing).post(request(1, "tools/call", `{"name":"tool","_meta":{"progressToken":1}}`)).last()
		require.Contains(t, got.call(t).text(t), server.ErrInvalid.Error())
	})
}

func TestACancelledCallEndsWithoutAResponse(t *testing.T) {
	for _, id := range []string{`1`, `"1"`, `"a b"`} {
		synctest.Test(t, func(t *testing.T) {
			gaveUp := make(chan error, 1)
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				_, err := s.Sample(s.Ask("?"))
				_, again := s.Sample(s.Ask("still there?"))
				require.ErrorIs(t, again, context.Canceled, "nothing is asked for any more")
				gaveUp <- err
				return "too late", nil
			}})
			w := r.legacy(server.V20251125, sampling)
			call := w.call(id, "ask")
			question := call.next()
			w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`)
			synctest.Wait()
			require.Empty(t, gaveUp)
			w.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
			require.ErrorIs(t, <-gaveUp, context.Canceled)
			_, more := call.event()
			require.False(t, more)
			require.Equal(t, http.StatusAccepted, w.post(question.response(sampled("late"))).StatusCode)
			require.Equal(t, []string{"client tools/call", "mark handler-started", "server sampling/createMessage", "client notifications/cancelled", "mark handler-ended", "server closed", "client result"}, r.story("ask"))
		})
	}
}

// eagerWriter does something as soon as it sees the headers of a response.
type eagerWriter struct {
	*httptest.ResponseRecorder
	act func()
}

func (w eagerWriter) WriteHeader(status int) {
	w.ResponseRecorder.WriteHeader(status)
	w.act()
}

func TestACallCanBeCancelledAsSoonAsItsStreamIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			<-s.Context().Done()
			return nil, nil
		}})
		w := r.legacy(server.V20251125, sampling)
		call := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(request(1, "tools/call", `{"name":"ask"}`)))
		call.Header = w.header.Clone()
		call.Header.Set("Content-Type", "application/json")
		call.Header.Set("Accept", "application/json, text/event-stream")
		recorded := httptest.NewRecorder()
		r.Handler().ServeHTTP(eagerWriter{recorded, func() {
			w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		}}, call)
		require.Empty(t, recorded.Body.String())
	})
}

func TestACancelOfAnIDUsedTwiceIsForTheLatterCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		w := r.legacy(server.V20251125, sampling)
		first, second := w.call(1, "ask"), w.call(1, "ask")
		question := first.next()
		second.next()
		w.post(question.response(sampled("a")))
		require.Equal(t, sampled("a"), first.last().call(t).text(t))
		w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		_, more := second.event()
		require.False(t, more)
	})
}

func TestAClientThatHangsUpHasNotCancelledInTheFirstEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hungUp, ended := make(chan struct{}), make(chan error, 1)
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			<-hungUp
			require.NoError(t, s.Context().Err())
			_, err := s.Sample(s.Ask("?"))
			require.ErrorIs(t, err, server.ErrNoStream)
			require.False(t, server.Refused(err))
			ended <- s.Send([]byte("hostile"))
			return "nobody hears it", nil
		}})
		call := r.legacy(server.V20251125, sampling).call(1, "ask")
		synctest.Wait() // until the play has begun
		require.NoError(t, call.Body.Close())
		synctest.Wait()
		close(hungUp)
		require.ErrorIs(t, <-ended, server.ErrNoStream)
		synctest.Wait()
		require.Equal(t, []string{"client tools/call", "mark handler-started", "client closed", "server sampling/createMessage lost", `server "hostile" lost hostile`,
			"mark handler-ended", "server result lost"}, sortWords(r.story("ask")))
	})
}

// sortWords puts the words that say what is special about a frame in one order.
func sortWords(story []string) []string {
	for i, line := range story {
		story[i] = strings.Replace(line, "hostile lost", "lost hostile", 1)
	}
	return story
}

func TestAClientThatHangsUpHasCancelledInTheSecondEra(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "wait", Handler: func(s *server.Session) (any, error) {
					if stream {
						require.NoError(t, s.Send([]byte(`{}`)))
					}
					<-s.Context().Done()
					_, err := s.Sample(s.Ask("anybody?"))
					require.True(t, server.Refused(err))
					return "too late", nil
				}})
				ctx, hangUp := context.WithCancel(t.Context())
				go func() {
					synctest.Wait()
					hangUp()
				}()
				reply, err := r.modern().try(ctx, "POST", modernCall(1, "wait", sampling, ""), "Mcp-Method", "tools/call", "Mcp-Name", "wait")
				want := []string{"client tools/call", "mark handler-started", "client closed", "mark handler-ended"}
				if stream {
					require.NoError(t, err)
					_, _ = reply.rest.ReadString(0)
					want = []string{"client tools/call", "mark handler-started", `server "{}" hostile`, "client closed", "mark handler-ended"}
				} else {
					require.ErrorIs(t, err, context.Canceled)
				}
				synctest.Wait()
				require.Equal(t, want, r.story("wait"), "nothing more is sent")
			})
		})
	}
}

func TestHangingUpOnRealSockets(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		t.Run(string(revision), func(t *testing.T) {
			started, ended, release := make(chan struct{}), make(chan error, 1), make(chan struct{})
			r := onLoopback(t, server.Options{}, server.Tool{Name: "wait", Handler: func(s *server.Session) (any, error) {
				close(started)
				select {
				case <-s.Context().Done():
				case <-release:
				}
				ended <- s.Context().Err()
				return nil, nil
			}})
			ctx, hangUp := context.WithCancel(t.Context())
			if revision.Modern() {
				go func() {
					<-started
					hangUp()
				}()
				_, err := r.modern().try(ctx, "POST", modernCall(1, "wait", sampling, ""), "Mcp-Method", "tools/call", "Mcp-Name", "wait")
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, <-ended, context.Canceled)
				return
			}
			_, err := r.legacy(revision, sampling).try(ctx, "POST", request(1, "tools/call", `{"name":"wait"}`))
			require.NoError(t, err)
			<-started
			hangUp()
			r.until("wait", "client closed")
			close(release)
			require.NoError(t, <-ended)
			r.until("wait", "server result lost")
		})
	}
}
