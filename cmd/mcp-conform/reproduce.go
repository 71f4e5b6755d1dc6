package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/leak"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// reproduceResult returns the command that plays the case of a result again, or its cases, with commas between them;
// without a case, its revision.
func (c *runCommand) reproduceResult(r *report.Result) string {
	caseID := r.Case
	if c.Kept != "" {
		return c.reproduceFile(c.Kept)
	}
	var flags []string
	if caseID != "" {
		flags = append(flags, "--scenario", caseID)
	}
	flags = append(flags, "--revision", r.Revision)
	plays := func(prefix string) bool { return strings.Contains(","+caseID, ","+prefix) }
	if plays("malformed/fuzz-") {
		flags = append(flags, "--fuzz", fmt.Sprint(c.Fuzz))
	}
	if plays("explore/") && c.Explore != nil {
		flags = append(flags, "--explore", fmt.Sprint(*c.Explore))
	}
	if c.Seed != 1 {
		flags = append(flags, "--seed", fmt.Sprint(c.Seed))
	}
	return c.commandLine(flags...)
}

func (c *runCommand) reproduceFile(path string) string { return c.commandLine("--conversation", path) }

// commandLine is a run with the flags, and those that choose the client.
func (c *runCommand) commandLine(flags ...string) string {
	line := append([]string{"mcp-conform", "run"}, append(flags, "-v")...)
	if c.Stdio {
		line = append(line, "--stdio")
	}
	line = append(append(line, c.gatewayWords()...), c.setupFlags()...)
	for _, flag := range []struct{ name, value, omitted string }{
		{"--loop", c.Loop, ""}, {"--dialect", c.Dialect, ""},
		{"--timeout", c.Timeout.String(), harness.DefaultTimeout.String()}, {"--case-timeout", c.CaseTime.String(), "0s"},
		{"--client-timeout", c.Patience.String(), "0s"}, {"--llm", c.LLM, "script"}, {"--client", c.Builtin, ""},
	} {
		if flag.value != flag.omitted {
			line = append(line, flag.name, flag.value)
		}
	}
	if len(c.Command) > 0 {
		line = append(append(line, "--"), c.Command...)
	}
	return words.Quote(hidden(line)...)
}

func hidden(words []string) []string { return leak.Hide(os.Environ(), words...) }
