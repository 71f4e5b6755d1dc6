package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
)

type versionCommand struct{}

func (versionCommand) Run(s streams) error {
	_, err := fmt.Fprintf(s.out, "mcp-conform %s (%s)\njudges %s\n", version(), runtime.Version(),
		strings.Join(revisionNames(conformance.AllRevisions()), ", "))
	return err
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
