// Package gateways runs the recipes of gateways, as their users do, and compares each gateway with its baseline.
package gateways

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

const (
	npm     = "node_modules/.bin"
	python  = ".venv-mcp-proxy/bin"
	fastmcp = "../pythonsdk/.venv-fastmcp/bin"
)

var install = map[string]string{
	npm: "run npm ci in interop/gateways",
	python: "in interop/gateways: python3 -m venv .venv-mcp-proxy && " +
		".venv-mcp-proxy/bin/pip install --no-deps --require-hashes -r mcp-proxy.txt",
	fastmcp: "in interop/pythonsdk: python3 -m venv .venv-fastmcp && " +
		".venv-fastmcp/bin/pip install --no-deps --require-hashes -r fastmcp.txt",
}

// Known failures and passed checks of each gateway. A baseline leaves out what no longer applies, so the passed checks
// are counted, too: those of a machine with another interface than the loopback one, where gateway/local is judged.
func TestGatewaysFailAsTheirBaselinesSay(t *testing.T) {
	type counts struct{ known, passed int }
	command := filepath.Join(t.TempDir(), "mcp-conform")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, "../../cmd/mcp-conform").CombinedOutput()
	require.NoError(t, err, "%s", built)
	for _, c := range []struct {
		recipe, programs string
		want             map[string]counts
	}{
		{"mcp-remote", npm, map[string]counts{"mcp-remote": {1, 41}}},
		{"supergateway", npm, map[string]counts{"stdio-to-http": {7, 18}, "http-to-stdio": {3, 82}}},
		{"mcp-proxy", npm, map[string]counts{"mcp-proxy": {4, 28}}},
		{"mcp-proxy-python", python, map[string]counts{"stdio-to-http": {4, 14}, "http-to-stdio": {3, 12}}},
		{"fastmcp-proxy", fastmcp, map[string]counts{"fastmcp-proxy": {9, 75}}},
	} {
		t.Run(c.recipe, func(t *testing.T) {
			need.Program(t, "node", "install Node.js 20 or later")
			need.File(t, c.programs, install[c.programs])
			programs, err := filepath.Abs(c.programs)
			require.NoError(t, err)
			path := "PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH")
			dir := t.TempDir()
			for _, words := range [][]string{{"init", c.recipe}, {"run", "--all", "--strict", "--out", "out/{name}"}} {
				run := exec.CommandContext(t.Context(), command, words...)
				run.Dir, run.Env = dir, append(os.Environ(), path)
				said, err := run.CombinedOutput()
				require.NoError(t, err, "%s", said)
			}
			for name, want := range c.want {
				raw, err := os.ReadFile(filepath.Join(dir, "out", name, "results.json"))
				require.NoError(t, err)
				rs, err := report.ReadJSON(raw)
				require.NoError(t, err)
				require.NotNil(t, rs.Summary)
				found := counts{passed: rs.Summary[report.Pass]}
				if rs.Baseline != nil {
					found.known = rs.Baseline.Known
				}
				require.Equal(t, want, found, name)
			}
		})
	}
}
