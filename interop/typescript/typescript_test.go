// Package typescript compares clients on the two TypeScript SDKs with their baselines.
package typescript

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

func installed(t testing.TB) {
	t.Helper()
	need.Program(t, "node", "install Node.js 20 or later")
	need.File(t, "node_modules", "run npm ci in interop/typescript")
}

func TestClients(t *testing.T) {
	installed(t)
	differs := conformance.Only("declare", "tool-use", "balance") // where a strict client differs from a permissive one
	for _, c := range []struct {
		name, file string
		argv       []string
		scenarios  conformance.Option
		counts     string
	}{
		{"v1", "v1.yaml", []string{"node", "v1.mjs"}, differs, "17 known, 69 not applicable"},
		{"v1, strict", "v1-strict.yaml", []string{"node", "v1.mjs", "--strict"}, conformance.Skip("malformed"),
			"5 known, 186 not applicable"},
		{"v2", "v2.yaml", []string{"node", "v2.mjs"}, differs, "33 known, 9 not applicable"},
		{"v2, strict", "v2-strict.yaml", []string{"node", "v2.mjs", "--strict"}, conformance.Skip("malformed"),
			"5 known, 70 not applicable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			need.Baseline(t, harness.Command(c.argv...), "testdata/"+c.file, c.counts, c.scenarios)
		})
	}
}

func TestMalformedRequests(t *testing.T) {
	installed(t)
	for _, c := range []struct {
		script, file string
		counts       string
	}{
		{"v1.mjs", "v1-malformed.yaml", "5 known, 49 not applicable"},
		{"v2.mjs", "v2-malformed.yaml", "5 known, 11 not applicable"},
	} {
		t.Run(c.script, func(t *testing.T) {
			need.Baseline(t, harness.Command("node", c.script), "testdata/"+c.file, c.counts,
				conformance.Only("malformed"), conformance.Skip("malformed/long-string"))
		})
	}
}

// A library that cannot sample fails, and is blamed for nothing else.
func TestClientWithoutSampling(t *testing.T) {
	installed(t)
	column := &matrix.Column{Name: "Vercel AI SDK", Language: "TypeScript", Run: "typescript",
		Version: need.Locked(t, "package.json", `"@ai-sdk/mcp": "(.*)"`)}
	need.InMatrix(t, column, harness.Command("node", "ai-sdk.mjs"), "testdata/ai-sdk.yaml", "2 known, 70 not applicable",
		conformance.Only("declare", "basic"))
}

func TestTwoCommands(t *testing.T) {
	installed(t)
	need.TwoCommands(t, "typescript", ".", "node_modules")
}
