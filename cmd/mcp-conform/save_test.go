package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Checkpoints number the traces as their sessions end; the run numbers them in their order.
func TestTheEndOfARunReplacesTheFilesOfCheckpoints(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "traces"), 0o755))
	session := func(seed int64, says string) *trace.Trace {
		r := trace.NewRecorder(trace.Header{Revision: "r", Seed: seed}, 0)
		r.Record(trace.Event{Process: &trace.Process{State: trace.Ended, Stdout: says}})
		return r.Stop()
	}
	loud, quiet := session(1, "hello"), session(2, "")
	rs := &report.Results{Format: report.Format}
	require.NoError(t, save(dir, rs, []*trace.Trace{loud}, 0))
	require.NoError(t, save(dir, rs, []*trace.Trace{loud, quiet}, 1))
	require.NoError(t, save(dir, rs, []*trace.Trace{quiet, loud}, 0))
	paths, err := filepath.Glob(filepath.Join(dir, "traces", "*"))
	require.NoError(t, err)
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	require.Equal(t, []string{"r-2.ndjson", "r-2.stdout", "r.ndjson"}, paths)
	traces, err := readTraces(filepath.Join(dir, "traces"))
	require.NoError(t, err)
	require.Equal(t, int64(2), traces[0].Header.Seed)
}
