package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestACancelledCallIsNotAnswered(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			begun := make(chan *server.Session, 1)
			wait := func(s *server.Session) (any, error) {
				begun <- s
				<-s.Context().Done()
				return "too late", s.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/too-late"}`))
			}
			r := inMemory(t, server.Options{}, server.Tool{Name: "wait", Handler: wait})
			var p *pipe
			if revision.Modern() {
				p = r.pipe(t.Context())
				p.send(modernCall(1, "wait", sampling, ""))
			} else {
				p = r.lines(revision, sampling)
				p.send(callOf(1, "wait"))
			}
			s := <-begun
			p.send(fmt.Sprintf(cancelled, 1), fmt.Sprintf(cancelled, 1))
			<-s.Context().Done()
			synctest.Wait()
			require.Equal(t, "notifications/too-late", p.next().Method, "nothing keeps a play from sending what it wants, on purpose")
			require.Len(t, hostileFrames(r), 1)
			r.forget()
			p.send(request(2, "tools/list", "{"+meta(nothing, "")+"}"))
			require.Equal(t, "2", string(p.next().ID), "nothing was sent for the call")
		})
	}
}

func TestWhatWaitsForARetryOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		p := r.pipe(t.Context())
		p.send(modernCall(1, "ask", sampling, ""))
		required := p.next()
		p.end()
		again := r.pipe(t.Context())
		again.send(modernCall(1, "ask", sampling, retryOf(t, required, func(string) string { return sampled("a cat") })))
		require.Contains(t, again.next().call(t).text(t), "a cat")
	})
}

func TestTheEndOfAConnectionGivesUpItsCalls(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		for name, end := range map[string]func(*pipe, context.CancelFunc){
			"the client ends it":      func(p *pipe, _ context.CancelFunc) { p.conn.Close() },
			"the client ends writing": func(p *pipe, _ context.CancelFunc) { _ = p.conn.(interface{ CloseWrite() error }).CloseWrite() },
			"the context ends":        func(_ *pipe, cancel context.CancelFunc) { cancel() },
		} {
			t.Run(fmt.Sprint(name, " in ", revision), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := make(chan *server.Session, 1)
					r := inMemory(t, server.Options{}, server.Tool{Name: "wait", Handler: func(s *server.Session) (any, error) {
						begun <- s
						<-s.Context().Done()
						return "too late", nil
					}})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					p := r.pipe(ctx)
					if revision.Modern() {
						p.send(modernCall(1, "wait", sampling, ""))
					} else {
						p.send(request(0, "initialize", initializeParams(revision, sampling)), callOf(1, "wait"))
					}
					s := <-begun
					end(p, cancel)
					<-p.over
					<-s.Context().Done()
					r.until("wait", "mark handler-ended")
				})
			})
		}
	}
}

func TestAClientThatReadsNothingKeepsNobodyFromClosing(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "flood", Handler: func(s *server.Session) (any, error) {
				for {
					if err := s.Send(make([]byte, 1<<16)); err != nil {
						return nil, err
					}
				}
			}})
			p := r.pipe(t.Context())
			if revision.Modern() {
				p.send(modernCall(1, "flood", sampling, ""))
			} else {
				p.send(request(0, "initialize", initializeParams(revision, sampling)), callOf(1, "flood"))
			}
			synctest.Wait() // until everybody is stuck
			require.NoError(t, r.Close())
			<-p.over
			require.Contains(t, strings.Join(r.story("flood"), "\n"), "mark handler-ended")
		})
	}
}

func TestAConnectionToAClosedServerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{})
		require.NoError(t, r.Close())
		p := r.pipe(t.Context())
		<-p.over
		p.ends()
	})
}

// failing is a connection that cannot be written to.
type failing struct{ io.Reader }

func (failing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
func (failing) Close() error              { return nil }

func TestWhatCouldNotBeSentIsLost(t *testing.T) {
	r := onLoopback(t, server.Options{Revisions: []server.Revision{server.V20251125}})
	r.ServeConn(t.Context(), failing{strings.NewReader(request(1, "ping", "{}") + "\n" + request(2, "ping", "{}") + "\n")})
	require.Equal(t, []string{"mark connection", "client ping", "server result", "client ping", "server result lost", "client closed"}, r.story(""))
}

func TestWhatAClientSendsIsTakenAlsoWhileItReadsNothing(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "flood", Handler: func(s *server.Session) (any, error) {
				for {
					if err := s.Send(make([]byte, 1<<16)); err != nil {
						return nil, err
					}
				}
			}})
			p := r.pipe(t.Context())
			if revision.Modern() {
				p.send(modernCall(1, "flood", sampling, ""))
			} else {
				p.send(request(0, "initialize", initializeParams(revision, sampling)), callOf(1, "flood"))
			}
			synctest.Wait() // until the play is stuck
			p.send(fmt.Sprintf(cancelled, 1))
			of := "flood"
			if revision.Modern() {
				of = "" // the rig speaks both eras, and the message does not say of which it is
			}
			r.until(of, "client notifications/cancelled")
		})
	}
}
