package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkServe measures the command from its start until it has answered 100,000 requests of 1 KB, with a full
// journal: the time until it prints its addresses, and its resident memory. docs/fakes.md has numbers.
func BenchmarkServe(b *testing.B) {
	file := filepath.Join(b.TempDir(), "weather.yaml")
	rules := []byte("rules:\n  - when: {lastUser: weather}\n    reply: [{text: sunny}]\n")
	require.NoError(b, os.WriteFile(file, rules, 0o600))
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":"weather"}]}`,
		strings.Repeat("be brief ", 100))
	var start time.Duration
	var resident float64
	for b.Loop() {
		begun := time.Now()
		s := serve(b, "--llm", file)
		start += time.Since(begun)
		load(b, s.printed["OPENAI_BASE_URL"]+"/chat/completions", body)
		resident += residentMB(b, s.cmd.Process.Pid)
		require.Empty(b, s.end(b, os.Interrupt))
	}
	b.ReportMetric(float64(start.Milliseconds())/float64(b.N), "ms-to-start")
	b.ReportMetric(resident/float64(b.N), "MB-resident")
}

// load asks 100,000 times over 16 connections.
func load(b *testing.B, url, body string) {
	const requests, connections = 100_000, 16
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	var callers sync.WaitGroup
	for range connections {
		callers.Go(func() {
			for range requests / connections {
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
}

// residentMB is what a process has in memory.
func residentMB(b *testing.B, pid int) float64 {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	require.NoError(b, err)
	kilobytes, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	require.NoError(b, err)
	return kilobytes / 1000
}
