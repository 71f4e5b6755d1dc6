package typescript

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// The adapter of docs/adapters.md is a whole one, and finds what v2.mjs finds, which is no stricter.
func TestTheAdapterOfThePage(t *testing.T) {
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/typescript")
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
	expect.Verdicts(t, conformance.Suite{Client: harness.Command("node", adapter.Name()), Skip: expect.Apart}, slices.Concat(expect.NoProcess, javaScript, trusting, unchecked, typed,
		expect.In(server.V20260728, expect.Unsupported("the page's: it leaves prompts and resources alone", "mrtr/prompts-and-resources", "transport/header-value")),
		expect.Warns("the page's: it closes its connections, and sends no DELETE", "transport/ends-session"),
		expect.Unsupported("the page's: it gives up no calls", "cancel/caller-cancels", "cancel/call-cancelled", "cancel/model-ends", "cancel/ended-call",
			"cancel/no-retry", "cancel/names-own", "cancel/late-response"),
		expect.In(server.V20251125, expect.NotApplicable("the page's: it gives up no calls, and so asks for no progress", "time/token-shape"))))
}
