package typescript

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// The adapter in docs/adapters.md is complete, and its verdicts are those of v2.mjs without --strict.
func TestAdapterOfTheDocumentation(t *testing.T) {
	installed(t)
	page, err := os.ReadFile("../../docs/adapters.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```js\n// adapter.mjs\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	adapter, err := os.CreateTemp(".", "adapter-*.mjs") // beside node_modules
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.Remove(adapter.Name())) })
	_, err = adapter.Write(block[1])
	require.NoError(t, err)
	require.NoError(t, adapter.Close())
	suite := conformance.Suite{Client: harness.Command("node", adapter.Name()), Skip: expect.SeparateRuns}
	expect.Verdicts(t, suite, expect.NoProcess, javaScript, trusting, typed,
		expect.In(server.V20260728, expect.Unsupported("page: it uses no prompts and resources",
			"mrtr/prompts-and-resources", "transport/header-value")),
		expect.Warns("page: it closes its connections without a DELETE", "transport/ends-session"),
		expect.Unsupported("page: it abandons no calls", "cancel/caller-cancels", "cancel/call-cancelled",
			"cancel/model-ends", "cancel/ended-call", "cancel/no-retry", "cancel/names-own", "cancel/late-response"))
}
