package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// interop/typescript runs the adapter of the page on the SDK.
func TestTheAdapterOfInitIsThatOfThePage(t *testing.T) {
	adapter, err := initFiles.ReadFile("init/typescript/adapter.mjs")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/adapters.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "```js\n// adapter.mjs\n"+string(adapter)+"```")
}

func TestEveryConfigurationOfInitIsValid(t *testing.T) {
	require.Subset(t, initKinds(), []string{"typescript", "host", "mcp-use", "opencode"})
	for _, kind := range initKinds() {
		dir := t.TempDir()
		require.NoError(t, (&initCommand{Kind: kind, Dir: dir}).Run(streams{out: io.Discard, err: io.Discard}))
		path := filepath.Join(dir, configName)
		text, err := os.ReadFile(path)
		if kind == "go" {
			require.Error(t, err, "go test needs none")
			continue
		}
		require.NoError(t, err)
		require.True(t, valid(t, string(text)), kind)
		clients, err := readConfig(path)
		require.NoError(t, err)
		require.NotEmpty(t, clients, kind)
	}
}
