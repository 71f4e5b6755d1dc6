package typescript

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

// The adapter in docs/adapters.md is complete, and fails like v2.mjs without --strict.
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
	column := &matrix.Column{Name: "MCP TypeScript client", Language: "TypeScript", Init: "typescript",
		Version: need.Locked(t, "package.json", `"@modelcontextprotocol/client": "(.*)"`)}
	need.InMatrix(t, column, harness.Command("node", adapter.Name()), "testdata/adapter.yaml",
		"36 known, 70 not applicable, 10 unsupported", conformance.Skip("malformed"))
}
