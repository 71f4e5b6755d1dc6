package llm

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An importer of the fake links only the standard library and our own packages, without the flags of package testing.
func TestImportersLinkOnlyTheStandardLibrary(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	const ours = "github.com/mcp-conform/mcp-conform/"
	require.ElementsMatch(t, []string{
		ours + "fakes/llm", ours + "fakes/llm/dialect", ours + "harness/trace",
		ours + "fakes/llm/native", ours + "fakes/llm/openai",
		ours + "fakes/llm/anthropic", ours + "fakes/llm/cohere",
		ours + "fakes/llm/ollama",
		ours + "fakes/llm/gemini",
		ours + "fakes/llm/internal/codecs", ours + "internal/jsonvalue", ours + "internal/offered",
		ours + "internal/dialects", ours + "internal/memnet", ours + "internal/sse", ours + "internal/words",
	}, strings.Fields(string(out)))
	out, err = exec.Command("go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, strings.Fields(string(out)), "testing")
}
