package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var consoleBlock = regexp.MustCompile("(?s)```console\n\\$ mcp-conform ([^\n]*)\n(.*?)```")

var update = flag.Bool("update", false, "write what the README shows of the command anew")

// What the README shows of the command is what the command prints.
func TestTheReadmeShowsWhatTheCommandPrints(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	readme, err := os.ReadFile(path)
	require.NoError(t, err)
	blocks := consoleBlock.FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	shown := string(readme)
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			cmd := exec.Command("mcp-conform", strings.Fields(block[1])...)
			printed, _ := cmd.Output() // some of them fail, which is what they show
			if *update {
				shown = strings.Replace(shown, block[2], string(printed), 1)
				return
			}
			require.Equal(t, block[2], string(printed), "go test ./cmd/mcp-conform -run Readme -update takes it")
		})
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(shown), 0o644))
	}
}
