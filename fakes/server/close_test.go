package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestCloseEndsEverythingThatWaits(t *testing.T) {
	for _, responses := range []server.ResponseMode{server.Auto, server.SSE, server.JSON} {
		inBubble(t, fmt.Sprint("responses ", responses), func(t *testing.T) {
			var handlers sync.WaitGroup
			handlers.Add(5)
			r := startWith(t, server.Options{ResponseMode: responses}, tool("wait", does(func(s *server.Session) {
				defer handlers.Done()
				<-s.Context().Done()
			})), tool("ask", func(s *server.Session) (any, error) {
				defer handlers.Done()
				return s.Sample(s.Ask("?"))
			}))
			c, modern := r.legacy(sampling), r.modern(sampling)
			modern.call(1, "ask").last() // waits for a retry

			var complete []string // responses that seem to be complete
			var calls sync.WaitGroup
			begin := func(name string, send func() (*reply, error)) {
				calls.Go(func() {
					reply, err := send()
					if err != nil {
						return
					}
					if _, err := reply.rest.ReadString(0); err == io.EOF {
						complete = append(complete, name)
					}
				})
			}
			ctx := context.Background()
			begin("wait", func() (*reply, error) { return c.tryCall(ctx, 2, "wait") })
			begin("ask", func() (*reply, error) { return c.tryCall(ctx, 3, "ask") })
			begin("modern", func() (*reply, error) { return modern.tryCall(ctx, 4, "wait") })
			begin("no stream", func() (*reply,
				error) {
				return c.try(ctx, "POST", c.calls(5, "wait"), "Accept", "application/json")
			})
			if responses == server.Auto {
				begin("GET", func() (*reply, error) { return c.try(ctx, "GET", "") })
			}
			synctest.Wait()
			began := time.Now()
			require.NoError(t, r.Close())
			require.Zero(t, time.Since(began))
			handlers.Wait()
			calls.Wait()
			require.Empty(t, complete)
			require.NoError(t, r.Close(), "again")
			_, err := c.try(ctx, "POST", "{}")
			require.Error(t, err)
		})
	}
}

func TestCloseNamesTheHandlersThatDoNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, client := network(t)
		defer client.CloseIdleConnections()
		release := make(chan struct{})
		blocks := does(func(*server.Session) { <-release })
		srv, err := server.Start(server.Options{Listener: listener}, tool("b", blocks), tool("a", blocks),
			tool("good", ask))
		require.NoError(t, err)
		c := (&rig{Server: srv, t: t, http: client}).legacy(sampling)
		for i, tool := range []string{"b", "a", "b", "good"} {
			c.call(i, tool)
		}
		synctest.Wait()
		began := time.Now()
		second := make(chan time.Duration)
		go func() {
			synctest.Wait()
			require.NoError(t, srv.Close())
			second <- time.Since(began)
		}()
		require.ErrorContains(t, srv.Close(), "a (call 1), b (call 1), b (call 2): ")
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, 5*time.Second, <-second, "the second call waits for the first")
		close(release)
	})
}

func TestCallDuringCloseIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, client := network(t)
		defer client.CloseIdleConnections()
		var srv *server.Server
		var closed sync.WaitGroup
		srv, err := server.Start(server.Options{Listener: listener, Record: func(e trace.Event) trace.Ref {
			if e.Case == "late" && e.Frame != nil {
				closed.Go(func() { require.NoError(t, srv.Close()) })
				synctest.Wait()
			}
			return trace.Ref{}
		}}, tool("late", does(func(*server.Session) { t.Error("the handler was started") })))
		require.NoError(t, err)
		_, err = (&rig{Server: srv, t: t, http: client}).modern(sampling).tryCall(t.Context(), 1, "late")
		require.Error(t, err)
		closed.Wait()
	})
}

func TestHandlerInAnotherHTTPServer(t *testing.T) {
	srv, err := server.Start(server.Options{Name: "guest"}, tool("ask", ask))
	require.NoError(t, err)
	host := httptest.NewServer(srv.Handler())
	defer host.Close()
	r := &rig{Server: srv, t: t, http: host.Client()}
	c := r.legacy(sampling)
	c.url = host.URL + "/mcp"
	call := c.call(1, "ask")
	c.post(call.next().answer("hello"))
	require.Equal(t, sampled("hello"), call.text())

	pending := c.call(2, "ask")
	pending.next()
	require.NoError(t, srv.Close())
	_, err = pending.rest.ReadByte()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the stream is broken, not complete")
	_, err = c.try(t.Context(), "POST", request(3, "ping", "{}"))
	require.Error(t, err)
	r.http.CloseIdleConnections()
}

// blockedBody is a body that ends when it is closed.
type blockedBody chan struct{}

func (b blockedBody) Read([]byte) (int, error) {
	<-b
	return 0, context.Canceled
}

func TestCloseReportsARequestThatIsStillBeingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, _ := network(t)
		srv, err := server.Start(server.Options{Listener: listener})
		require.NoError(t, err)
		body := make(blockedBody)
		served := make(chan struct{})
		go func() {
			defer close(served)
			srv.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "http://localhost/mcp", body))
		}()
		synctest.Wait()
		require.ErrorContains(t, srv.Close(), "a request is still being read")
		close(body)
		<-served
	})
}

func TestCloseWithManyActiveClients(t *testing.T) {
	for seed := range 20 {
		r := startOnLoopback(t, server.Options{Seed: int64(seed)}, tool("ask", func(s *server.Session) (any, error) {
			for {
				if _, err := s.Sample(s.Ask("again")); err != nil {
					return nil, err
				}
			}
		}))
		var clients sync.WaitGroup
		var rounds atomic.Int32
		enough := make(chan struct{})
		count := func() {
			if rounds.Add(1) == int32(20+seed) {
				close(enough)
			}
		}
		for range 4 {
			clients.Go(func() { r.sampleLegacy(count) })
			clients.Go(func() { r.sampleModern(count) })
		}
		<-enough
		require.NoError(t, r.Close())
		clients.Wait()
	}
}

// sampleLegacy answers samples until the server is closed. No error fails the test.
func (r *rig) sampleLegacy(count func()) {
	c := r.bare()
	c.dialect = dialect{revision: server.V20251125, capabilities: sampling}
	reply, err := c.try(context.Background(), "POST", c.initialize(1))
	if err != nil {
		return
	}
	c.header.Set("Mcp-Session-Id", reply.Header.Get("Mcp-Session-Id"))
	call, err := c.tryCall(context.Background(), 2, "ask")
	for err == nil {
		var line string
		if line, err = call.rest.ReadString('\n'); len(line) < 10 {
			continue
		}
		count()
		_, err = c.try(context.Background(), "POST", loosely([]byte(line[len("data: "):])).answer("a"))
	}
}

// sampleModern is sampleLegacy in 2026-07-28.
func (r *rig) sampleModern(count func()) {
	c := r.modern(sampling)
	again := ""
	for id := 1; ; id++ {
		reply, err := c.tryCall(context.Background(), id, "ask", again)
		if err != nil {
			return
		}
		body, err := reply.rest.ReadString(0)
		m := loosely([]byte(body))
		if !errors.Is(err, io.EOF) || m.Result == nil {
			return
		}
		count()
		again = retry(r.t, m, says("b"))
	}
}
