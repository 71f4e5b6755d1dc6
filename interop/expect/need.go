package expect

import (
	"os"
	"os/exec"
	"testing"
)

// RequireToolsVariable is the environment variable that turns the skips of [Program] and [File] into failures, if it
// is "1".
const RequireToolsVariable = "MCP_CONFORM_REQUIRE_TOOLS"

// Program skips the test if a program is missing, and says how to install it.
func Program(t testing.TB, name, install string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name, install)
	}
}

// File is Program for a file or folder that must be installed.
func File(t testing.TB, path, install string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		missing(t, path, install)
	}
}

func missing(t testing.TB, what, install string) {
	t.Helper()
	if os.Getenv(RequireToolsVariable) == "1" {
		t.Fatalf("%s is missing: %s", what, install)
	}
	t.Skipf("%s is missing (a failure with %s=1): %s", what, RequireToolsVariable, install)
}
