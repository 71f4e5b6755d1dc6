// Package rust compares a client on the official Rust SDK, rmcp, with its baselines.
package rust

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

// The adapter is that of mcp-conform init rust.
func adapter(t *testing.T) harness.Client {
	t.Helper()
	need.Program(t, "cargo", "install Rust 1.88 or later")
	out, err := exec.CommandContext(t.Context(), "cargo", "build", "--locked", "--quiet").CombinedOutput()
	require.NoError(t, err, string(out))
	return harness.Command("target/debug/adapter")
}

func TestClient(t *testing.T) {
	column := &matrix.Column{Name: "rmcp", Language: "Rust", Init: "rust",
		Version: need.Locked(t, "Cargo.lock", `name = "rmcp"\nversion = "(.*)"`)}
	need.InMatrix(t, column, adapter(t), "testdata/client.yaml", "36 known, 68 not applicable",
		conformance.Skip("malformed"))
}

func TestMalformedRequests(t *testing.T) {
	need.Baseline(t, adapter(t), "testdata/malformed.yaml", "9 known, 11 not applicable", conformance.Only("malformed"),
		conformance.Skip("malformed/long-string"))
}

func TestTwoCommands(t *testing.T) {
	adapter(t) // what it downloads and compiles is used again
	need.TwoCommands(t, "rust", ".", "target", "Cargo.lock")
}
