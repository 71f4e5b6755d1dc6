//go:build unix

package harness_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func init() {
	programs["program:play-for-ever"] = func() error {
		client := harness.Command("sh", "-c", `read -r _; exec 3>"$0"; sleep 1000 & echo "$TMPDIR" >&3; wait`, os.Args[2])
		client.Setup.Input = []string{"begin"} // written once there is a guard
		r := harness.Runner{Client: client, Revision: server.V20251125, Timeout: time.Hour}
		return r.Run(context.Background(), []harness.Case{quiet("q")}, func(*trace.Trace) {})
	}
}

func TestNoProcessOutlivesAKilledHarness(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	run := exec.Command(os.Args[0], "program:play-for-ever", fifo)
	require.NoError(t, run.Start())
	said := make(chan string, 2)
	go func() {
		f, err := os.Open(fifo) // waits for the client
		if err != nil {
			said <- err.Error()
			return
		}
		defer f.Close()
		first := make([]byte, 1<<10)
		n, _ := f.Read(first)
		said <- string(first[:max(n-1, 0)])
		_, _ = io.Copy(io.Discard, f) // until no process of the client is left
		said <- ""
	}()
	wait := func(what string) string {
		select {
		case text := <-said:
			return text
		case <-time.After(time.Minute):
			require.Fail(t, what)
			return ""
		}
	}
	dir := wait("the client did not start")
	require.DirExists(t, dir)
	require.NoError(t, run.Process.Kill())
	require.Error(t, run.Wait())
	wait("a process of the client is still running")
	require.Eventually(t, func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) }, time.Minute, time.Millisecond)
}
