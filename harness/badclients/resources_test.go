package badclients

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/stretchr/testify/require"
)

// held is what a run may not leave behind.
type held struct {
	goroutines, files, folders int
	processes                  string
}

// marker is a variable by which the processes are known that this test started, and those that they did.
const marker = "MCP_CONFORM_BADCLIENTS"

// resources counts what this process holds, and the processes that come from it. What cannot be counted here is 0.
func resources(t require.TestingT) held {
	h := held{goroutines: runtime.NumGoroutine()}
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), "mcp-conform-*"))
	require.NoError(t, err)
	h.folders = len(folders)
	if files, err := os.ReadDir("/proc/self/fd"); err == nil { // Linux
		h.files = len(files)
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, path := range environments {
		environment, _ := os.ReadFile(path) // of somebody else's, or gone
		if strings.Contains(string(environment), marker+"="+os.Getenv(marker)) {
			h.processes += " " + filepath.Base(filepath.Dir(path))
		}
	}
	return h
}
