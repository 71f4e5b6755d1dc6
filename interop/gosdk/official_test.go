package gosdk_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

// The SDK's client for the official suite runs under our runner. It knows no sampling: it connects, lists the tools,
// and ends.
func TestClientOfTheOfficialSuiteStarts(t *testing.T) {
	need.Program(t, "env", "this is a Unix tool")
	client := filepath.Join(t.TempDir(), "everything-client")
	const source = "github.com/modelcontextprotocol/go-sdk/conformance/everything-client"
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", client, source).CombinedOutput()
	require.NoError(t, err, "%s", out)

	question := conformance.Suite{Only: []string{"basic/question"}}
	question.Client = harness.Command("env", "MCP_CONFORMANCE_SCENARIO=initialize", client)
	require.Equal(t, []string{"client/sampled"}, failing(t, question), "it calls no tool")

	question.Client, question.Revisions = harness.Command(client), []server.Revision{server.V20251125}
	require.Equal(t, []string{"client/connects"}, failing(t, question), "it does not know the scenario sampling")
}
