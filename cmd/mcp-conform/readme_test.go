package main

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the command's output in the README, docs and scripts anew")

// pages returns the README and the pages under docs, by path.
func pages(t *testing.T) map[string]string {
	paths, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md") {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = string(raw)
	}
	return texts
}

var consoleBlock = regexp.MustCompile("(?s)```console\n\\$ mcp-conform ([^\n]*)\n(.*?)```")

func TestThePagesShowTheCommandsOutput(t *testing.T) {
	for path, text := range pages(t) {
		dir := t.TempDir() // The commands of a page follow each other.
		for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
			t.Run(filepath.Base(path)+"/"+block[1], func(t *testing.T) {
				args := strings.Fields(block[1])
				if args[0] == "run" {
					args = append(args, "--no-durations")
				}
				command := exec.Command("mcp-conform", args...)
				command.Dir = dir
				output, _ := command.Output() // some show failures
				if *update {
					shown := "```console\n$ mcp-conform " + block[1] + "\n" + string(output) + "```"
					text = strings.Replace(text, block[0], shown, 1)
					return
				}
				require.Equal(t, block[2], string(output), "go test ./cmd/mcp-conform -run Pages -update accepts it")
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

var goBlock = regexp.MustCompile("(?s)```go\n// ([a-z_/]+\\.go)\n(.*?)```")

// The first line of a block of Go is a file name. The file may move to another folder.
func TestThePagesShowTheCodeAsItIs(t *testing.T) {
	files := map[string]string{} // all Go files with a name
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		raw, err := os.ReadFile(path)
		files[d.Name()] += string(raw)
		return err
	}))
	for path, text := range pages(t) {
		for _, block := range goBlock.FindAllStringSubmatch(text, -1) {
			code := strings.TrimRight(block[2], "\n")
			require.Contains(t, files[filepath.Base(block[1])], code, "%s: %s", path, block[1])
		}
	}
}
