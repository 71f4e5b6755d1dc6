package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// What generated the cases of a session is part of the command, wherever such a case is among them.
func TestTheCommandThatReproducesSeveralCasesGeneratesThem(t *testing.T) {
	c := runCommand{}
	explore := 7
	c.Explore, c.Fuzz, c.Seed = &explore, 9, 1
	for cases, want := range map[string]string{
		"basic/ids":                            "--scenario basic/ids --revision 2025-11-25",
		"explore/3":                            "--scenario explore/3 --revision 2025-11-25 --explore 7",
		"basic/ids,explore/3":                  "--scenario basic/ids,explore/3 --revision 2025-11-25 --explore 7",
		"basic/ids,malformed/fuzz-2,explore/3": "--revision 2025-11-25 --fuzz 9 --explore 7",
	} {
		got := c.reproduceResult(&report.Result{Case: cases, Revision: "2025-11-25"})
		require.Contains(t, got, want+" -v")
	}
}
