package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

func TestCloseEndsEverythingThatWaits(t *testing.T) {
	for _, responses := range []server.Responses{server.Auto, server.SSE, server.JSON} {
		t.Run(fmt.Sprint("responses ", responses), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var plays sync.WaitGroup
				wait := func(s *server.Session) (any, error) {
					defer plays.Done()
					<-s.Context().Done()
					return "too late", nil
				}
				sample := func(s *server.Session) (any, error) {
					defer plays.Done()
					return s.Sample(s.Ask("?"))
				}
				plays.Add(5)
				r := inMemory(t, server.Options{Responses: responses}, server.Tool{Name: "wait", Handler: wait}, server.Tool{Name: "ask", Handler: sample})
				w, modern := r.legacy(server.V20251125, sampling), r.modern()
				modern.callModern(1, "ask", sampling, "").last() // is parked

				var whole []string // responses that seem to be whole
				var calls sync.WaitGroup
				begin := func(w *wire, method, body string, headers ...string) {
					calls.Go(func() {
						reply, err := w.try(context.Background(), method, body, headers...)
						if err != nil {
							return
						}
						if _, err := reply.rest.ReadString(0); err.Error() == "EOF" {
							whole = append(whole, body)
						}
					})
				}
				begin(w, "POST", request(2, "tools/call", `{"name":"wait"}`))
				begin(w, "POST", request(3, "tools/call", `{"name":"ask"}`))
				begin(modern, "POST", modernCall(4, "wait", sampling, ""), "Mcp-Method", "tools/call", "Mcp-Name", "wait")
				begin(w, "POST", request(5, "tools/call", `{"name":"wait"}`), "Accept", "application/json")
				if responses == server.Auto {
					begin(w, "GET", "")
				}
				synctest.Wait()
				began := time.Now()
				require.NoError(t, r.Close())
				require.Zero(t, time.Since(began))
				plays.Wait()
				calls.Wait()
				require.Empty(t, whole, "a client must not take the end for an answer")
				require.NoError(t, r.Close(), "again")
				_, err := w.try(context.Background(), "POST", "{}")
				require.Error(t, err)
			})
		})
	}
}

func TestCloseNamesThePlaysThatDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, client := network(t)
		release := make(chan struct{})
		stubborn := func(*server.Session) (any, error) {
			<-release
			return nil, nil
		}
		srv, err := server.Start(server.Options{Listener: listener}, server.Tool{Name: "b", Handler: stubborn}, server.Tool{Name: "a", Handler: stubborn}, server.Tool{Name: "good", Handler: ask})
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		r := &rig{Server: srv, t: t, http: client}
		w := r.legacy(server.V20251125, sampling)
		for i, tool := range []string{"b", "a", "b", "good"} {
			w.call(i, tool)
		}
		synctest.Wait()
		began := time.Now()
		second := make(chan time.Duration)
		go func() {
			synctest.Wait()
			require.NoError(t, srv.Close())
			second <- time.Since(began)
		}()
		require.EqualError(t, srv.Close(), "plays did not return although their context had ended, have them watch s.Context(): a (call 1), b (call 1), b (call 2)")
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, 5*time.Second, <-second, "another waits for the first")
		close(release)
	})
}

// network is a listener in memory, and a client that can reach it.
func network(t testing.TB) (net.Listener, *http.Client) {
	t.Helper()
	network := memnet.New()
	listener, err := network.Listen("127.0.0.1:0")
	require.NoError(t, err)
	return listener, network.Client()
}

func TestACallThatComesWhileTheServerClosesIsBrokenOff(t *testing.T) {
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
		}}, server.Tool{Name: "late", Handler: func(*server.Session) (any, error) {
			t.Error("the play was started")
			return nil, nil
		}})
		require.NoError(t, err)
		r := &rig{Server: srv, t: t, http: client}
		_, err = r.modern().try(t.Context(), "POST", modernCall(1, "late", sampling, ""), "Mcp-Method", "tools/call", "Mcp-Name", "late")
		require.Error(t, err)
		closed.Wait()
	})
}

func TestTheHandlerInAServerOfSomebodyElse(t *testing.T) {
	srv, err := server.Start(server.Options{Name: "guest"}, server.Tool{Name: "ask", Handler: ask})
	require.NoError(t, err)
	host := httptest.NewServer(srv.Handler())
	defer host.Close()
	r := &rig{Server: srv, t: t, http: host.Client()}
	w := r.legacy(server.V20251125, sampling)
	w.url = host.URL + "/mcp"
	call := w.call(1, "ask")
	w.post(call.next().response(sampled("hello")))
	require.Equal(t, sampled("hello"), call.last().call(t).text(t))

	parked := w.call(2, "ask")
	parked.next()
	require.NoError(t, srv.Close())
	_, err = parked.rest.ReadByte()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a stream that is broken, and not at its end")
	_, err = w.try(t.Context(), "POST", request(3, "ping", "{}"))
	require.Error(t, err, "the handler of a closed server breaks the connection")
	r.http.CloseIdleConnections()
}

func TestCloseWaitsForARequestThatIsStillBeingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, _ := network(t)
		srv, err := server.Start(server.Options{Listener: listener})
		require.NoError(t, err)
		body := make(blockedBody)
		r := httptest.NewRequest("POST", "http://localhost/mcp", body)
		served := make(chan struct{})
		go func() {
			defer close(served)
			srv.Handler().ServeHTTP(httptest.NewRecorder(), r)
		}()
		synctest.Wait()
		require.EqualError(t, srv.Close(), "a request is still being read: close the http.Server that runs the Handler first")
		close(body)
		<-served
	})
}

// blockedBody is a body that has an end only when it is closed.
type blockedBody chan struct{}

func (b blockedBody) Read([]byte) (int, error) {
	<-b
	return 0, context.Canceled
}

func TestManyClientsWhileTheServerCloses(t *testing.T) {
	for seed := range 20 {
		r := onLoopback(t, server.Options{Seed: int64(seed)}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			for {
				if _, err := s.Sample(s.Ask("again")); err != nil {
					return nil, err
				}
			}
		}})
		var clients sync.WaitGroup
		var rounds atomic.Int32
		enough := make(chan struct{})
		count := func() {
			if rounds.Add(1) == int32(20+seed) {
				close(enough)
			}
		}
		for range 4 {
			clients.Go(func() { r.endlessLegacy(count) })
			clients.Go(func() { r.endlessModern(count) })
		}
		<-enough
		require.NoError(t, r.Close())
		clients.Wait()
	}
}

// endlessLegacy answers samples until the server is gone. It must not fail the test: whatever breaks off may.
func (r *rig) endlessLegacy(count func()) {
	w := r.bare()
	reply, err := w.try(context.Background(), "POST", request(1, "initialize", initializeParams(server.V20251125, sampling)))
	if err != nil {
		return
	}
	w.header.Set("Mcp-Session-Id", reply.Header.Get("Mcp-Session-Id"))
	call, err := w.try(context.Background(), "POST", request(2, "tools/call", `{"name":"ask"}`))
	for err == nil {
		var line string
		if line, err = call.rest.ReadString('\n'); len(line) < 10 {
			continue
		}
		count()
		_, err = w.try(context.Background(), "POST", loosely([]byte(line[len("data: "):])).response(sampled("a")))
	}
}

func (r *rig) endlessModern(count func()) {
	w := r.modern()
	more := ""
	for id := 1; ; id++ {
		reply, err := w.try(context.Background(), "POST", modernCall(id, "ask", sampling, more), "Mcp-Method", "tools/call", "Mcp-Name", "ask")
		if err != nil {
			return
		}
		body, err := reply.rest.ReadString(0)
		m := loosely([]byte(body))
		if err.Error() != "EOF" || m.Result == nil {
			return
		}
		count()
		more = retryOf(r.t, m, func(string) string { return sampled("b") })
	}
}
