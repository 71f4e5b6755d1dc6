package expect

import (
	"os"
	"os/exec"
	"testing"
)

// Program skips a test on a machine without the program, and says how it gets there. In CI it fails: nothing is skipped there.
func Program(t testing.TB, name, install string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name, install)
	}
}

// File is Program for a file or folder that has to be installed first.
func File(t testing.TB, path, install string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		missing(t, path, install)
	}
}

func missing(t testing.TB, what, install string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing: %s", what, install)
	}
	t.Skipf("%s is missing: %s", what, install)
}
