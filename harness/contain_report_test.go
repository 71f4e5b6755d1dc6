package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestWheneverAContainedProcessIsKilledItsReportIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	report(path, &trace.Process{State: trace.Started})
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 200 {
			report(path, &trace.Process{State: trace.Ended, Err: strings.Repeat("out of luck ", 1000)})
		}
	}()
	for {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var p trace.Process
		require.NoError(t, json.Unmarshal(raw, &p))
		select {
		case <-written:
			return
		default:
		}
	}
}
