package matrix_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
)

var update = flag.Bool("update", false, "write docs/matrix.md anew")

const page = "../../docs/matrix.md"

func TestThePageHasTheColumnsOfTheTests(t *testing.T) {
	columns, err := matrix.Read("testdata")
	require.NoError(t, err)
	require.NotEmpty(t, columns)
	text := render(columns)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o644))
	}
	written, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, string(written), text, "go test ./interop/matrix -update writes it")
}

func TestTheChecksOfTheFeaturesExist(t *testing.T) {
	ids := conformance.BaselineChecks()
	for _, f := range matrix.Features {
		for _, id := range f.Checks {
			require.Contains(t, ids, id, f.ID)
		}
	}
}

func TestAFeatureFailsOnlyIfTheSDKIsToBlame(t *testing.T) {
	known := func(check, reason string, kinds ...string) report.Result {
		scenario, name, _ := strings.Cut(check, "/")
		r := report.Result{Scenario: scenario, Check: name, Revision: "2025-11-25", Verdict: report.Fail,
			Known: &report.Known{Reason: reason}}
		if len(kinds) > 0 {
			r.Difference = kinds[0]
		}
		return r
	}
	declares := report.Result{Scenario: "declare", Check: "tools-declared", Verdict: report.Pass}
	for _, c := range []struct {
		result  report.Result
		feature string
		want    matrix.State
	}{
		{known("consent/declined", "SDK: no"), "consent", matrix.Fails},
		{known("consent/declined", "adapter: asks nobody"), "consent", matrix.HostsChoice},
		{known("consent/declined", "nobody: left to the host"), "consent", matrix.HostsChoice},
		{known("always/model-was-given", "SDK: drops it", "lost-media"), "media", matrix.Fails},
		{known("always/model-was-given", "SDK: drops it", "lost-media"), "tools", matrix.Works},
		{report.Result{Scenario: "consent", Check: "declined", Verdict: report.Pass}, "consent", matrix.Works},
		{report.Result{Scenario: "consent", Check: "declined", Verdict: report.NotApplicable}, "consent", ""},
	} {
		var column matrix.Column
		column.Fill(&report.Results{Results: []report.Result{c.result, declares}})
		require.Equal(t, c.want, column.Features[c.feature].State, "%+v", c)
		column.Fill(&report.Results{Results: []report.Result{c.result}})
		require.Equal(t, c.feature != "tools", column.Features[c.feature].State == c.want, "without tools: %+v", c)
		silent := known("client/sampled", "SDK: none")
		column.Fill(&report.Results{Results: []report.Result{c.result, declares, silent}})
		require.Len(t, column.Features, 1, "without sampling")
		require.Equal(t, matrix.Fails, column.Features["declares"].State)
	}
}

const introduction = `# Which SDK does what with sampling

Made of the results of the tests in [interop](../interop), which judge an adapter on each SDK: as short as its users
would write it. A feature of a row works if all checks that tell of it pass. Versions are those of the lock files.

- **yes**: it works.
- **no**: it does not, because of the SDK. The number leads to the checks that show it, the reason, and the command.
- *host*: the SDK leaves it to its host, and the adapter of the test does not have it. A host on this SDK can.
- empty: not judged here, or it does not apply.

`

func render(columns []matrix.Column) string {
	var b strings.Builder
	b.WriteString(introduction)
	head, line := "| |", "|---|"
	for _, c := range columns {
		head += fmt.Sprintf(" %s %s |", c.Name, c.Version)
		line += "---|"
	}
	b.WriteString(head + "\n" + line + "\n")
	var notes []string
	for _, f := range matrix.Features {
		row := "| " + f.Title + " |"
		for _, c := range columns {
			row += " " + cell(&c, &f, &notes) + " |"
		}
		b.WriteString(strings.ReplaceAll(row, "|  |", "| |") + "\n")
	}
	b.WriteString("\n## What shows it\n\n")
	for i, note := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, note)
	}
	return b.String()
}

func cell(c *matrix.Column, f *matrix.Feature, notes *[]string) string {
	one := c.Features[f.ID]
	switch one.State {
	case matrix.Works:
		return "yes"
	case matrix.HostsChoice:
		return "*host*"
	case matrix.Fails:
		reason := strings.TrimSpace(strings.TrimPrefix(one.Reason, "SDK:"))
		note := fmt.Sprintf("%s, %s: %s. `%s`", c.Name, strings.Join(one.Shown, ", "), strings.TrimSuffix(reason, "."),
			command(c, one))
		i := slices.Index(*notes, note)
		if i < 0 {
			i = len(*notes)
			*notes = append(*notes, note)
		}
		return fmt.Sprintf("**no** ([%d](#what-shows-it))", i+1)
	}
	return ""
}

// command is what shows a failure.
func command(c *matrix.Column, one matrix.Cell) string {
	scenario, _, _ := strings.Cut(one.Shown[0], "/")
	client := cmp.Or(c.Run, "adapter")
	if c.Init == "" {
		return "go test ./interop/" + c.Run
	}
	if scenario == "always" || scenario == "client" {
		return fmt.Sprintf("mcp-conform init %s && mcp-conform run %s -v", c.Init, client)
	}
	return fmt.Sprintf("mcp-conform init %s && mcp-conform run %s --scenario %s -v", c.Init, client, scenario)
}
