package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/recipes"
)

// The files of mcp-conform init, a folder for each kind. The suffix .txt keeps Go from building a template.
//
//go:embed init
var initFiles embed.FS

// next is what to do after init, by kind.
var next = map[string]string{
	"python":     "mcp-conform run adapter",
	"python-sdk": "mcp-conform run adapter",
	"fastmcp":    "mcp-conform run adapter",
	"typescript": "npm install @modelcontextprotocol/client, and mcp-conform run adapter",
	"rust":       "mcp-conform run adapter",
	"java":       "mcp-conform run adapter",
	"go":         "the commands at the beginning of sampling_test.go",
	"host":       "write your host's command into mcp-conform.yaml, and mcp-conform run host",
}

type initCommand struct {
	Kind string `arg:"" enum:"${kinds}" help:"A client in a language, a host, or a host or gateway by its name: ${kinds}."`
	Dir  string `arg:"" optional:"" default:"." help:"Folder for the files (default: the current one)."`
}

func recipeNames() []string {
	entries, err := recipes.Files.ReadDir(".")
	if err != nil {
		panic("reading embedded files cannot fail: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func initKinds() []string {
	return append([]string{"python", "python-sdk", "fastmcp", "typescript", "rust", "java", "go", "host"},
		recipeNames()...)
}

func (c *initCommand) Run(_ context.Context, s streams) error {
	var files fs.ReadDirFS = initFiles
	folder := path.Join("init", c.Kind)
	if slices.Contains(recipeNames(), c.Kind) {
		files, folder = recipes.Files, c.Kind
	}
	entries, err := files.ReadDir(folder)
	if err != nil {
		return &exitError{exitHarness, err}
	}
	target := func(name string) string { return filepath.Join(c.Dir, strings.TrimSuffix(name, ".txt")) }
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return &exitError{exitHarness, fmt.Errorf("init: %w", err)}
	}
	for _, e := range entries {
		if _, err := os.Lstat(target(e.Name())); !errors.Is(err, fs.ErrNotExist) {
			return usage(fmt.Errorf("init: %s exists: nothing was written", target(e.Name())))
		}
	}
	for _, e := range entries {
		raw, err := fs.ReadFile(files, path.Join(folder, e.Name()))
		if err == nil {
			err = writeBytes(target(e.Name()), raw)
		}
		if err != nil {
			return &exitError{exitHarness, err}
		}
		if _, err := fmt.Fprintln(s.out, target(e.Name())); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.err, "mcp-conform: next:", cmp.Or(next[c.Kind], "the command at the beginning of "+configName))
	return nil
}
