package baseline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const file = `# Ours, since May.
known:
  # The converter stops after the first result.
  - check: parallel/reach
    revisions: ["2025-11-25", "2026-07-28"]
    messages:
      - 'expected N results, found N: "…"'
      - expected N results, found none
    cases:
      - parallel/b
    reason: the converter stops after the first result
    until: 2027-01-31

  # Slow.
  - check: mrtr/state
    messages: [slow]
    reason: slow machine
    flaky: true
`

func parse(t *testing.T, text string) *baseline.File {
	f, err := baseline.Parse("known.yaml", []byte(text), checks)
	require.NoError(t, err)
	return f
}

func TestInvalidFilesNameThePlace(t *testing.T) {
	const check, reason, messages = "check: parallel/reach", "reason: slow machine", "messages: [slow]"
	for _, c := range []struct{ old, new, want string }{
		{check, "chek: parallel/reach", "known.yaml:4:5: unknown field \"chek\"; did you mean check?"},
		{check, "check: parallel/reahc", "known.yaml:4:12: unknown check \"parallel/reahc\"; did you mean parallel/reach"},
		{check, "check: parallel/[reach", "known.yaml:4:12: invalid pattern"},
		{messages, messages + "\n    cases: ['a/[']", "known.yaml:17:12: \"a/[\": syntax error in pattern"},
		{messages, messages + "\n    kinds: {lost-text: ['']}", "lost-text: \"\": expected a case, found an empty text"},
		{check, "check: parallel/*", "known.yaml:4:12: expected max with the pattern"},
		{reason, "max: 2\n    reason: x", "known.yaml:17:10: expected max with a pattern only"},
		{reason, "owner: me", "the entry has no reason"},
		{"until: 2027-01-31", "until: soon", "known.yaml:12:12: expected a day such as 2027-01-31, found \"soon\""},
		{"until: 2027-01-31", "until: 2027-02-31", "expected a day such as 2027-01-31, found \"2027-02-31\""},
		{messages, messages + "\n    revisions: [2025-11-25]", "mrtr/state is not judged in 2025-11-25"},
		{messages, messages + "\n    revisions: [2025-11-26]", "unknown revision \"2025-11-26\"; did you mean 2025-11-25"},
		{messages, "messages: slow", "expected a list, found a text"},
		{"check: mrtr/state", check + "\n    revisions: [2025-11-25, 2026-07-28]",
			"the entry is there twice: also in known.yaml:4"},
	} {
		text := strings.Replace(file, c.old, c.new, 1)
		require.NotEqual(t, file, text, c.old)
		_, err := baseline.Parse("known.yaml", []byte(text), checks)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "^")
	}
}

func TestAnUpdateLeavesFittingEntriesAsTheyAre(t *testing.T) {
	text, changes := parse(t, file).Update(run(), baseline.Fresh{Reason: "new"})
	require.Empty(t, changes)
	require.Equal(t, file, text)
}

func TestAnUpdateAddsChangesAndRemovesEntries(t *testing.T) {
	rs := run(func(rs *report.Results) {
		rs.Results[0].Message = "expected a result, found null"
		rs.Results[2].Verdict, rs.Results[2].Cases = report.Pass, nil
		rs.Results[3].Verdict, rs.Results[3].Message = report.Fail, "found 7"
	})
	text, changes := parse(t, file).Update(rs, baseline.Fresh{Reason: "new", Owner: "me"})
	require.Equal(t, []string{
		"~ parallel/reach  2025-11-25  2026-07-28   no longer fails in 2026-07-28",
		"~ parallel/reach  2025-11-25  2026-07-28   message: expected a result, found null",
		`~ parallel/reach  2025-11-25  2026-07-28   no longer: expected N results, found N: "…"`,
		"+ parallel/order  2026-07-28   found N",
	}, changes)
	require.Contains(t, text, "# The converter stops after the first result.\n  - check: parallel/reach")
	fresh := parse(t, text)
	require.Len(t, fresh.Entries, 3)
	require.Equal(t, []string{"parallel/b"}, fresh.Entries[0].Cases)
	require.Equal(t, []string{older}, fresh.Entries[0].Revisions)
	require.Equal(t, "2027-01-31", fresh.Entries[0].Until)
	require.Equal(t, "me", fresh.Entries[2].Owner)
	require.False(t, baseline.Apply(rs, fresh.Entries, "2026-11-22").Failed(false), "the update fits")

	rs.Results[0].Verdict, rs.Results[3].Verdict, rs.Results[4].Verdict = report.Pass, report.Pass, report.Fail
	text, changes = fresh.Update(rs, baseline.Fresh{})
	require.Equal(t, "- parallel/reach  2025-11-25   no longer fails", changes[0])
	require.NotContains(t, text, "parallel/reach")
}

func TestANewFileHasWhatFails(t *testing.T) {
	f, err := baseline.Parse("new.yaml", nil, checks)
	require.NoError(t, err)
	text, changes := f.Update(run(), baseline.Fresh{Reason: "why"})
	require.Len(t, changes, 1)
	require.False(t, baseline.Apply(run(), parse(t, text).Entries, "").Failed(false))
	passing := run(func(rs *report.Results) { rs.Results = rs.Results[1:2] })
	rs := run(func(rs *report.Results) { rs.Results[0].Verdict, rs.Results[2].Verdict = report.Pass, report.Pass })
	text, _ = parse(t, text).Update(rs, baseline.Fresh{})
	require.Contains(t, text, "known: []")
	again, changes := parse(t, text).Update(passing, baseline.Fresh{})
	require.Equal(t, text, again)
	require.Empty(t, changes)
}

// An update must not lose what people write around the entries, nor write a file that cannot be read.
func TestAnUpdateKeepsTheTextAroundEntries(t *testing.T) {
	passing := run(func(rs *report.Results) {
		for i := range rs.Results {
			rs.Results[i].Verdict = report.Pass
		}
	})
	one := "  - check: parallel/reach\n    messages: [slow]\n    reason: slow\n"
	for before, empty := range map[string]string{
		"# Ours.\nknown: # since May\n  # The first.\n" + one: "# Ours.\nknown: [] # since May\n  # The first.\n",
		"\"known\" :\n" + one: "known: []\n",
		"known:\n  -\n    messages:\n    - a\n    - b\n    check: parallel/reach\n    reason: slow\n": "known: []\n",
	} {
		text, changes := parse(t, before).Update(passing, baseline.Fresh{})
		require.Len(t, changes, 1)
		require.Equal(t, empty, text)
		require.Empty(t, parse(t, text).Entries)
	}
	for before, head := range map[string]string{
		"# Ours.\nknown: []\n# Last.\n": "# Ours.\nknown:\n# Last.\n",
		"# Ours.\nknown: [ ] # none\n":  "# Ours.\nknown: # none\n",
		"---\nknown: null":              "---\nknown:\n",
		"# Ours.":                       "# Ours.\nknown:\n",
		"{}":                            "# Known failures.",
		"known:\n  []\n":                "# Known failures.",
		"{known: []}":                   "# Known failures.",
		"# known: nothing, see below\nknown: []\n": "# known: nothing, see below\nknown:\n",
	} {
		text, _ := parse(t, before).Update(run(), baseline.Fresh{Reason: "new"})
		require.True(t, strings.HasPrefix(text, head), "%q became %q", before, text)
		require.Len(t, parse(t, text).Entries, 1)
	}
}

func TestAnOfficialListSelectsNewEntries(t *testing.T) {
	o, err := baseline.ReadOfficial("expected.yaml", []byte("client:\n  - parallel:reach\n  - auth/metadata\n  - mrtr\n"))
	require.NoError(t, err)
	f, err := baseline.Parse("new.yaml", nil, checks)
	require.NoError(t, err)
	rs := run(func(rs *report.Results) { rs.Results[1].Verdict = report.Fail })
	_, changes := f.Update(rs, baseline.Fresh{Reason: "imported", Only: o.Lists})
	require.Len(t, changes, 1)
	require.Contains(t, changes[0], "parallel/reach")
	require.Equal(t, []string{"auth/metadata", "mrtr"}, o.Unmatched())
	_, err = baseline.ReadOfficial("expected.yaml", []byte("clients:\n  - mrtr\n"))
	require.ErrorContains(t, err, "expected.yaml:1:1: unknown field \"clients\"; did you mean client?")
}
