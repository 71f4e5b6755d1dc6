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

var update = flag.Bool("update", false, "write what the README and the scripts show of the command anew")

// What the README and the pages under docs show of the command is what the command prints.
func TestThePagesShowWhatTheCommandPrints(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, path := range append(pages, "../../README.md") {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		shown := string(raw)
		for _, block := range consoleBlock.FindAllStringSubmatch(shown, -1) {
			t.Run(filepath.Base(path)+"/"+block[1], func(t *testing.T) {
				cmd := exec.Command("mcp-conform", strings.Fields(block[1])...)
				printed, _ := cmd.Output() // some of them fail, which is what they show
				if *update {
					shown = strings.Replace(shown, block[0], "```console\n$ mcp-conform "+block[1]+"\n"+string(printed)+"```", 1)
					return
				}
				require.Equal(t, block[2], string(printed), "go test ./cmd/mcp-conform -run Pages -update takes it")
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(shown), 0o644))
		}
	}
}

var goBlock = regexp.MustCompile("(?s)```go\n// ([a-z_/]+\\.go)\n(.*?)```")

// Code on a page that names its file stands in that file.
func TestThePagesShowTheCodeAsItIs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	shown := 0
	for _, path := range pages {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, block := range goBlock.FindAllStringSubmatch(string(page), -1) {
			code, err := os.ReadFile(filepath.Join("../..", block[1]))
			require.NoError(t, err)
			require.Contains(t, string(code), strings.TrimRight(block[2], "\n"), "%s shows %s as it is not", path, block[1])
			shown++
		}
	}
	require.NotZero(t, shown)
}
