package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// waiting returns a handler that waits until its call is abandoned, and a channel with its session.
func waiting() (server.Handler, <-chan *server.Session) {
	begun := make(chan *server.Session, 1)
	return func(s *server.Session) (any, error) {
		begun <- s
		<-s.Context().Done()
		return "too late", nil
	}, begun
}

// floods is a handler that sends until it fails.
func floods(s *server.Session) (any, error) {
	for {
		if err := s.Transport().Send(make([]byte, 1<<16)); err != nil {
			return nil, err
		}
	}
}

func TestCancelledCallOnAConnectionGetsNoResponse(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		wait, begun := waiting()
		r := start(t, tool("wait", func(s *server.Session) (any, error) {
			value, _ := wait(s)
			return value, s.Transport().Send([]byte(`{"jsonrpc":"2.0","method":"notifications/too-late"}`))
		}))
		p := r.connect(revision, sampling)
		p.call(1, "wait")
		s := <-begun
		p.send(cancels(1), cancels(1))
		<-s.Context().Done()
		synctest.Wait()
		require.Equal(t, "notifications/too-late", p.next().Method, "Send works after the call was abandoned")
		require.Len(t, r.hostile(), 1)
		p.ask(2, "tools/list")
		require.Equal(t, "2", string(p.next().ID), "there is no response to the call")
	})
}

func TestModernCallThatWaitsForARetryOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", ask))
		p := r.connect(server.V20260728, sampling)
		p.call(1, "ask")
		required := p.next()
		p.end()
		again := r.connect(server.V20260728, sampling)
		again.call(1, "ask", retry(t, required, says("a cat")))
		require.Contains(t, again.next().text(t), "a cat")
	})
}

func TestEndOfAConnectionAbandonsItsCalls(t *testing.T) {
	for name, end := range map[string]func(*pipe, context.CancelFunc){
		"the client closes it":    func(p *pipe, _ context.CancelFunc) { p.conn.Close() },
		"the client ends writing": func(p *pipe, _ context.CancelFunc) { _ = p.closeWrite() },
		"the context ends":        func(_ *pipe, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
				wait, begun := waiting()
				r := start(t, tool("wait", wait))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p := r.pipe(ctx)
				p.dialect = dialect{revision: revision, capabilities: sampling}
				if !revision.Modern() {
					p.send(p.initialize(0))
				}
				p.call(1, "wait")
				s := <-begun
				end(p, cancel)
				<-p.over
				<-s.Context().Done()
				r.until("wait", "end")
			})
		})
	}
}

func TestClientThatDoesNotReadDoesNotBlockTheServer(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		r := start(t, tool("flood", floods))
		p := r.connect(revision, sampling)
		p.call(1, "flood")
		synctest.Wait() // until the handler is blocked
		p.send(cancels(1))
		of := "flood"
		if revision.Modern() {
			of = "" // the server also speaks legacy revisions, and the message does not tell which this is
		}
		r.until(of, "client notifications/cancelled")
		require.NoError(t, r.Close())
		<-p.over
		require.Contains(t, strings.Join(r.story("flood"), "\n"), "end")
	})
}

func TestConnectionToAClosedServerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		require.NoError(t, r.Close())
		r.pipe(t.Context()).ends()
	})
}

// readOnly is a connection whose writes fail.
type readOnly struct{ io.Reader }

func (readOnly) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
func (readOnly) Close() error              { return nil }

func TestFramesAfterAFailedWriteAreLost(t *testing.T) {
	r := startOnLoopback(t, server.Options{Revisions: []server.Revision{server.V20251125}})
	r.ServeConn(t.Context(),
		readOnly{strings.NewReader(request(1, "ping", "{}") + "\n" + request(2, "ping", "{}") + "\n")})
	r.requireStory("", "mark connection, client ping, server result, client ping, server result lost, client closed")
}
