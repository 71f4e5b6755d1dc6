package llm

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchRequest is a request of 1 KB, with a tool and a history, and benchReply a reply that is half a KB on the wire, or eight
// chunks of a stream.
const (
	benchReply = "sunny in Paris, 18 C"

	benchRequest = `{"model":"gpt-4o","messages":[{"role":"system","content":"You answer questions about the weather, briefly, and from the tool's results only."},` +
		`{"role":"user","content":"How is the weather in Paris and in London today, and what should I wear for a walk there in the evening?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}},` +
		`{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"London\"}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"18°C, light wind from the west"},{"role":"tool","tool_call_id":"call_2","content":"15°C, rain is likely after six"}],` +
		`"tools":[{"type":"function","function":{"name":"get_weather","description":"Current weather of a city","parameters":` +
		`{"type":"object","properties":{"city":{"type":"string","description":"The city's name"}},"required":["city"]}}}],"max_tokens":500,"temperature":0.2`
)

// naive is a handler that sends what the fake would send, and does no more.
func naive(b *testing.B, body string) http.Handler {
	s, err := Start(Options{}, When().Reply(Text(benchReply)))
	require.NoError(b, err)
	defer s.Close()
	w := post(s, chatPath, body)
	require.Equal(b, 200, w.Code)
	answer, header := w.Body.Bytes(), w.Header()
	chunks := [][]byte{answer}
	if header.Get("Content-Length") == "" {
		chunks = bytes.SplitAfter(answer, []byte("\n\n"))
		chunks = chunks[:len(chunks)-1] // what follows the last is nothing
		require.Equal(b, 8, len(chunks))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(200)
		for _, chunk := range chunks {
			_, _ = w.Write(chunk)
			if len(chunks) > 1 {
				w.(http.Flusher).Flush()
			}
		}
	})
}

// Requests a second at 16 connections, client and server sharing the machine, beside those of a handler that only sends
// the same bytes. See the package's documentation for numbers.
func BenchmarkRequests(b *testing.B) {
	for _, c := range []struct{ name, body string }{{"plain", benchRequest + "}"}, {"streamed", benchRequest + `,"stream":true}`}} {
		b.Run(c.name+"/naive", func(b *testing.B) {
			s := httptest.NewServer(naive(b, c.body))
			defer s.Close()
			benchmark(b, s.URL, c.body)
		})
		b.Run(c.name+"/fake", func(b *testing.B) {
			s, err := Start(Options{}, When(LastUser("18°C"), Turn(2)).Reply(Text(benchReply)))
			require.NoError(b, err)
			defer s.Close()
			benchmark(b, s.URL, c.body)
		})
	}
}

// benchmark posts over 16 connections.
func benchmark(b *testing.B, url, body string) {
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 16, MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	left := make(chan struct{}, b.N)
	for range b.N {
		left <- struct{}{}
	}
	close(left)
	b.ReportAllocs()
	b.ResetTimer()
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range left {
				resp, err := client.Post(url+chatPath, "application/json", strings.NewReader(body))
				if err != nil || resp.StatusCode != 200 {
					b.Error(resp, err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	callers.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
