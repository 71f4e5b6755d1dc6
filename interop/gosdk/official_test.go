package gosdk_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// The SDK's own client for the official suite starts under our runner as it is: it takes the URL as its last argument and looks in
// MCP_CONFORMANCE_SCENARIO for what to do. It has nothing for sampling, so what there is to see is that it connects, lists the
// tools, and ends well.
func TestTheOfficialSuitesClientStarts(t *testing.T) {
	expect.Program(t, "env", "this is a Unix tool")
	client := filepath.Join(t.TempDir(), "everything-client")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", client, "github.com/modelcontextprotocol/go-sdk/conformance/everything-client").CombinedOutput()
	require.NoError(t, err, "%s", out)

	expect.Verdicts(t, conformance.Suite{Client: harness.Command("env", "MCP_CONFORMANCE_SCENARIO=initialize", client), Only: []string{"basic/question"}},
		expect.NotSeen("the client calls no tool", "client/sampled", "basic/*"))

	expect.Verdicts(t, conformance.Suite{Client: harness.Command(client), Only: []string{"basic/question"}, Revisions: []server.Revision{server.V20251125}},
		append(expect.Fails("the client does not know the scenario sampling, and says so", "client/connects", "client/ends-cleanly"),
			expect.NotSeen("it never came", "client/sampled", "basic/*")...))
}
