package memnet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve runs an HTTP server on a new network and returns its URL and a client. Both end with the test, which in a bubble
// proves that no goroutine is left.
func serve(t testing.TB, handler http.HandlerFunc) (url string, client *http.Client) {
	n := New()
	l, err := n.Listen("127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: handler}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	client = n.Client()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return "http://" + l.Addr().String(), client
}

// everywhere runs a test on the real clock and in a bubble.
func everywhere(t *testing.T, test func(t *testing.T)) {
	t.Run("real time", test)
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, test) })
}

func TestHTTPRoundTrips(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Empty(t, r.Header.Get("Accept-Encoding"), "compression was asked for")
			_, _ = fmt.Fprintf(w, "%s %d", r.RemoteAddr, len(body))
		})
		for i := range 3 {
			size := i * 3 * capacity / 2
			resp, err := client.Post(url, "text/plain", strings.NewReader(strings.Repeat("x", size)))
			require.NoError(t, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, fmt.Sprintf("127.0.0.1:49152 %d", size), string(text), "the connection was used again")
		}
	})
}

func TestHTTPStream(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		next := make(chan string)
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for event := range next {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
				_ = http.NewResponseController(w).Flush()
			}
		})
		got := make(chan *http.Response, 1)
		go func() {
			resp, err := client.Get(url)
			assert.NoError(t, err)
			got <- resp
		}()
		next <- "first" // headers come with the first flush
		resp := <-got
		lines := bufio.NewScanner(resp.Body)
		require.True(t, lines.Scan())
		require.Equal(t, "data: first", lines.Text())
		for _, event := range []string{"second", "third"} {
			require.True(t, lines.Scan())
			next <- event // only now: each event arrives before the next is sent
			require.True(t, lines.Scan())
			require.Equal(t, "data: "+event, lines.Text())
		}
		close(next)
		rest, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Empty(t, strings.TrimSpace(string(rest)))
		require.NoError(t, resp.Body.Close())
	})
}

func TestTheServerNoticesThatAClientHungUp(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		hungUp := make(chan struct{})
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(hungUp)
		})
		resp, err := client.Get(url)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		<-hungUp
	})
}

func TestTheServerNoticesThatARequestWasCancelled(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		begun, hungUp := make(chan struct{}), make(chan struct{})
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-r.Context().Done()
			close(hungUp)
		})
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			assert.NoError(t, err)
			_, err = client.Do(req)
			failed <- err
		}()
		<-begun
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
		<-hungUp
	})
}

func TestAMinuteOfSilenceTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for i := range 3 {
				select {
				case <-time.After(time.Minute):
				case <-r.Context().Done():
					return
				}
				_, _ = fmt.Fprintf(w, "%d ", i)
				_ = http.NewResponseController(w).Flush()
			}
		})
		start := time.Now()
		resp, err := client.Get(url)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, "0 1 2 ", string(text))
		require.Equal(t, 3*time.Minute, time.Since(start))

		client.Timeout = 90 * time.Second
		start = time.Now()
		resp, err = client.Get(url)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 90*time.Second, time.Since(start))
	})
}

func TestServerTimeoutsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l, err := n.Listen(":0")
		require.NoError(t, err)
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.NotFoundHandler()}
		go func() { _ = server.Serve(l) }()
		defer server.Close()
		slow, err := n.DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		_, err = slow.Write([]byte("GET / HT"))
		require.NoError(t, err)
		start := time.Now()
		_, err = io.ReadAll(slow)
		require.NoError(t, err)
		require.Equal(t, time.Minute, time.Since(start).Round(time.Minute))
		require.NoError(t, slow.Close())
	})
}

// One HTTP request and its answer on a connection that is kept.
func BenchmarkHTTPRoundTrip(b *testing.B) {
	url, client := serve(b, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "ok") })
	b.ReportAllocs()
	for b.Loop() {
		resp, err := client.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// One small message there and one back, without HTTP.
func BenchmarkRoundTrip(b *testing.B) {
	client, server := connect(b)
	go func() { _, _ = io.Copy(server, server) }()
	message := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(message); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, message); err != nil {
			b.Fatal(err)
		}
	}
}

// A long message through the bounded buffer.
func BenchmarkThroughput(b *testing.B) {
	client, server := connect(b)
	go func() { _, _ = io.Copy(io.Discard, server) }()
	message := make([]byte, 1<<20)
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		if _, err := client.Write(message); err != nil {
			b.Fatal(err)
		}
	}
}
