package selftest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/reference"
)

// judged judges rows that were made by hand, for two checks.
func judged(rows []Row, mutants ...*reference.Mutant) []string {
	m := &Matrix{Checks: []string{"s/one", "s/two"}, Rows: rows, Wrong: []string{}}
	jobs := make([]job, len(rows))
	for i := range rows {
		jobs[i] = job{setting: settings[0], revision: server.V20251125}
		if i > 0 {
			jobs[i].mutant = mutants[i-1]
		}
	}
	m.judge(jobs)
	var all []reference.Mutant
	for _, mutant := range mutants {
		all = append(all, *mutant)
	}
	m.judgeChecks(all)
	return m.Wrong
}

func TestWhatIsWrongWithAKillMatrix(t *testing.T) {
	one := &reference.Mutant{Name: "breaks-one", Kills: []string{"s/one"}}
	two := &reference.Mutant{Name: "breaks-two", Kills: []string{"s/two"}}
	wide := &reference.Mutant{Name: "breaks-two", Kills: []string{"s/two"}, Also: []string{"s/one"}}
	stray := &reference.Mutant{Name: "breaks-nothing", Kills: []string{"s/three"}}
	right := Row{Passed: []string{"s/one", "s/two"}}
	killing := func(ids ...string) Row { return Row{Killed: ids} }
	const setting = " (openai-chat, streamed, 2025-11-25)"
	for name, c := range map[string]struct {
		rows    []Row
		mutants []*reference.Mutant
		want    []string
	}{
		"nothing": {[]Row{right, killing("s/one"), killing("s/two")}, []*reference.Mutant{one, two}, []string{}},
		"nothing, where a check looks at what another one does": {[]Row{right, killing("s/one"), killing("s/two", "s/one")}, []*reference.Mutant{one, wide}, []string{}},
		"nothing, where a check that may be failed is not":      {[]Row{right, killing("s/one"), killing("s/two")}, []*reference.Mutant{one, wide}, []string{}},
		"a check without a mutant": {[]Row{right, killing("s/one")}, []*reference.Mutant{one},
			[]string{"no mutant is made to fail s/two: a check that nobody fails proves nothing"}},
		"a mutant that survives": {[]Row{right, killing("s/one"), killing()}, []*reference.Mutant{one, two},
			[]string{"mutant breaks-two" + setting + " survives s/two"}},
		"a mutant that survives in one of its settings": {[]Row{right, killing("s/one"), killing("s/two"), killing()}, []*reference.Mutant{one, two, two},
			[]string{"mutant breaks-two" + setting + " survives s/two"}},
		"a mutant of which nothing is seen": {[]Row{right, killing("s/one"), {Unseen: []string{"s/two"}}}, []*reference.Mutant{one, two},
			[]string{"mutant breaks-two" + setting + " survives s/two"}},
		"an unrelated kill": {[]Row{right, killing("s/one"), killing("s/two", "s/one")}, []*reference.Mutant{one, two},
			[]string{"mutant breaks-two" + setting + " is failed by s/one, which is about something else"}},
		"a mutant made for no check": {[]Row{right, killing("s/one"), killing("s/two"), killing()}, []*reference.Mutant{one, two, stray},
			[]string{"mutant breaks-nothing is made for s/three, which is no check"}},
		"a reference that fails": {[]Row{{Passed: []string{"s/two"}, Killed: []string{"s/one"}}, killing("s/one"), killing("s/two")}, []*reference.Mutant{one, two},
			[]string{"the reference" + setting + " does not pass s/one", "the reference passes s/one in no setting: a check that nobody passes proves nothing"}},
		"a reference that is not seen": {[]Row{{Passed: []string{"s/two"}, Unseen: []string{"s/one"}}, killing("s/one"), killing("s/two")}, []*reference.Mutant{one, two},
			[]string{"the reference" + setting + " does not pass s/one", "the reference passes s/one in no setting: a check that nobody passes proves nothing"}},
		"a check that never applies": {[]Row{{Passed: []string{"s/two"}}, killing("s/one"), killing("s/two")}, []*reference.Mutant{one, two},
			[]string{"the reference passes s/one in no setting: a check that nobody passes proves nothing"}},
		"a reference that passes nothing": {[]Row{{}, killing("s/one"), killing("s/two")}, []*reference.Mutant{one, two},
			[]string{"the reference" + setting + " passed nothing",
				"the reference passes s/one in no setting: a check that nobody passes proves nothing", "the reference passes s/two in no setting: a check that nobody passes proves nothing"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, judged(c.rows, c.mutants...)) })
	}
}

func TestEveryMutantIsPlayedWhereItsFaultShows(t *testing.T) {
	played := map[string]int{}
	for _, j := range allJobs(false) {
		if j.mutant == nil {
			played[""]++
			continue
		}
		played[j.mutant.Name]++
		if j.mutant.Era != "" {
			require.Equal(t, j.mutant.Era == "modern", j.revision.Modern(), j.name())
		}
		if j.mutant.Streamed {
			require.False(t, j.setting.config.Plain, j.name())
		}
	}
	require.Equal(t, 4*len(settings), played[""], "the reference, in every setting and four revisions")
	for _, m := range reference.Mutants() {
		require.NotZero(t, played[m.Name], m.Name)
	}
}

func TestSomeMutantsArePlayedBesideTheReference(t *testing.T) {
	names := map[string]int{}
	for _, j := range only(allJobs(false), []string{"no-model", "answers-twice"}) {
		name := ""
		if j.mutant != nil {
			name = j.mutant.Name
		}
		names[name]++
	}
	require.Equal(t, map[string]int{"": 2, "no-model": 2, "answers-twice": 1}, names)
}

func TestEverySettingIsOfSomeMutant(t *testing.T) {
	some, every := map[string]bool{}, 0
	for _, j := range allJobs(false) {
		some[j.setting.name] = some[j.setting.name] || j.mutant != nil && j.mutant.Dialects == nil
	}
	for _, s := range settings {
		require.True(t, some[s.name], "no mutant that any wire shows is played in %s", s.name)
	}
	for _, j := range allJobs(true) {
		if j.mutant != nil && j.mutant.Name == "no-model" {
			every++
		}
	}
	require.Equal(t, 2*len(settings), every, "in every setting and both eras")
}
