package main

import (
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
	entries, err := initFiles.ReadDir("init")
	require.NoError(t, err)
	for _, kind := range entries {
		text, err := initFiles.ReadFile("init/" + kind.Name() + "/" + configName)
		if kind.Name() == "go" {
			require.Error(t, err, "go test needs none")
			continue
		}
		require.NoError(t, err)
		require.True(t, valid(t, string(text)), kind.Name())
		path := filepath.Join(t.TempDir(), configName)
		require.NoError(t, os.WriteFile(path, text, 0o644))
		_, err = readConfig(path)
		require.NoError(t, err)
	}
}
