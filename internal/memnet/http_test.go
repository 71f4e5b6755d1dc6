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

// serve runs an HTTP server and returns its URL and a client. Both end with the test; in a bubble, that also shows that
// no goroutine is left.
func serve(t testing.TB, handler http.HandlerFunc) (url string, client *http.Client) {
	n := New()
	l := listen(t, n, ":0")
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
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

func get(t testing.TB, client *http.Client, url string) *http.Response {
	t.Helper()
	response, err := client.Get(url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// everywhere runs a test on the real clock and in a bubble.
func everywhere(t *testing.T, test func(t *testing.T)) {
	t.Run("real time", test)
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, test) })
}

func TestHTTPReusesTheConnection(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Empty(t, r.Header.Get("Accept-Encoding"), "no compression")
			_, _ = fmt.Fprintf(w, "%s %d", r.RemoteAddr, len(body))
		})
		for i := range 3 {
			size := i * 3 * capacity / 2
			resp, err := client.Post(url, "text/plain", strings.NewReader(strings.Repeat("x", size)))
			require.NoError(t, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, fmt.Sprintf("127.0.0.1:49152 %d", size), string(text))
		}
	})
}

func TestHTTPStreamArrivesEventByEvent(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		next := make(chan string, 1)
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for event := range next {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
				_ = http.NewResponseController(w).Flush()
			}
		})
		next <- "first" // the headers come with the first flush
		resp := get(t, client, url)
		lines := bufio.NewScanner(resp.Body)
		require.True(t, lines.Scan())
		require.Equal(t, "data: first", lines.Text())
		for _, event := range []string{"second", "third"} {
			require.True(t, lines.Scan())
			next <- event // after the previous event has arrived
			require.True(t, lines.Scan())
			require.Equal(t, "data: "+event, lines.Text())
		}
		close(next)
		rest, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Empty(t, strings.TrimSpace(string(rest)))
	})
}

func TestServerNoticesThatTheClientDisconnects(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		left := make(chan struct{})
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(left)
		})
		require.NoError(t, get(t, client, url).Body.Close())
		<-left
	})
}

func TestServerNoticesThatTheRequestIsCancelled(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		begun, left := make(chan struct{}), make(chan struct{})
		url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-r.Context().Done()
			close(left)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-begun
			cancel()
		}()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		require.NoError(t, err)
		_, err = client.Do(request)
		require.ErrorIs(t, err, context.Canceled)
		<-left
	})
}

func TestSilenceTakesNoTimeInABubble(t *testing.T) {
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
		text, err := io.ReadAll(get(t, client, url).Body)
		require.NoError(t, err)
		require.Equal(t, "0 1 2 ", string(text))
		require.Equal(t, 3*time.Minute, time.Since(start))

		client.Timeout = 90 * time.Second
		start = time.Now()
		_, err = io.ReadAll(get(t, client, url).Body)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 90*time.Second, time.Since(start))
	})
}

func TestServerTimeoutsApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url, client := serve(t, http.NotFound)
		dial := client.Transport.(*http.Transport).DialContext
		slow, err := dial(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
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

// BenchmarkHTTPRoundTrip measures a request on a kept connection.
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

// BenchmarkRoundTrip measures a small message both ways, without HTTP.
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

// BenchmarkThroughput measures a long message through the bounded buffer.
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
