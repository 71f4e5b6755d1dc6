package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sessions of real SDKs are judged as before: a change of a check shows which verdicts it changes. Their traces
// were written by run --out, with the adapters of init or of interop; a new one gets its verdicts with -update.
func TestSessionsOfRealSDKsAreJudgedAsBefore(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.ndjson")
	require.NoError(t, err)
	require.Greater(t, len(files), 10)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ndjson"), func(t *testing.T) {
			t.Parallel()
			said, err := exec.CommandContext(t.Context(), "mcp-conform", "check", "--no-durations", "-v", file).Output()
			code := 0
			if err != nil {
				code = err.(*exec.ExitError).ExitCode() //nolint:errorlint,forcetypeassert // another error is a bug of the test
			}
			require.LessOrEqual(t, code, exitFailed, "%s", said)
			verdicts := strings.TrimSuffix(file, ".ndjson") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(verdicts, said, 0o600))
			}
			want, err := os.ReadFile(verdicts)
			require.NoError(t, err)
			require.Equal(t, string(want), string(said), "go test ./cmd/mcp-conform -run Sessions -update accepts it")
		})
	}
}

// A terminal without PAGER gets less, or what is shown as it is.
func TestATraceIsPagedWithoutPAGER(t *testing.T) {
	t.Setenv("PAGER", "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer device.Close()
	require.True(t, terminal(device), "a device counts as a terminal")
	_, end := paged(streams{device, device})
	require.NoError(t, end())
}
