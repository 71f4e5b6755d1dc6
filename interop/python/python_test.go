// Package python compares a client in Python, with only the standard library, with its baselines.
package python

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

func TestClients(t *testing.T) {
	t.Run("permissive", func(t *testing.T) {
		need.Baseline(t, client(t), "testdata/permissive.yaml", "30 known, 9 not applicable",
			conformance.Only("declare", "tool-use", "balance"))
	})
	t.Run("strict", func(t *testing.T) {
		need.Baseline(t, client(t, "--strict"), "testdata/strict.yaml", "2 known, 75 not applicable",
			conformance.Skip("malformed"))
	})
}

func TestMalformedRequests(t *testing.T) {
	need.Baseline(t, client(t), "testdata/malformed.yaml", "8 known, 11 not applicable", conformance.Only("malformed"),
		conformance.Skip("malformed/long-string"))
}

func client(t *testing.T, flags ...string) harness.Client {
	need.Program(t, "python3", "install Python 3.9 or later")
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	return harness.Command(append([]string{"python3", "client.py"}, flags...)...)
}
