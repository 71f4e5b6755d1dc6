package baseline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const lost, link = "expected the text, found none", "expected the link, found [link]"

// fails is a whole run in which a check fails in cases, given with the kind of difference and the message.
func fails(cases ...[3]string) *report.Results {
	r := report.Result{Scenario: "always", Check: "model-was-given", Revision: newer, Level: report.Must,
		Verdict: report.Pass}
	for i, c := range cases {
		if i == 0 {
			r.Verdict, r.Message = report.Fail, c[2]
		}
		r.Cases = append(r.Cases, report.CaseResult{Case: c[0], Difference: c[1], Message: c[2], Verdict: report.Fail})
	}
	r.Cases = append(r.Cases, report.CaseResult{Case: "basic/fine", Verdict: report.Pass})
	return &report.Results{Whole: true, Results: []report.Result{r}}
}

func given(id, kind, message string) [3]string { return [3]string{"basic/" + id, kind, message} }

var given2 = []([3]string){given("a", "lost-text", lost), given("b", "lost-text", lost), given("c", "other", link)}

func many(scenario string, n int) (cases [][3]string) {
	for i := range n {
		cases = append(cases, [3]string{fmt.Sprintf("%s/c%02d", scenario, i), "lost-text", lost})
	}
	return cases
}

// written is the file that a run writes.
func written(t *testing.T, rs *report.Results) *baseline.File {
	t.Helper()
	f, err := baseline.Parse("new.yaml", nil, nil)
	require.NoError(t, err)
	text, _ := f.Update(rs, baseline.Fresh{Reason: "why"})
	f, err = baseline.Parse("new.yaml", []byte(text), baseline.Checks{"always/model-was-given": {older, newer}})
	require.NoError(t, err, text)
	return f
}

// A known bug must not hide another one that has the same message, nor one that is fixed in some cases only.
func TestAnEntryPinsTheKindsOfDifferenceAndTheCases(t *testing.T) {
	first, all := given2[:2], given2
	flaky := func(e *baseline.Entry) { e.Flaky = true }
	some := func(e *baseline.Entry) { e.Kinds["lost-text"] = []string{"basic/[ab]"} }
	for name, c := range map[string]struct {
		known, found [][3]string
		edit         func(*baseline.Entry)
		want         string
	}{
		"same":       {known: all, found: all},
		"new kind":   {known: first, found: slices.Concat(first, [][3]string{given("c", "other", lost)}), want: "changed"},
		"other kind": {known: first, found: [][3]string{first[0], given("b", "other", lost)}, want: "changed"},
		"new case": {known: first, found: slices.Concat(first, [][3]string{given("c", "lost-text", lost)}),
			want: "changed"},
		"fixed case": {known: first, found: first[:1], want: "stale"},
		"fixed kind": {known: all, found: first, want: "stale"},
		"fixed message": {known: slices.Concat(first, [][3]string{given("d", "lost-text", link)}),
			found: slices.Concat(first, [][3]string{given("d", "lost-text", lost)}), want: "stale"},
		"flaky":                 {known: all, found: first[:1], edit: flaky},
		"flaky, new case":       {known: first, found: all, edit: flaky, want: "changed"},
		"pattern":               {known: first, found: first[:1], edit: some},
		"pattern without cases": {known: all, found: all[2:], edit: some, want: "stale"},
		"so many":               {known: many("loop", 20), found: many("loop", 20)},
		"one more":              {known: many("loop", 20), found: many("loop", 21), want: "changed"},
		"one less":              {known: many("loop", 20), found: many("loop", 19), want: "stale"},
		"any generated ones":    {known: many("explore", 3), found: many("explore", 9)},
	} {
		f := written(t, fails(c.known...))
		require.Len(t, f.Entries, 1)
		if c.edit != nil {
			c.edit(&f.Entries[0])
		}
		got := baseline.Apply(fails(c.found...), f.Entries, "").Baseline
		if c.want == "" {
			require.Empty(t, got.Problems, name)
			require.Zero(t, got.Unpinned, name)
			continue
		}
		require.Len(t, got.Problems, 1, name)
		require.Equal(t, c.want, got.Problems[0].Kind, name)
		again, changes := f.Update(fails(c.found...), baseline.Fresh{})
		require.NotEmpty(t, changes, name)
		fresh, err := baseline.Parse("new.yaml", []byte(again), baseline.Checks{"always/model-was-given": {older, newer}})
		require.NoError(t, err)
		require.Equal(t, "why", fresh.Entries[0].Reason, "%s: an update keeps the reason", name)
		require.Empty(t, baseline.Apply(fails(c.found...), fresh.Entries, "").Baseline.Problems, "%s:\n%s", name, again)
	}
}

// A known failure hides no warning of another kind.
// Where a stream is cut differs between runs, so that a bug of a decoder shows in other cases each time.
func TestACaseThatFailsByChanceIsNotPinned(t *testing.T) {
	type list [][3]string
	always := given("always", "lost-text", lost)
	chance := func(id string) [3]string { return given("chance-"+id, "lost-text", link+" "+id) }
	results := func(cases ...[3]string) *report.Results {
		rs := fails(cases...)
		for i, c := range rs.Results[0].Cases {
			rs.Results[0].Cases[i].Chance = strings.HasPrefix(c.Case, "basic/chance-")
		}
		return rs
	}
	for name, c := range map[string]struct {
		known, found list
		pin, want    string
	}{
		"others by chance":     {list{always, chance("a")}, list{always, chance("b")}, always[0], ""},
		"none by chance":       {list{always, chance("a")}, list{always}, always[0], ""},
		"only by chance":       {list{chance("a")}, list{chance("a"), chance("b")}, "*/*", ""},
		"not always any more":  {list{always, chance("a")}, list{chance("a")}, always[0], "changed"},
		"another kind":         {list{chance("a")}, list{chance("a"), given("c", "other", lost)}, "*/*", "changed"},
		"not by chance either": {list{chance("a")}, nil, "*/*", "stale"},
	} {
		t.Run(name, func(t *testing.T) {
			f := written(t, results(c.known...))
			require.Equal(t, []string{c.pin}, f.Entries[0].Kinds["lost-text"])
			applied := baseline.Apply(results(c.found...), f.Entries, "2026-11-29")
			if c.want == "" {
				require.Empty(t, applied.Baseline.Problems)
				return
			}
			require.Len(t, applied.Baseline.Problems, 1)
			require.Equal(t, c.want, applied.Baseline.Problems[0].Kind)
		})
	}
}

func TestAWarningOfAnotherKindBesideAFailureIsPinned(t *testing.T) {
	warned := func(kind string) *report.Results {
		rs := fails(given2[0])
		rs.Results[0].Cases = append(rs.Results[0].Cases, report.CaseResult{Case: "basic/w", Difference: kind,
			Message: link, Verdict: report.Warn})
		return rs
	}
	problems := func(known, found *report.Results) (kinds []string) {
		for _, p := range baseline.Apply(found, written(t, known).Entries, "").Baseline.Problems {
			kinds = append(kinds, p.Kind)
		}
		return kinds
	}
	require.Equal(t, []string{"changed"}, problems(fails(given2[0]), warned("rounded")))
	require.Equal(t, []string{"stale"}, problems(warned("rounded"), fails(given2[0])))
	require.Empty(t, problems(warned("rounded"), warned("rounded")))
	require.Empty(t, problems(fails(given2[0]), warned("")), "a warning that is no kind of difference")
}

// A file for several clients has entries for one model API.
func TestAnEntryForAnotherModelAPIIsLeftAlone(t *testing.T) {
	f := written(t, fails(given2...))
	f.Entries[0].Dialect = "openai-chat"
	run := fails()
	run.Results[0].Dialects = []string{"anthropic"}
	require.Empty(t, baseline.Apply(run, f.Entries, "").Baseline.Problems)
	_, changes := f.Update(run, baseline.Fresh{})
	require.Empty(t, changes)
	run.Results[0].Dialects = []string{"openai-chat"}
	require.Len(t, baseline.Apply(run, f.Entries, "").Baseline.Problems, 1)
}

// Nothing is stale that the run could not show.
func TestAPartOfARunSaysNothingOfOtherCases(t *testing.T) {
	f := written(t, fails(given2...))
	part := fails(given2[0])
	part.Whole = false
	require.Empty(t, baseline.Apply(part, f.Entries, "").Baseline.Problems)
	_, changes := f.Update(part, baseline.Fresh{})
	require.Empty(t, changes)
	f.Entries[0].Revisions = []string{older, newer}
	require.Empty(t, baseline.Apply(fails(given2[0]), f.Entries, "").Baseline.Problems, "the other revision did not run")
}

// If every case of the entry was played, an update leaves nothing stale behind.
func TestAPartOfARunShowsThatTheOtherCasesOfAnEntryPass(t *testing.T) {
	f := written(t, fails(given2[0], [3]string{"basic/c", "lost-text", link}))
	part := fails(given2[0])
	part.Whole = false
	part.Results[0].Cases = append(part.Results[0].Cases, report.CaseResult{Case: "basic/c", Verdict: report.Pass})
	text, _ := f.Update(part, baseline.Fresh{})
	require.Contains(t, text, lost)
	require.NotContains(t, text, link)
}

// A rule for every case lists no case that passes. Of a part of a run, what was played tells.
func TestARuleForEveryCaseIsKnownToPassWhereItWasPlayed(t *testing.T) {
	a, b := given("a", "lost-text", lost), given("b", "lost-text", lost)
	all := many("parallel", 13) // parallel/* (13)
	names := func(cases ...[3]string) (ids []string) {
		for _, c := range cases {
			ids = append(ids, c[0])
		}
		return ids
	}
	for name, c := range map[string]struct {
		known, found [][3]string
		unjudged     report.Verdict // of basic/b; "" if it was judged
		played       []string
		edit         func(*baseline.Entry)
		problem      string // "" for none, as which an update changes nothing
		left         string // of the entry after an update; "" for nothing
	}{
		"fixed":                     {known: [][3]string{a, b}, played: names(a, b), problem: "found pass in"},
		"fixed, and one not played": {known: [][3]string{a, b}, played: names(a)},
		"nothing played":            {known: [][3]string{a, b}},
		"fixed in one case": {known: [][3]string{a, b}, found: [][3]string{a}, played: names(a, b), problem: "basic/b",
			left: "basic/a"},
		"one of them not played": {known: [][3]string{a, b}, found: [][3]string{a}, played: names(a)},
		"one of them not judged": {known: [][3]string{a, b}, found: [][3]string{a}, unjudged: report.Unsupported,
			played: names(a, b)},
		"one of them not seen": {known: [][3]string{a, b}, found: [][3]string{a}, unjudged: report.NotObserved,
			played: names(a, b)},
		"one kind of two fixed": {known: [][3]string{a, given("a", "other", link)}, found: [][3]string{a}, played: names(a),
			problem: "basic/a (other)", left: "basic/a"},
		"many fixed": {known: all, played: names(all...), problem: "found pass in"},
		"some of many fixed": {known: all, found: all[:12], played: names(all...),
			problem: "parallel/* (13)"},
		"some of many fixed, and one missed": {known: all, found: all[:12],
			played: names(all[:12]...)},
		"the other kind of many fixed": {known: slices.Concat([][3]string{a}, all), found: [][3]string{a},
			played:  names(slices.Concat([][3]string{a}, all)...),
			problem: "parallel/* (13) (lost-text): found 0", left: "basic/a"},
		"many fixed, and one missed": {known: all, played: names(all[1:]...)},
		"a pattern of any number": {known: [][3]string{a, b}, played: names(a, b), edit: func(e *baseline.Entry) {
			e.Kinds = map[string][]string{"lost-text": {"basic/*"}}
		}},
		"no cases": {known: [][3]string{a, b}, played: names(a, b), edit: func(e *baseline.Entry) { e.Kinds = nil }},
	} {
		f := written(t, fails(c.known...))
		if c.edit != nil {
			c.edit(&f.Entries[0])
		}
		part := fails(c.found...)
		part.Whole, part.Played = false, map[string][]string{newer: c.played}
		part.Results[0].Cases = part.Results[0].Cases[:len(c.found)]
		if c.unjudged != "" {
			part.Results[0].Cases = append(part.Results[0].Cases, report.CaseResult{Case: "basic/b", Verdict: c.unjudged})
		}
		problems := baseline.Apply(part, f.Entries, "").Baseline.Problems
		text, changes := f.Update(part, baseline.Fresh{})
		if c.problem == "" {
			require.Empty(t, problems, name)
			require.Empty(t, changes, name)
			continue
		}
		require.Len(t, problems, 1, name)
		require.Equal(t, "stale", problems[0].Kind, name)
		require.Contains(t, problems[0].Message, c.problem, name)
		require.Equal(t, c.left != "", strings.Contains(text, "basic/a"), name)
		require.NotContains(t, text, "basic/b", name)
	}
}

func TestAnOlderFileStaysValidAndSaysThatItNamesNoCases(t *testing.T) {
	old := baseline.Entry{Check: "always/model-was-given", Reason: "why",
		Messages: []string{"expected a result, found error -N", "fixed long ago"}}
	rs := fails([3]string{"basic/a", "", "expected a result, found error -32603"})
	got := baseline.Apply(rs, is(old), "").Baseline
	require.Empty(t, got.Problems)
	require.Equal(t, 1, got.Unpinned)
	old.Cases = []string{"basic/a"}
	changed := func() string { return baseline.Apply(rs, is(old), "").Baseline.Problems[0].Message }
	require.Equal(t, "changed", baseline.Apply(rs, is(old), "").Baseline.Problems[0].Kind, "codes count")
	require.Contains(t, changed(), `expected one of the entry's 2 messages, found "expected a result, found error -32603"`)
	old.Messages = old.Messages[:1]
	require.Contains(t, changed(), `expected "expected a result, found error -N", found "expected a result, found`)
	old.Messages = []string{"expected a result, found error -32603"}
	require.Empty(t, baseline.Apply(rs, is(old), "").Baseline.Problems)
}
