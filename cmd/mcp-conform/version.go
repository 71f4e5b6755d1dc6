package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type versionCommand struct{}

func (*versionCommand) Run(_ context.Context, s streams) error {
	_, err := fmt.Fprintf(s.out, "mcp-conform %s (%s)\njudges %s\nformats: results %d, traces %d\n%s", version(),
		runtime.Version(), strings.Join(revisionNames(server.AllRevisions()), ", "), report.Format, trace.Version,
		build())
	return err
}

// build says from which commit and for which system the program was built, as far as it knows.
func build() string {
	settings := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	line := "built for " + runtime.GOOS + "/" + runtime.GOARCH
	if commit := settings["vcs.revision"]; commit != "" {
		line += " from " + commit + " of " + settings["vcs.time"]
	}
	if settings["vcs.modified"] == "true" {
		line += ", with changes"
	}
	return line + "\n"
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
