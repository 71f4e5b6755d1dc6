package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// started starts the command, and returns the process and what it prints.
func started(t *testing.T, words ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	run := exec.Command("mcp-conform", words...)
	out, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	watchdog := time.AfterFunc(2*time.Minute, func() { _ = run.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		_ = run.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = run.Wait()
	})
	return run, bufio.NewScanner(out)
}

// seen waits for a line that contains a text.
func seen(t *testing.T, lines *bufio.Scanner, text string) string {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	require.Failf(t, "the output has ended", "without %q", text)
	return ""
}

func TestATapSaysOnceThatItCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recording := tap.New(trace.Header{Tapped: true})
		pass := func(dir trace.Direction, line string) {
			require.NoError(t, recording.Copy(io.Discard, strings.NewReader(line+"\n"), dir, "stdio 1"))
			<-time.After(time.Minute) // virtual
		}
		var said bytes.Buffer
		dir := filepath.Join(t.TempDir(), "full")
		stop := (&tapFiles{dir: dir}).keep(recording, &said)
		pass(trace.FromClient, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		pass(trace.ToClient, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
		pass(trace.FromClient, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		require.NoError(t, os.Mkdir(dir, 0o755))
		pass(trace.FromClient, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		stop()
		require.Regexp(t, `^mcp-conform: writing .*: no such file or directory\. Messages still pass, .*\n$`, said.String())
		require.FileExists(t, filepath.Join(dir, "2025-11-25.ndjson"))
	})
}

// A tap that is killed leaves the sessions, which show --follow has shown before.
func TestAKilledTapLeavesItsTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	behind := server.New(t, server.Tool{Name: "tell", Handler: func(s *server.Session) (any, error) {
		return "a first call", nil
	}})
	tapped, said := started(t, "tap", "--out", dir, behind.URL)
	url := strings.Fields(seen(t, said, "server "))[1]
	_, shown := started(t, "show", "--follow", dir)

	c, err := client.Connect(t.Context(), client.Options{URL: url, Revision: server.V20251125})
	require.NoError(t, err)
	for range 2 {
		_, err = c.CallTool(t.Context(), "tell", nil)
		require.NoError(t, err)
		seen(t, shown, "tools/call")
		seen(t, shown, "a first call")
	}
	require.NoError(t, tapped.Process.Kill())
	require.Error(t, tapped.Wait())

	out, err := exec.Command("mcp-conform", "show", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 2, strings.Count(string(out), "a first call"), "%s", out)
	require.Contains(t, string(out), "The end is missing: the tap was killed, or still records.")
	out, err = exec.Command("mcp-conform", "check", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "the end of 1 of 1 recorded sessions is missing")
	_ = c.Close() // the tap is gone
}
