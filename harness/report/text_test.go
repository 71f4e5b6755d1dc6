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

// golden holds a text against a file, or writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update makes it")
	require.Equal(t, string(want), string(got), "go test -update takes it")
}

func TestTextReadsAsItAlwaysDid(t *testing.T) {
	interrupted := calm()
	interrupted.Interrupted = true
	harness := &report.Results{Results: []report.Result{{Scenario: "s", Check: "c", Revision: "2025-11-25", Level: report.Must, Verdict: report.HarnessError, Message: "ours"}}}
	harness.Count()
	for name, c := range map[string]struct {
		results *report.Results
		options report.TextOptions
	}{
		"everything":       {everything(), report.TextOptions{}},
		"everything-color": {everything(), report.TextOptions{Color: true}},
		"calm":             {calm(), report.TextOptions{}},
		"calm-strict":      {calm(), report.TextOptions{Strict: true}},
		"interrupted":      {interrupted, report.TextOptions{}},
		"harness-error":    {harness, report.TextOptions{}},
		"empty":            {&report.Results{Tool: "v1.2.3", Client: "nobody"}, report.TextOptions{}},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, report.Text(c.results, c.options)) })
	}
}

func TestColourIsAllThatColourAdds(t *testing.T) {
	plain := string(report.Text(everything(), report.TextOptions{}))
	painted := string(report.Text(everything(), report.TextOptions{Color: true}))
	require.NotContains(t, plain, "\x1b", "also where a client's own output has colours")
	require.Equal(t, plain, regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(painted, ""))
	require.Zero(t, strings.Count(painted, "\x1b[")%2, "every colour ends")
}

func TestNoLineEndsInBlanks(t *testing.T) {
	for _, line := range strings.Split(string(report.Text(everything(), report.TextOptions{})), "\n") {
		require.Equal(t, strings.TrimRight(line, " "), line)
	}
}

func TestTextIsTheSameForTheSameResults(t *testing.T) {
	require.Equal(t, report.Text(everything(), report.TextOptions{}), report.Text(everything(), report.TextOptions{}))
}
