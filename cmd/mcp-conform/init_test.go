package main

import (
	"bytes"
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
		require.NoError(t, (&initCommand{Kind: kind, Dir: dir}).Run(t.Context(), streams{out: io.Discard, err: io.Discard}))
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

func TestEverySDKOfInitSaysWhatToInstall(t *testing.T) {
	for kind, install := range map[string]string{
		"python-sdk": "pip install mcp openai anthropic", "fastmcp": "pip install 'fastmcp[openai,anthropic,gemini]'",
		"typescript": "npm install @modelcontextprotocol/client", "rust": "install Rust", "java": "install Java",
	} {
		t.Chdir(t.TempDir())
		t.Setenv("PATH", t.TempDir()) // neither runtimes nor packages
		require.NoError(t, (&initCommand{Kind: kind, Dir: "."}).Run(t.Context(), streams{out: io.Discard, err: io.Discard}))
		clients, err := readConfig(configName)
		require.NoError(t, err)
		for _, c := range clients.Clients {
			var out, said bytes.Buffer
			require.Equal(t, exitUsage, run(t.Context(), []string{"run", c.Name}, streams{out: &out, err: &said}), kind)
			require.Contains(t, said.String(), "to install what it needs: ", kind)
			require.Contains(t, said.String(), install, kind)
			require.Empty(t, out.String(), "nothing is played")
		}
	}
}
