package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// disconnects is a handler whose connection closes while its sample is pending.
func disconnects(s *server.Session) (any, error) {
	if err := s.Transport().Resumable(); err != nil {
		return nil, err
	}
	asked, err := s.Start(s.Ask("before"))
	if err != nil {
		return nil, err
	}
	if err := s.Transport().Disconnect(1500 * time.Millisecond); err != nil {
		return nil, err
	}
	if _, err := s.Sample(s.Ask("after")); err != nil {
		return nil, err
	}
	return asked.Wait()
}

// lines reads a stream up to its end or an empty line.
func (r *reply) lines() string {
	r.t.Helper()
	var b strings.Builder
	for {
		line, err := r.rest.ReadString('\n')
		if line == "\n" || errors.Is(err, io.EOF) {
			return b.String()
		}
		require.NoError(r.t, err)
		b.WriteString(line)
	}
}

func TestResumedStreamContinuesAfterTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", disconnects))
		c := r.legacy(sampling)
		call := c.call(1, "ask")
		require.Equal(t, "id: post-1/1\ndata: \n", call.lines())
		before := strings.TrimPrefix(call.lines(), "id: post-1/2\ndata: ")
		require.Contains(t, before, "before")
		require.Equal(t, "id: post-1/3\nretry: 1500\ndata: \n", call.lines())
		require.Empty(t, call.body(), "the connection ends without a response")

		again := c.listen("post-1/3")
		require.Equal(t, 200, again.StatusCode)
		after, found := strings.CutPrefix(again.lines(), "id: post-1/4\ndata: ")
		require.True(t, found)
		c.post(read(t, before).answer("first"))
		c.post(read(t, after).answer("second"))
		require.Equal(t, sampled("first"), again.text())

		var sent []trace.Frame
		for _, f := range r.frames(func(f *trace.Frame) bool { return f.Event != "" }) {
			sent = append(sent, trace.Frame{Stream: f.Stream, Event: f.Event, Retry: f.Retry, Resent: f.Resent,
				Closed: f.Closed, Lost: f.Lost})
		}
		require.Equal(t, []trace.Frame{
			{Stream: "post-1", Event: "post-1/1"}, {Stream: "post-1", Event: "post-1/2"},
			{Stream: "post-1", Event: "post-1/3", Retry: 1500 * time.Millisecond, Closed: true},
			{Stream: "get-1", Event: "post-1/4"}, {Stream: "get-1", Event: "post-1/5"},
		}, sent)
	})
}

func TestResentDisconnectEventDoesNotCloseAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan struct{})
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			require.NoError(t, s.Transport().Resumable())
			<-left
			require.NoError(t, s.Transport().Disconnect(0))
			<-s.Transport().Resumed()
			return s.Sample(s.Ask("?"))
		}))
		c := r.legacy(sampling)
		call := c.call(1, "ask")
		call.lines()
		require.NoError(t, call.Body.Close())
		synctest.Wait()
		close(left)
		synctest.Wait()
		again := c.listen("post-1/1")
		require.Equal(t, "id: post-1/2\ndata: \n", again.lines())
		c.post(again.next().answer("a"))
		require.Equal(t, sampled("a"), again.text())
		require.Empty(t, r.frames(func(f *trace.Frame) bool { return f.Dir == trace.ToClient && f.Closed }))
	})
}

func TestStyleAppliesToAllConnectionsOfAStream(t *testing.T) {
	tight := server.SSEStyle{NoSpaceAfterColon: true}
	for name, style := range map[string]func(s *server.Session, then func() error) error{
		"set before": func(s *server.Session, then func() error) error {
			return errors.Join(s.Transport().SetSSEStyle(tight), s.Transport().Resumable(), then())
		},
		"set after": func(s *server.Session, then func() error) error {
			return errors.Join(s.Transport().Resumable(), then(), s.Transport().SetSSEStyle(tight))
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			c := start(t, tool("say", func(s *server.Session) (any, error) {
				return "done", style(s, func() error { return s.Transport().Disconnect(0) })
			})).legacy(nothing)
			c.call(1, "say").body()
			require.True(t, strings.HasPrefix(c.listen("post-1/2").body(), "id:post-1/3\ndata:{"))
		})
	}
}

func TestOnlyMissedEventsAreSentAgain(t *testing.T) {
	for seen := range 6 {
		inBubble(t, fmt.Sprint(seen), func(t *testing.T) {
			r := start(t, tool("ask", disconnects), tool("other", always("other", nil)))
			c := r.legacy(sampling)
			whole := c.call(1, "ask").body()
			c.call(2, "other").last()
			for again := c.listen("post-1/1"); !strings.Contains(whole, `"result"`); {
				event := again.lines()
				whole += event
				if _, data, ok := strings.Cut(event, "data: "); ok && strings.Contains(data,
					"sampling/createMessage") {
					c.post(read(t, data).answer("a"))
				}
			}
			last := c.listen(fmt.Sprintf("post-1/%d", seen))
			if seen == 0 {
				require.Equal(t, 400, last.StatusCode)
				return
			}
			rest := last.body()
			for n := 1; n <= 5; n++ {
				require.Equal(t, n > seen, strings.Contains(rest, fmt.Sprintf("id: post-1/%d\n", n)),
					"event %d after %d: %s", n, seen, rest)
			}
			require.NotContains(t, rest, "other")
			resent := r.frames(func(f *trace.Frame) bool { return f.Resent })
			require.Len(t, resent, 2+5-seen, "the first reconnection also got two of the first three events again")
		})
	}
}

func TestBrokenConnectionLosesNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			require.NoError(t, s.Transport().Resumable())
			return s.Sample(s.Ask("?"))
		})).legacy(sampling)
		call := c.call(1, "ask")
		call.lines()
		require.NoError(t, call.Body.Close())
		synctest.Wait()
		require.NoError(t, c.listen("post-1/1").Body.Close())
		synctest.Wait()
		third := c.listen("post-1/1")
		c.post(third.next().answer("a"))
		require.Equal(t, sampled("a"), third.text())
	})
}

func TestStreamsThatCannotBeResumed(t *testing.T) {
	cannot := func(want error) func(s *server.Session) {
		return func(s *server.Session) {
			require.Nil(t, s.Transport().Resumed())
			require.ErrorIs(t, s.Transport().Resumable(), want)
			require.ErrorIs(t, s.Transport().Disconnect(0), want)
		}
	}
	inCall(t, bothProtocols[1:], sampling, cannot(server.ErrRevision))
	synctest.Test(t, func(t *testing.T) {
		plain := server.Tool{Name: "tool", ResponseMode: server.JSON, Handler: does(cannot(server.ErrNoStream))}
		require.Equal(t, "done", start(t, plain).legacy(sampling).call(1, "tool").text())
	})
}

func TestDisconnectNeedsAResumableStreamWithAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("tool", does(func(s *server.Session) {
			require.Nil(t, s.Transport().Resumed())
			require.ErrorIs(t, s.Transport().Disconnect(0), server.ErrNoStream)
			require.NoError(t, s.Transport().Resumable())
			require.NoError(t, s.Transport().Resumable(), "the second has no effect")
			require.NoError(t, s.Transport().Disconnect(0))
			require.ErrorIs(t, s.Transport().Disconnect(0), server.ErrNoStream)
			select {
			case <-s.Transport().Resumed():
				require.Fail(t, "the client has not reconnected")
			default:
			}
		})))
		c := r.legacy(sampling)
		require.Equal(t, "id: post-1/1\ndata: \n\nid: post-1/2\ndata: \n\n", c.call(1, "tool").body())
		require.Equal(t, 400, c.listen("post-9/1").StatusCode)
		require.Equal(t, 400, r.legacy(sampling).listen("post-1/1").StatusCode, "another session has no such stream")
	})
}

func TestCancelledCallEndsItsResumedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", disconnects)).legacy(sampling)
		c.call(1, "ask").body()
		c.post(cancels(1))
		synctest.Wait()
		require.NotContains(t, c.listen("post-1/3").body(), "result")
	})
}

func TestEndSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := func(s *server.Session) (any, error) { return "done", s.Transport().EndSession() }
		r := start(t, tool("end", end), tool("ask", ask))
		c, other := r.legacy(sampling), r.legacy(sampling)
		listening, pending := c.listen(""), c.call(1, "ask")
		pending.next()
		require.Equal(t, "done", c.call(2, "end").text())
		require.Empty(t, listening.body(), "the session's streams end")
		require.Empty(t, pending.body(), "the session's calls are abandoned")
		for _, method := range []string{"POST", "GET", "DELETE"} {
			require.Equal(t, 404, c.do(method, request(3, "tools/list", "{}")).StatusCode, method)
		}
		call := other.call(4, "ask")
		other.post(call.next().answer("a"))
		require.Equal(t, sampled("a"), call.text(), "other sessions continue")
		require.Contains(t, r.story("end"), "mark session-ended")
		r.legacy(sampling).call(5, "ask").next()
	})
}

func TestEndSessionNeedsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("end", func(s *server.Session) (any, error) { return nil, s.Transport().EndSession() }))
		require.Contains(t, r.modern(nothing).call(1, "end").text(), server.ErrRevision.Error())
		p := r.connect(server.V20251125, nothing)
		p.call(1, "end")
		require.Contains(t, p.next().text(t), server.ErrNoStream.Error())
	})
}

func TestOnGET(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waited := make(chan struct{})
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"), server.OnGETStream())
			require.ErrorIs(t, err, server.ErrNoStream)
			ctx, cancel := context.WithTimeout(s.Context(), time.Second)
			defer cancel()
			require.False(t, s.Transport().WaitForGETStream(ctx))
			close(waited)
			require.True(t, s.Transport().WaitForGETStream(s.Context()))
			_, err = s.Sample(map[string]any{"messages": 1}, server.OnGETStream())
			require.ErrorIs(t, err, server.ErrInvalid)
			return s.Sample(s.Ask("?"), server.OnGETStream())
		}), tool("modern", does(func(s *server.Session) {
			require.False(t, s.Transport().WaitForGETStream(s.Context()))
			_, err := s.Sample(s.Ask("?"), server.OnGETStream())
			require.ErrorIs(t, err, server.ErrRevision)
		})))
		r.expected = []string{"invalid sampling/createMessage"}
		c := r.legacy(sampling)
		call := c.call(1, "ask")
		<-waited
		c.post(c.listen("").next().answer("heard"))
		require.Equal(t, sampled("heard"), call.text())
		require.Equal(t, "done", r.modern(sampling).call(1, "modern").text())
	})
}

func TestUnderCallID(t *testing.T) {
	for _, id := range []string{`7`, `"seven"`} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, tool("ask", func(s *server.Session) (any, error) {
				_, err := s.Sample(s.Ask("?"), server.WithCallID())
				require.NoError(t, err)
				return s.Sample(s.Ask("again, under another id"), server.WithCallID())
			})).legacy(sampling)
			call := c.call(id, "ask")
			first := call.next()
			require.Equal(t, id, string(first.ID))
			c.post(first.answer("a"))
			second := call.next()
			require.Equal(t, "1000002", string(second.ID))
			c.post(second.answer("b"))
			last := call.last()
			require.Equal(t, id, string(last.ID))
			require.Equal(t, sampled("b"), last.text(t))
		})
	}
}
