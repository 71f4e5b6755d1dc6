package gosdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What mcp-conform init writes for Go is a test that passes, but for what the SDK gets wrong.
func TestTheTemplateOfInitRuns(t *testing.T) {
	template, err := os.ReadFile("../../cmd/mcp-conform/init/go/sampling_test.go.txt")
	require.NoError(t, err)
	dir, err := os.MkdirTemp(".", "init-") // in this module
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sampling_test.go"), template, 0o644))
	out, _ := exec.CommandContext(t.Context(), "go", "test", "-v", "./"+dir).CombinedOutput()
	require.Contains(t, string(out), "--- PASS: TestSampling/2025-11-25/client/connects")
	require.Contains(t, string(out), "--- PASS: TestSampling/2026-07-28/parallel/results-reach-model")
}
