package llm

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchRequest is a request of 1 KB with a tool and a history. benchReply has half a KB on the wire, or eight chunks.
const (
	benchReply = "sunny in Paris, 18 C"

	benchRequest = `{"model":"gpt-4o","messages":[{"role":"system","content":"You answer questions about the weather, ` +
		`briefly, and from the tool's results only."},` +
		`{"role":"user","content":"How is the weather in Paris and in London today, and what should I wear for a walk ` +
		`there in the evening?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":` +
		`"get_weather","arguments":"{\"city\":\"Paris\"}"}},` +
		`{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"London\"}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"18°C, light wind from the west"},{"role":"tool","tool_call_id":` +
		`"call_2","content":"15°C, rain is likely after six"}],` +
		`"tools":[{"type":"function","function":{"name":"get_weather","description":"Current weather of a city",` +
		`"parameters":` +
		`{"type":"object","properties":{"city":{"type":"string","description":"The city's name"}},"required":["city"]}}}],` +
		`"max_tokens":500,"temperature":0.2`
)

// naive is a handler that only sends the same bytes as the fake.
func naive(b *testing.B, body string) http.Handler {
	s := start(b, Options{}, When().Reply(Text(benchReply)))
	w := post(s, chatPath, body)
	require.Equal(b, 200, w.Code)
	answer, header := w.Body.Bytes(), w.Header()
	chunks := [][]byte{answer}
	if header.Get("Content-Length") == "" {
		chunks = bytes.SplitAfter(answer, []byte("\n\n"))
		chunks = chunks[:len(chunks)-1] // after the last event
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

// aimock starts the model server of the npm package @copilotkit/aimock. It returns "" if the package is not installed.
func aimock(b *testing.B) (url string) {
	const folder = "../../interop/typescript"
	if _, err := os.Stat(folder + "/node_modules/@copilotkit/aimock"); err != nil {
		b.Log("without aimock: run npm ci in interop/typescript")
		return ""
	}
	cmd := exec.Command("node", "aimock.mjs")
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		require.NoError(b, in.Close())
		require.NoError(b, cmd.Wait())
	})
	url, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	return strings.TrimSpace(url)
}

// BenchmarkRequests compares the requests a second of the fake, of a handler that sends the same bytes, and of aimock,
// over 16 connections, with client and server on one machine. It alternates between them, so that other load affects
// all alike. An op is a round of all; medians of the rounds are reported. The fake must have at least half of the
// handler's rate and 2.5 times aimock's. The package comment has numbers.
func BenchmarkRequests(b *testing.B) {
	for _, c := range []struct{ name, body string }{{"plain", benchRequest + "}"},
		{"streamed", benchRequest + `,"stream":true}`}} {
		b.Run(c.name, func(b *testing.B) {
			handler := httptest.NewServer(naive(b, c.body))
			defer handler.Close()
			fake := start(b, Options{}, When(LastUser("18°C"), Turn(2)).Reply(Text(benchReply)))
			urls := []string{handler.URL + chatPath, fake.URL + chatPath}
			for _, url := range urls {
				ask(b, url, c.body) // connects and fills the journal
			}
			if other := aimock(b); other != "" {
				urls = append(urls, other+chatPath)
				require.Equal(b, events(b, urls[1], c.body), events(b, urls[2], c.body))
			}
			ratios := make([][]float64, len(urls))
			rates := make([][]float64, len(urls))
			for round := 0; b.Loop(); round++ {
				rate := make([]float64, len(urls))
				for turn := range urls {
					i := (round + turn) % len(urls)
					rate[i] = ask(b, urls[i], c.body)
					rates[i] = append(rates[i], rate[i])
				}
				for i := range rate {
					ratios[i] = append(ratios[i], rate[1]/rate[i])
				}
			}
			b.ReportMetric(median(rates[0]), "handler/s")
			b.ReportMetric(median(rates[1]), "fake/s")
			b.ReportMetric(100*median(ratios[0]), "%")
			if len(urls) > 2 {
				b.ReportMetric(median(rates[2]), "aimock/s")
				b.ReportMetric(median(ratios[2]), "×aimock")
			}
		})
	}
}

// events counts the events of an answer.
func events(b *testing.B, url, body string) int {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(b, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(b, err)
	return bytes.Count(answer, []byte("data: "))
}

// ask sends some thousand requests over 16 connections and returns the requests a second.
func ask(b *testing.B, url, body string) float64 {
	const requests, connections = 3000, 16
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	left := make(chan struct{}, requests)
	for range requests {
		left <- struct{}{}
	}
	close(left)
	runtime.GC() // each round clears its own garbage
	begun := time.Now()
	var callers sync.WaitGroup
	for range connections {
		callers.Go(func() {
			for range left {
				resp, err := client.Post(url, "application/json", strings.NewReader(body))
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
	return requests / time.Since(begun).Seconds()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
