package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestTextMatchesTheGoldenFiles(t *testing.T) {
	interrupted := calm()
	interrupted.Interrupted = true
	ours := &report.Results{Results: []report.Result{
		result("s/c", "2025-11-25", report.Must, report.HarnessError, "ours")}}
	ours.Count()
	for name, c := range map[string]struct {
		results *report.Results
		options report.TextOptions
	}{
		"everything":       {everything(), report.TextOptions{}},
		"everything-color": {everything(), report.TextOptions{Color: true}},
		"calm":             {calm(), report.TextOptions{}},
		"calm-strict":      {calm(), report.TextOptions{Strict: true}},
		"interrupted":      {interrupted, report.TextOptions{}},
		"harness-error":    {ours, report.TextOptions{}},
		"known":            {known(), report.TextOptions{}},
		"known-verbose":    {known(), report.TextOptions{Verbose: true}},
		"empty":            {&report.Results{Tool: "v1.2.3", Client: "nobody"}, report.TextOptions{}},
	} {
		golden(t, name+".golden", report.Text(c.results, c.options))
	}
}

// golden compares bytes with a file under testdata.
func golden(t *testing.T, name string, found []byte) {
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, found, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	require.Equal(t, string(want), string(found), "%s: go test -update accepts it", path)
}

func TestColorAddsNothingButColor(t *testing.T) {
	plain := string(report.Text(everything(), report.TextOptions{}))
	painted := string(report.Text(everything(), report.TextOptions{Color: true}))
	require.NotContains(t, plain, "\x1b", "not even the client's own colours")
	require.Equal(t, plain, regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(painted, ""))
	require.Zero(t, strings.Count(painted, "\x1b[")%2, "every colour ends")
}

func TestLinesHaveNoTrailingBlanks(t *testing.T) {
	for _, line := range strings.Split(string(report.Text(everything(), report.TextOptions{})), "\n") {
		require.Equal(t, strings.TrimRight(line, " "), line)
	}
}
