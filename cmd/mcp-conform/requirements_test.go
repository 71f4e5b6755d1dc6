package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

var oneOfEach = []listedStatement{
	{ID: "2025-11-25/a/01", Revision: "2025-11-25", Level: report.Must, Says: "a|b is kept_whole", URL: "https://x/1#a", State: enforced,
		Checks: []provenCheck{{"s/one", []string{"m", "n"}}, {"s/two", []string{"o"}}}},
	{ID: "2025-11-25/a/02", Revision: "2025-11-25", Level: report.Should, Says: "servers do it", URL: "https://x/1#b", State: excluded, Why: "a duty of servers"},
	{ID: "2026-07-28/b/01", Revision: "2026-07-28", Level: report.May, Says: "it may be done", URL: "https://x/2", State: excluded, Why: "a permission"},
}

func TestRequirementsAsText(t *testing.T) {
	var b bytes.Buffer
	requirementsText(&b, oneOfEach)
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

3 statements: 1 enforced, 2 excluded
`, b.String())
}

func TestRequirementsAsMarkdown(t *testing.T) {
	var b bytes.Buffer
	requirementsMarkdown(&b, oneOfEach)
	require.Equal(t, `# Requirements

3 statements: 1 enforced, 2 excluded.

## 2025-11-25

| statement | level | what it says | checks, and the mutants that prove them |
|---|---|---|---|
| [a/01](https://x/1#a) | MUST | a\|b is kept\_whole | `+"`s/one` (m, n)<br>`s/two` (o)"+` |
| [a/02](https://x/1#b) | SHOULD | servers do it | excluded: a duty of servers |

## 2026-07-28

| statement | level | what it says | checks, and the mutants that prove them |
|---|---|---|---|
| [b/01](https://x/2) | MAY | it may be done | excluded: a permission |
`, b.String())
}

// A check in the table that no mutant is made for would be one that nobody has seen fail.
func TestEveryCheckInTheTableIsProven(t *testing.T) {
	for _, s := range listedStatements() {
		for _, c := range s.Checks {
			require.NotEmpty(t, c.Mutants, "%s, which enforces %s", c.ID, s.ID)
		}
	}
}
