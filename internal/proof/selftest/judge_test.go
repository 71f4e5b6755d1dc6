package selftest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// judged judges a matrix of two checks: a row of the reference, and one for each mutant.
func judged(rows []Row, broken ...*mutants.Mutant) []string {
	m := &Matrix{Checks: []string{"s/one", "s/two"}, Rows: rows, Wrong: []string{}}
	jobs := []job{{setting: settings[0], revision: server.V20251125}}
	var all []mutants.Mutant
	for _, mutant := range broken {
		jobs = append(jobs, job{mutant: mutant, setting: settings[0], revision: server.V20251125})
		all = append(all, *mutant)
	}
	m.judge(jobs, false)
	m.judgeChecks(all)
	return m.Wrong
}

func TestTheMatrixSaysWhatIsWrong(t *testing.T) {
	one := &mutants.Mutant{Name: "breaks-one", Kills: []string{"s/one"}}
	two := &mutants.Mutant{Name: "breaks-two", Kills: []string{"s/two"}}
	wide := &mutants.Mutant{Name: "breaks-two", Kills: []string{"s/two"}, Also: []string{"s/one"}}
	stray := &mutants.Mutant{Name: "breaks-nothing", Kills: []string{"s/three"}}
	passing := Row{Passed: []string{"s/one", "s/two"}}
	killing := func(ids ...string) Row { return Row{Killed: ids, Fired: 1} }
	const setting, proof = " (openai-chat-streamed, 2025-11-25)", ": a check that nobody passes proves nothing"
	for name, c := range map[string]struct {
		rows    []Row
		mutants []*mutants.Mutant
		want    []string
	}{
		"nothing": {[]Row{passing, killing("s/one"), killing("s/two")}, []*mutants.Mutant{one, two}, []string{}},
		"nothing if a check that may fail the mutant does": {[]Row{passing, killing("s/one"), killing("s/two", "s/one")},
			[]*mutants.Mutant{one, wide}, []string{}},
		"nothing if a check that may fail the mutant does not": {[]Row{passing, killing("s/one"), killing("s/two")},
			[]*mutants.Mutant{one, wide}, []string{}},
		"a check without a mutant": {[]Row{passing, killing("s/one")}, []*mutants.Mutant{one},
			[]string{"no mutant is made to fail s/two: a check that nobody fails proves nothing"}},
		"a mutant that survives": {[]Row{passing, killing("s/one"), killing()}, []*mutants.Mutant{one, two},
			[]string{"mutant breaks-two" + setting + " survives s/two"}},
		"a mutant that survives in one of its settings": {[]Row{passing, killing("s/one"), killing("s/two"), killing()},
			[]*mutants.Mutant{one, two, two}, []string{"mutant breaks-two" + setting + " survives s/two"}},
		"a mutant that is not observed": {[]Row{passing, killing("s/one"), {Unseen: []string{"s/two"}, Fired: 1}},
			[]*mutants.Mutant{one, two}, []string{"mutant breaks-two" + setting + " survives s/two"}},
		"a mutant that never fires": {[]Row{passing, killing("s/one"), {Killed: []string{"s/two"}}},
			[]*mutants.Mutant{one, two}, []string{"mutant breaks-two" + setting + " never fires"}},
		"an unrelated kill": {[]Row{passing, killing("s/one"), killing("s/two", "s/one")}, []*mutants.Mutant{one, two},
			[]string{"mutant breaks-two" + setting + " fails s/one, which is about something else"}},
		"a mutant for an unknown check": {[]Row{passing, killing("s/one"), killing("s/two"), killing()},
			[]*mutants.Mutant{one, two, stray}, []string{"mutant breaks-nothing is made for s/three, an unknown check"}},
		"a reference that fails": {[]Row{{Passed: []string{"s/two"}, Killed: []string{"s/one"}}, killing("s/one"),
			killing("s/two")}, []*mutants.Mutant{one, two}, []string{"the reference" + setting + " does not pass s/one",
			"the reference passes s/one in no setting" + proof}},
		"a reference that is not observed": {[]Row{{Passed: []string{"s/two"}, Unseen: []string{"s/one"}},
			killing("s/one"), killing("s/two")}, []*mutants.Mutant{one, two},
			[]string{"the reference" + setting + " does not pass s/one", "the reference passes s/one in no setting" + proof}},
		"a check that never applies": {[]Row{{Passed: []string{"s/two"}}, killing("s/one"), killing("s/two")},
			[]*mutants.Mutant{one, two}, []string{"the reference passes s/one in no setting" + proof}},
		"a reference that passes nothing": {[]Row{{}, killing("s/one"), killing("s/two")}, []*mutants.Mutant{one, two},
			[]string{"the reference" + setting + " passes nothing", "the reference passes s/one in no setting" + proof,
				"the reference passes s/two in no setting" + proof}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, judged(c.rows, c.mutants...)) })
	}
}

func TestABugInHTTPNeedNotFireOverStdio(t *testing.T) {
	m := &Matrix{Checks: []string{"s/one"}, Wrong: []string{}, Rows: []Row{{}, {}}}
	overStdio := settings[slices.IndexFunc(settings, func(s setting) bool { return s.stdio })]
	wire := &mutants.Mutant{Name: "breaks-http", Kills: []string{"s/one"}, Wire: true}
	other := &mutants.Mutant{Name: "breaks-all", Kills: []string{"s/one"}}
	m.judge([]job{{mutant: wire, setting: overStdio}, {mutant: other, setting: overStdio}}, false)
	require.Equal(t, []string{"mutant breaks-all (native, over stdio, ) survives s/one",
		"mutant breaks-all (native, over stdio, ) never fires"}, m.Wrong)
}

func TestEveryMutantRunsWhereItsBugShows(t *testing.T) {
	for _, o := range []Options{{}, {Sample: true}} {
		ran := map[string]int{}
		for _, j := range jobsOf(&o) {
			if j.mutant == nil {
				ran[""]++
				continue
			}
			ran[j.mutant.Name]++
			if j.mutant.Era != "" {
				require.Equal(t, j.mutant.Era == "modern", j.revision.Modern(), j.name())
			}
			require.False(t, j.mutant.Streamed && j.setting.config.Plain, j.name())
		}
		if !o.Sample {
			others := len(server.AllRevisions()) - len(server.DefaultRevisions())
			require.Equal(t, 2*len(settings)+others*5, ran[""], "the reference runs in every setting, in some in all revisions")
		}
		for _, m := range mutants.All() {
			require.NotZero(t, ran[m.Name], m.Name)
		}
	}
}

func TestSelectedMutantsRunBesideTheReference(t *testing.T) {
	names := map[string]int{}
	for _, j := range only(jobsOf(&Options{}), []string{"no-model", "answers-twice"}) {
		name := ""
		if j.mutant != nil {
			name = j.mutant.Name
		}
		names[name]++
	}
	require.Equal(t, map[string]int{"": 2, "no-model": 2, "answers-twice": 1}, names)
}

func TestEverySettingHasAMutantOfAllDialects(t *testing.T) {
	some, every := map[string]bool{}, 0
	for _, j := range jobsOf(&Options{}) {
		some[j.setting.name] = some[j.setting.name] || j.mutant != nil && j.mutant.Dialects == nil
	}
	for _, s := range settings {
		require.True(t, some[s.name], s.name)
	}
	for _, j := range jobsOf(&Options{Every: true}) {
		if j.mutant != nil && j.mutant.Name == "no-model" {
			every++
		}
	}
	others := 6 // settings of hosts, and of clients with a loop of their own: they have mutants of their own
	require.Equal(t, 2*(len(settings)-others), every, "in every setting and both eras")
}
