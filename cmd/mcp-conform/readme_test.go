package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var consoleBlock = regexp.MustCompile("(?s)```console\n\\$ mcp-conform ([^\n]*)\n(.*?)```")

// What the README shows of the command is what the command prints.
func TestTheReadmeShowsWhatTheCommandPrints(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	blocks := consoleBlock.FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			cmd := exec.Command("mcp-conform", strings.Fields(block[1])...)
			printed, _ := cmd.Output() // some of them fail, which is what they show
			require.Equal(t, block[2], string(printed))
		})
	}
}
