package llm

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever imports the fake must not link more than the standard library for it, nor the flags of package testing.
func TestImportersLinkTheStandardLibraryOnly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	const ours = "github.com/mcp-conform/mcp-conform/"
	require.ElementsMatch(t, []string{
		ours + "fakes/llm", ours + "fakes/llm/dialect", ours + "harness/trace",
		ours + "fakes/llm/native", ours + "fakes/llm/openai",
		ours + "fakes/llm/anthropic",
		ours + "fakes/llm/ollama",
		ours + "fakes/llm/gemini",
	}, strings.Fields(string(out)))
	out, err = exec.Command("go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, strings.Fields(string(out)), "testing")
}
