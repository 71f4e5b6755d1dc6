// Package recipes runs the recipes of hosts that npm installs, as a user does who has typed mcp-conform init.
package recipes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

// command builds mcp-conform.
func command(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "mcp-conform")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/mcp-conform")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func TestTheAgentOfMCPUseIsJudgedByItsRecipe(t *testing.T) {
	need.Program(t, "node", "install Node.js 20 or later")
	need.File(t, "node_modules", "run npm ci in interop/recipes")
	packages, err := filepath.Abs("node_modules")
	require.NoError(t, err)
	conform, dir := command(t), filepath.Join(t.TempDir(), "recipe")
	out, err := exec.CommandContext(t.Context(), conform, "init", "mcp-use", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Symlink(packages, filepath.Join(dir, "node_modules")))
	// Two cases for what passes, one for a known failure.
	run := exec.CommandContext(t.Context(), conform, "run", "--all", "--revision", "2025-11-25", "--out", "out/{name}",
		"--scenario", "basic/question", "--scenario", "basic/truncated", "--scenario", "tasks/undeclared")
	run.Dir = dir
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, dialect := range map[string]string{"openai": "openai-chat", "anthropic": "anthropic"} {
		raw, err := os.ReadFile(filepath.Join(dir, "out", name, "results.json"))
		require.NoError(t, err)
		rs, err := report.ReadJSON(raw)
		require.NoError(t, err)
		require.Greater(t, rs.Summary[report.Pass], 20)
		require.Equal(t, 1, rs.Baseline.Known, "tasks/task-ignored")
		for _, r := range rs.Results {
			if r.ID() == "basic/answered" {
				require.Equal(t, report.Pass, r.Verdict)
				require.Equal(t, []string{dialect}, r.Dialects)
			}
		}
	}
}

// The lock file leaves out parts of mcp-use that the recipe does not need, so the recipe's package.json is another one.
func TestTheRecipeHasTheVersionsThatAreTested(t *testing.T) {
	read := func(path string) map[string]string {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct{ Dependencies map[string]string }
		require.NoError(t, json.Unmarshal(raw, &file))
		return file.Dependencies
	}
	require.Equal(t, read("package.json"), read("../../recipes/mcp-use/package.json"))
}
