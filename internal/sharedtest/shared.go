// Package sharedtest has what the tests of several packages share. It finds and reads test data that is not part of the
// repository: the published schemas of MCP and recordings of real provider traffic. It knows the formats of recordings;
// what the data means is known by the package that needs it. And it says how much the tests play. Only tests import it.
package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Variable names the environment variable with the path of the data. A relative path starts at the working directory of
// the test, so set an absolute one.
const Variable = "MCP_CONFORM_SHARED"

// Dir returns the folder of the data. It skips the test when [Variable] is unset or empty.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skipf("%s is not set: it names the folder with the published schemas and the recorded traffic", Variable)
	}
	return dir
}

// Path returns the path of a file or folder of the data, such as Path(t, "spec", "2025-11-25.schema.json"). It skips
// the test when [Variable] is unset, and fails it when nothing exists at the path.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{Dir(t)}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s does not hold the expected data: %v", Variable, err)
	}
	return path
}
