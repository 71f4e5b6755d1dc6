package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// askTogether asks two samples in one batch, and tells what came of them.
func askTogether(s *server.Session) (any, error) {
	asked, err := s.StartBatch(s.Ask("One?"), s.Ask("Two?"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, one := range asked {
		answer, err := one.Answer()
		all = append(all, fmt.Sprintf("%s %s %v", one.ID(), answer, err))
	}
	return strings.Join(all, "\n"), nil
}

// takenApart are the messages of a batch.
func takenApart(t *testing.T, raw string) []message {
	t.Helper()
	var batch []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(raw), &batch), raw)
	var all []message
	for _, one := range batch {
		all = append(all, loosely(one))
	}
	return all
}

func TestSamplesInABatchGoOutAsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: askTogether})
		p := r.lines(server.V20250326, sampling)
		p.send(callOf(1, "ask"))
		line, err := p.rest.ReadString('\n')
		require.NoError(t, err)
		asked := takenApart(t, line)
		require.Len(t, asked, 2)
		p.send("[" + asked[1].response(sampled("two")) + "," + asked[0].response(sampled("one")) + "]")
		text := p.next().call(t).text(t)
		require.Regexp(t, `(?s)^`+string(asked[0].ID)+` .*"one".*\n`+string(asked[1].ID)+` .*"two"`, text)
		require.Equal(t, []string{"client tools/call", "mark handler-started", "mark batch", "server sampling/createMessage", "server sampling/createMessage",
			"client result", "client result", "mark handler-ended", "server result"}, r.story("ask"))
	})
}

func TestSamplesInABatchGoOutAsOneEvent(t *testing.T) {
	for _, responses := range []server.Responses{server.Auto, server.JSON} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{Responses: responses}, server.Tool{Name: "ask", Handler: askTogether})
			w := r.legacy(server.V20250326, sampling)
			stream := w.do(http.MethodGet, "", "Accept", "text/event-stream")
			if responses == server.Auto {
				stream = w.post(callOf(1, "ask"))
			} else {
				answered := make(chan struct{})
				go func() {
					defer close(answered)
					w.post(callOf(1, "ask"))
				}()
				defer func() { <-answered }()
			}
			batch, ok := stream.event()
			require.True(t, ok)
			asked := takenApart(t, batch)
			require.Len(t, asked, 2)
			answer := w.post("[" + asked[1].response(sampled("two")) + "," + asked[0].response(sampled("one")) + "]")
			require.Equal(t, http.StatusAccepted, answer.StatusCode)
			r.until("ask", "mark handler-ended")
			require.Contains(t, r.story("ask"), "mark batch")
			require.Contains(t, r.story(""), "mark batch")
		})
	}
}

func TestOnly20250326HasBatches(t *testing.T) {
	for _, revision := range []server.Revision{server.V20250618, server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				_, err := s.StartBatch(s.Ask("One?"))
				require.ErrorIs(t, err, server.ErrEra)
				return "done", nil
			}})
			if revision.Modern() {
				p := r.pipe(t.Context())
				p.send(modernCall(1, "ask", sampling, ""))
				require.Contains(t, p.next().raw, "done")
				return
			}
			w := r.legacy(revision, sampling)
			require.Contains(t, w.post(callOf(1, "ask")).last().raw, "done")
			refused := w.post("[" + request(2, "ping", "{}") + "]")
			require.Equal(t, http.StatusBadRequest, refused.StatusCode)
			require.Contains(t, refused.last().raw, "want a single JSON-RPC message, got an array")
		})
	}
}

func TestABatchThatCannotBeSentIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			_, err := s.StartBatch(s.Ask("One?"), s.Ask("Two?"))
			require.ErrorIs(t, err, server.ErrUndeclared)
			return "done", nil
		}})
		p := r.lines(server.V20250326, nothing)
		p.send(callOf(1, "ask"))
		require.Contains(t, p.next().call(t).text(t), "done")
	})
}

func TestAPostedBatchIsAnsweredOnOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always("done", nil)})
		w := r.legacy(server.V20250326, nothing)
		before := len(r.story(""))
		reply := w.post("[" + request(1, "ping", "{}") + `,7,{"jsonrpc":"2.0","method":"notifications/no"},` + callOf(2, "tool") + "," +
			request(3, "initialize", initializeParams(server.V20250326, nothing)) + "]")
		require.Equal(t, http.StatusOK, reply.StatusCode)
		require.Equal(t, "text/event-stream", reply.Header.Get("Content-Type"))
		said := map[string]string{}
		for {
			event, more := reply.event()
			if !more {
				break
			}
			m := loosely([]byte(event))
			said[string(m.ID)] = m.raw
		}
		require.Len(t, said, 4)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, said["1"])
		require.Contains(t, said["2"], "done")
		require.Contains(t, said["3"], "initialize is no part of a batch")
		require.Contains(t, said[""], "want a JSON-RPC message, got 7")
		require.Equal(t, "mark batch", r.story("")[before])
		require.Contains(t, r.story(""), "client notifications/no")
		require.Equal(t, []string{"client tools/call", "mark handler-started", "mark handler-ended", "server result"}, r.story("tool"))
	})
}

func TestAPostedBatchIsAnsweredInOneArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.JSON})
		w := r.legacy(server.V20250326, nothing)
		reply := w.post("[" + request(1, "ping", "{}") + "," + request(2, "tools/list", "{}") + "]")
		require.Equal(t, "application/json", reply.Header.Get("Content-Type"))
		require.Len(t, takenApart(t, reply.body()), 2)
	})
}

func TestClosingTheServerBreaksOffAPostedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		r := inMemory(t, server.Options{}, server.Tool{Name: "wait", Handler: func(s *server.Session) (any, error) {
			close(begun)
			<-s.Context().Done()
			return "too late", nil
		}})
		w := r.legacy(server.V20250326, nothing)
		go func() {
			<-begun
			_ = r.Close()
		}()
		reply, err := w.try(t.Context(), http.MethodPost, "["+request(1, "ping", "{}")+","+callOf(2, "wait")+"]")
		if err == nil {
			_, err = io.ReadAll(reply.rest)
		}
		require.Error(t, err, "what is cut off must not look whole")
	})
}

func TestAServerThatEndsIsSeenToEnd(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) {
				require.True(t, s.OverStdio())
				require.ErrorIs(t, s.Log("nobody listens"), server.ErrNoStream, "this connection has no standard error")
				require.NoError(t, s.HangUp())
				<-s.Context().Done()
				require.NoError(t, s.HangUp(), "which changes nothing")
				return "too late", nil
			}})
			var p *pipe
			if revision.Modern() {
				p = r.pipe(t.Context())
				p.send(modernCall(1, "end", sampling, ""))
			} else {
				p = r.lines(revision, sampling)
				p.send(callOf(1, "end"))
			}
			p.ends()
			<-p.over
			r.until("end", "mark handler-ended")
			var ends []trace.Frame
			for _, e := range r.trace() {
				if e.Frame != nil && e.Frame.Closed {
					ends = append(ends, *e.Frame)
				}
			}
			require.Equal(t, []trace.Frame{{Dir: trace.ToClient, Session: "conn-1", Closed: true, Hostile: true}}, ends, "it was meant, and the client did not end anything")
		})
	}
}

func TestOverHTTPThereIsNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) {
			require.False(t, s.OverStdio())
			require.ErrorIs(t, s.Log("nobody listens"), server.ErrNoStream)
			require.ErrorIs(t, s.HangUp(), server.ErrNoStream)
			return "done", nil
		}})
		require.Contains(t, r.legacy(server.V20251125, nothing).post(callOf(1, "end")).last().raw, "done")
	})
}

func TestAServerOfTheFirstEraMayTellItsVersions(t *testing.T) {
	for _, tells := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{Revisions: []server.Revision{server.V20250618, server.V20251125}, TellsVersions: tells}, server.Tool{Name: "ask", Handler: ask})
			p := r.pipe(t.Context())
			want := `"code":-32600,"message":"initialize comes first"`
			if tells {
				want = `"code":-32022,"message":"unsupported protocol version: this server speaks [2025-11-25 2025-06-18]","data":{"requested":"2026-07-28","supported":["2025-11-25","2025-06-18"]}`
			}
			for id, line := range []string{request(0, "server/discover", "{"+meta(sampling, "")+"}"), modernCall(1, "ask", sampling, "")} {
				p.send(line)
				require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{%s}}`, id, want), p.next().raw)
			}
			p.send(request(2, "initialize", initializeParams(server.V20251125, sampling)))
			require.Contains(t, p.next().raw, `"protocolVersion":"2025-11-25"`, "and is spoken to as ever")
			r.forget()
		})
	}
}

// lingering is a connection to a process that takes its time to end behind it.
type lingering struct {
	io.ReadWriteCloser
	gone <-chan struct{}
}

func (l lingering) Gone() <-chan struct{} { return l.gone }

func TestAServerThatEndsTakesItsProcessWithIt(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			gone, took := make(chan struct{}), make(chan time.Duration, 1)
			r := inMemory(t, server.Options{}, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) {
				began := time.Now()
				timer := time.AfterFunc(after, func() { close(gone) })
				defer timer.Stop()
				require.NoError(t, s.HangUp())
				took <- time.Since(began)
				return "too late", nil
			}})
			ours, theirs := net.Pipe()
			go r.ServeConn(t.Context(), lingering{theirs, gone})
			_, err := io.WriteString(ours, modernCall(1, "end", sampling, "")+"\n")
			require.NoError(t, err)
			require.Equal(t, want, <-took)
			_, err = ours.Write([]byte("\n"))
			require.ErrorIs(t, err, io.ErrClosedPipe)
		})
	}
}

func TestClosingTheServerDoesNotWaitForTheProcessThatStandsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		begun := make(chan struct{})
		r := inMemory(t, server.Options{}, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) {
			close(begun)
			return nil, s.HangUp()
		}})
		ours, theirs := net.Pipe()
		go r.ServeConn(t.Context(), lingering{theirs, make(chan struct{})})
		_, err := io.WriteString(ours, modernCall(1, "end", sampling, "")+"\n")
		require.NoError(t, err)
		<-begun
		synctest.Wait()
		require.NoError(t, r.Close())
		require.Zero(t, time.Since(began))
	})
}

func TestABatchOfTooManyIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{})
		ping := request(1, "ping", "{}")
		batch := func(n int) string { return "[" + strings.Repeat(ping+",", n-1) + ping + "]" }
		w := r.legacy(server.V20250326, nothing)
		refused := w.post(batch(1001))
		require.Equal(t, http.StatusBadRequest, refused.StatusCode)
		require.Contains(t, refused.body(), "a batch of 1001 messages: want 1000 at the most")
		require.Equal(t, http.StatusOK, w.post(batch(1000)).StatusCode)

		p := r.lines(server.V20250326, nothing)
		before := len(r.trace())
		p.send(batch(1001), request(2, "ping", "{}"))
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, p.next().raw, "the revision has no error without an id")
		require.Len(t, r.trace(), before+3, "the batch, the ping and its answer")
	})
}
