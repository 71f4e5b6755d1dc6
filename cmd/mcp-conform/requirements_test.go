package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/selftest"
)

var threeRequirements = []listedRequirement{
	{ID: "2025-11-25/a/01", Revision: "2025-11-25", Level: report.Must, Text: "a|b is kept_whole", URL: "https://x/1#a",
		State: enforced, Checks: []provenCheck{{"s/one", []string{"m", "n"}}, {"s/two", []string{"o"}}}},
	{ID: "2025-11-25/a/02", Revision: "2025-11-25", Level: report.Should, Text: "servers do it", URL: "https://x/1#b",
		State: excluded, Reason: "a duty of servers"},
	{ID: "2026-07-28/b/01", Revision: "2026-07-28", Level: report.May, Text: "it may be done", URL: "https://x/2",
		State: excluded, Reason: "a permission"},
}

func TestRequirementsAsText(t *testing.T) {
	require.Equal(t, `2025-11-25/a/01  MUST  a|b is kept_whole
    https://x/1#a
    checked by s/one, proven by m, n
    checked by s/two, proven by o

2025-11-25/a/02  SHOULD  servers do it
    https://x/1#b
    excluded: a duty of servers

2026-07-28/b/01  MAY  it may be done
    https://x/2
    excluded: a permission

3 requirements: 1 enforced, 2 excluded
`, string(requirementsText(threeRequirements)))
}

func TestRequirementsAsMarkdown(t *testing.T) {
	require.Equal(t, `# Requirements

3 requirements: 1 enforced, 2 excluded.

## 2025-11-25

| requirement | level | text | checks and their mutants |
|---|---|---|---|
| [a/01](https://x/1#a) | MUST | a\|b is kept\_whole | `+"`s/one` (m, n)<br>`s/two` (o)"+` |
| [a/02](https://x/1#b) | SHOULD | servers do it | excluded: a duty of servers |

## 2026-07-28

| requirement | level | text | checks and their mutants |
|---|---|---|---|
| [b/01](https://x/2) | MAY | it may be done | excluded: a permission |
`, string(requirementsMarkdown(threeRequirements)))
}

func TestEveryCheckOfARequirementHasAMutant(t *testing.T) {
	for _, r := range listedRequirements() {
		for _, c := range r.Checks {
			require.NotEmpty(t, c.Mutants, "%s, which enforces %s", c.ID, r.ID)
		}
	}
}

func TestTheMatrixListsProblems(t *testing.T) {
	text := string(matrixText(&selftest.Matrix{Checks: make([]string, 3), Wrong: []string{"nobody failed s/one"},
		Rows: []selftest.Row{{}, {}, {Mutant: "no-model", Killed: []string{"s/two", "s/two"}}}}))
	require.Regexp(t, `(?m)^reference +2x none$`, text)
	require.Regexp(t, `(?m)^no-model +1x s/two$`, text)
	require.Contains(t, text, "WRONG  nobody failed s/one\n3 checks, 1 mutants, 3 sessions: 1 wrong\n")
}
