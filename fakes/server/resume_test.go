package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// interrupted is a play whose stream is closed while its sample is pending.
func interrupted(s *server.Session) (any, error) {
	if err := s.Resumable(); err != nil {
		return nil, err
	}
	asked, err := s.Start(s.Ask("before"))
	if err != nil {
		return nil, err
	}
	if err := s.Disconnect(1500 * time.Millisecond); err != nil {
		return nil, err
	}
	if _, err := s.Sample(s.Ask("after")); err != nil {
		return nil, err
	}
	return asked.Answer()
}

// raw is what is left of a stream, up to an end or an empty line.
func (r *reply) lines() string {
	r.t.Helper()
	var b strings.Builder
	for {
		line, err := r.line()
		if line == "" {
			return b.String()
		}
		require.NoError(r.t, err)
		b.WriteString(line + "\n")
	}
}

func TestAStreamGoesOnWhereItsClientCameToAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: interrupted})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		require.Equal(t, "id: post-1/1\ndata: \n", call.lines(), "an event that primes the client")
		before := strings.TrimPrefix(call.lines(), "id: post-1/2\ndata: ")
		require.Contains(t, before, "before")
		require.Equal(t, "id: post-1/3\nretry: 1500\ndata: \n", call.lines())
		require.Empty(t, call.body(), "the connection ends without a response")

		again := w.do("GET", "", "Last-Event-Id", "post-1/3")
		require.Equal(t, 200, again.StatusCode)
		after := again.lines()
		require.True(t, strings.HasPrefix(after, "id: post-1/4\ndata: "), "what was seen is not sent again: %s", after)
		w.post(read(t, before).response(sampled("first")))
		w.post(read(t, strings.TrimPrefix(after, "id: post-1/4\ndata: ")).response(sampled("second")))
		require.Equal(t, sampled("first"), again.last().call(t).text(t))

		var told []trace.Frame
		for _, e := range r.trace() {
			if f := e.Frame; e.Case == "ask" && f != nil && f.Dir == trace.ToClient {
				told = append(told, trace.Frame{Stream: f.Stream, Event: f.Event, Retry: f.Retry, Resent: f.Resent, Closed: f.Closed, Lost: f.Lost})
			}
		}
		require.Equal(t, []trace.Frame{
			{Stream: "post-1", Event: "post-1/1"}, {Stream: "post-1", Event: "post-1/2"},
			{Stream: "post-1", Event: "post-1/3", Retry: 1500 * time.Millisecond, Closed: true},
			{Stream: "get-1", Event: "post-1/4"}, {Stream: "get-1", Event: "post-1/5"},
		}, told)
	})
}

func TestOnlyTheConnectionThatEndsIsSaidToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hungUp := make(chan struct{})
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			if err := s.Resumable(); err != nil {
				return nil, err
			}
			<-hungUp
			if err := s.Disconnect(0); err != nil {
				return nil, err
			}
			<-s.Resumed()
			return s.Sample(s.Ask("?"))
		}})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		call.lines()
		require.NoError(t, call.Body.Close())
		synctest.Wait()
		close(hungUp)
		synctest.Wait()
		again := w.do("GET", "", "Last-Event-Id", "post-1/1")
		require.Equal(t, "id: post-1/2\ndata: \n", again.lines(), "the event that was to end the other connection")
		w.post(again.next().response(sampled("a")))
		require.Equal(t, sampled("a"), again.last().call(t).text(t))
		for _, e := range r.trace() {
			if f := e.Frame; f != nil && f.Dir == trace.ToClient {
				require.False(t, f.Closed, "%+v", f)
			}
		}
	})
}

func TestAStyleHoldsForAllConnectionsOfAStream(t *testing.T) {
	for name, style := range map[string]func(s *server.Session, then func() error) error{
		"set before": func(s *server.Session, then func() error) error {
			return errors.Join(s.Style(server.Style{Tight: true}), s.Resumable(), then())
		},
		"set meanwhile": func(s *server.Session, then func() error) error {
			return errors.Join(s.Resumable(), then(), s.Style(server.Style{Tight: true}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "say", Handler: func(s *server.Session) (any, error) {
					return "done", style(s, func() error { return s.Disconnect(0) })
				}})
				w := r.legacy(server.V20251125, nothing)
				w.call(1, "say").body()
				require.True(t, strings.HasPrefix(w.do("GET", "", "Last-Event-Id", "post-1/2").body(), "id:post-1/3\ndata:{"))
			})
		})
	}
}

func TestOnlyWhatWasNotSeenIsSentAgain(t *testing.T) {
	for seen := range 6 {
		t.Run(fmt.Sprint(seen), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: interrupted}, server.Tool{Name: "other", Handler: always("other", nil)})
				w := r.legacy(server.V20251125, sampling)
				whole := w.call(1, "ask").body()
				w.call(2, "other").last()
				answers := func(reply *reply) {
					for !strings.Contains(whole, `"result"`) {
						line := reply.lines()
						whole += line
						if _, data, ok := strings.Cut(line, "data: "); ok && strings.Contains(data, "sampling/createMessage") {
							w.post(read(t, data).response(sampled("a")))
						}
					}
				}
				answers(w.do("GET", "", "Last-Event-Id", "post-1/1"))
				if seen == 0 {
					require.Equal(t, 400, w.do("GET", "", "Last-Event-Id", "post-1/0").StatusCode)
					return
				}
				rest := w.do("GET", "", "Last-Event-Id", fmt.Sprintf("post-1/%d", seen)).body()
				for n := 1; n <= 5; n++ {
					require.Equal(t, n > seen, strings.Contains(rest, fmt.Sprintf("id: post-1/%d\n", n)), "event %d after %d: %s", n, seen, rest)
				}
				require.NotContains(t, rest, "other")
				again := 0
				for _, e := range r.trace() {
					if e.Frame != nil && e.Frame.Resent {
						again++
					}
				}
				require.Equal(t, 2+5-seen, again, "of the first three events, two came twice with the first return")
			})
		})
	}
}

func TestAConnectionThatBreaksLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			if err := s.Resumable(); err != nil {
				return nil, err
			}
			return s.Sample(s.Ask("?"))
		}})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		call.lines()
		require.NoError(t, call.Body.Close())
		synctest.Wait()
		again := w.do("GET", "", "Last-Event-Id", "post-1/1")
		require.NoError(t, again.Body.Close())
		synctest.Wait()
		third := w.do("GET", "", "Last-Event-Id", "post-1/1")
		question := third.next()
		w.post(question.response(sampled("a")))
		require.Equal(t, sampled("a"), third.last().call(t).text(t))
	})
}

func TestStreamsThatCannotBeResumed(t *testing.T) {
	for name, c := range map[string]struct {
		options server.Options
		open    func(r *rig) *wire
		want    error
	}{
		"plain responses": {server.Options{Responses: server.JSON}, func(r *rig) *wire { return r.legacy(server.V20251125, sampling) }, server.ErrNoStream},
		"not asked for":   {server.Options{}, func(r *rig) *wire { return r.legacy(server.V20251125, sampling) }, nil},
		"the second era":  {server.Options{}, (*rig).modern, server.ErrEra},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, c.options, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) {
					require.Nil(t, s.Resumed())
					if c.want == nil {
						require.ErrorIs(t, s.Disconnect(0), server.ErrNoStream, "nobody has made it resumable")
						require.NoError(t, s.Resumable())
						require.NoError(t, s.Resumable(), "once is enough")
						require.NoError(t, s.Disconnect(0))
						require.ErrorIs(t, s.Disconnect(0), server.ErrNoStream, "there is no connection left")
						select {
						case <-s.Resumed():
							require.Fail(t, "nobody came back")
						default:
						}
						return "done", nil
					}
					require.ErrorIs(t, s.Resumable(), c.want)
					require.ErrorIs(t, s.Disconnect(0), c.want)
					return "done", nil
				}})
				w := c.open(r)
				if w.header.Get("Mcp-Session-Id") == "" {
					w.callModern(1, "tool", nothing, "").last()
					return
				}
				whole := w.call(1, "tool").body()
				if c.want == nil {
					require.Equal(t, "id: post-1/1\ndata: \n\nid: post-1/2\ndata: \n\n", whole)
					require.Equal(t, 400, w.do("GET", "", "Last-Event-Id", "post-9/1").StatusCode)
					require.Equal(t, 400, r.legacy(server.V20251125, sampling).do("GET", "", "Last-Event-Id", "post-1/1").StatusCode, "another session's")
				}
			})
		})
	}
}

func TestACancelledCallsStreamEndsForTheOneWhoComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: interrupted})
		w := r.legacy(server.V20251125, sampling)
		w.call(1, "ask").body()
		w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		require.NotContains(t, w.do("GET", "", "Last-Event-Id", "post-1/3").body(), "result")
	})
}

func TestASessionThatTheServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) { return "done", s.EndSession() }},
			server.Tool{Name: "ask", Handler: ask})
		w, other := r.legacy(server.V20251125, sampling), r.legacy(server.V20251125, sampling)
		listening, pending := w.do("GET", ""), w.call(1, "ask")
		pending.next()
		require.Equal(t, "done", w.call(2, "end").last().call(t).text(t), "the call itself is answered")
		require.Empty(t, listening.body(), "its streams end")
		require.Empty(t, pending.body(), "its calls are given up")
		for _, method := range []string{"POST", "GET", "DELETE"} {
			require.Equal(t, 404, w.do(method, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`).StatusCode, method)
		}
		call := other.call(4, "ask")
		other.post(call.next().response(sampled("a")))
		require.Equal(t, sampled("a"), call.last().call(t).text(t), "other sessions go on")
		require.Contains(t, r.story("end"), "mark session-ended")

		call = r.legacy(server.V20251125, sampling).call(5, "ask")
		call.next()
	})
}

func TestWhoHasNoSessionEndsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got error
		r := inMemory(t, server.Options{}, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) {
			got = s.EndSession()
			return nil, nil
		}})
		r.modern().callModern(1, "end", nothing, "").last()
		require.ErrorIs(t, got, server.ErrEra)
	})
}

func TestASampleOnTheGETStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waited := make(chan struct{})
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			_, err := s.Sample(server.OnGET(s.Ask("?")))
			require.ErrorIs(t, err, server.ErrNoStream)
			ctx, cancel := context.WithTimeout(s.Context(), time.Second)
			defer cancel()
			require.False(t, s.Listens(ctx))
			close(waited)
			require.True(t, s.Listens(s.Context()))
			_, err = s.Sample(server.OnGET(map[string]any{"messages": 1}))
			require.ErrorIs(t, err, server.ErrInvalid)
			return s.Sample(server.OnGET(s.Ask("?")))
		}})
		r.expected = []string{"samples with invalid params"}
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		<-waited
		listening := w.do("GET", "")
		w.post(listening.next().response(sampled("heard")))
		require.Equal(t, sampled("heard"), call.last().call(t).text(t))
	})
}

func TestASampleUnderTheIDOfTheCall(t *testing.T) {
	for _, id := range []string{`7`, `"seven"`} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				if _, err := s.Sample(server.UnderCallID(s.Ask("?"))); err != nil {
					return nil, err
				}
				return s.Sample(server.UnderCallID(server.UnderCallID(s.Ask("once more, under an id of the server's own"))))
			}})
			w := r.legacy(server.V20251125, sampling)
			call := w.call(id, "ask")
			question := call.next()
			require.Equal(t, id, string(question.ID))
			w.post(question.response(sampled("a")))
			question = call.next()
			require.Equal(t, "1000002", string(question.ID), "no request has the id of another one")
			w.post(question.response(sampled("b")))
			last := call.last()
			require.Equal(t, id, string(last.ID))
			require.Equal(t, sampled("b"), last.call(t).text(t))
		})
	}
}

func TestARequestThatIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			p, err := s.Start(s.Ask("?"))
			if err != nil {
				return nil, err
			}
			if err := s.Repeat(p); s.Revision().Modern() {
				require.ErrorIs(t, err, server.ErrEra)
			} else {
				require.NoError(t, err)
			}
			return p.Answer()
		}})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		first, second := call.next(), call.next()
		require.Equal(t, first.raw, second.raw)
		w.post(first.response(sampled("a")))
		require.Equal(t, sampled("a"), call.last().call(t).text(t))
		w.post(first.response(sampled("again")))
		require.Len(t, hostileFrames(r), 1)

		r.modern().callModern(2, "ask", sampling, "").last()
	})
}
