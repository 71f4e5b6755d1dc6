package selftest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

// Pair is a mutant whose bug is limited to one condition, and what became of it.
type Pair struct {
	Mutant    string `json:"mutant"`
	Condition string `json:"condition"`
	// Fired says whether the bug changed something, in one of the cases that were played.
	Fired bool `json:"fired"`
	// Named is a check that failed the client and that is about the mutant, or about every case; "" for none.
	Named string `json:"named,omitempty"`
	// Beside are checks about something else that failed the client, or that could not judge it, if nothing named it.
	Beside []string `json:"beside,omitempty"`
	// Reason says why a pair never fires, or why nothing is wrong if it does; "" if that is unknown.
	Reason string `json:"reason,omitempty"`
	// Case is a case in which the bug changed something, in the setting and the revision.
	Setting  string `json:"setting,omitempty"`
	Revision string `json:"revision,omitempty"`
	Case     string `json:"case,omitempty"`

	chapter string // of the mutant
	when    mutants.Condition
}

func (p *Pair) name() string { return p.Mutant + " / " + p.Condition }

// Conditions are the pairs of mutants and conditions, and what is wrong with them.
type Conditions struct {
	Pairs []Pair `json:"pairs"`
	// Wrong says in sentences what is wrong; empty if every pair that fires is named, and every one that never fires is
	// listed or cannot fire.
	Wrong []string `json:"wrong"`
}

// Reasons why a pair cannot fire.
const (
	neverOfSample = "The bug is in no message of a sample."
	neverStreamed = "The bug is one of a client without streams."
)

// RunConditions plays the mutants of the options under each condition: each pair in one setting, on cases in which the
// condition occurs.
func RunConditions(ctx context.Context, o Options) (*Conditions, error) {
	p := &player{Options: o, chosen: chosenMutants(&o), learned: map[played]*occurrences{}}
	pairs, errs := make([][]Pair, len(p.chosen)), make([]error, len(p.chosen))
	workers.Each(len(p.chosen), o.Parallel, func(i int) { pairs[i], errs[i] = p.mutant(ctx, &p.chosen[i]) })
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("playing mutant %s under conditions: %w", p.chosen[i].Name, err)
		}
	}
	c := &Conditions{Pairs: slices.Concat(pairs...), Wrong: []string{}}
	c.judge(readExceptions(conditionsText), o.Mutants == nil)
	return c, nil
}

func chosenMutants(o *Options) []mutants.Mutant {
	return slices.DeleteFunc(mutants.All(), func(m mutants.Mutant) bool {
		return o.Mutants != nil && !slices.Contains(o.Mutants, m.Name)
	})
}

// player plays pairs.
type player struct {
	Options
	chosen []mutants.Mutant

	mu      sync.Mutex
	learned map[played]*occurrences
}

// pairs are the pairs of one mutant.
type pairs struct {
	*player
	mutant    *mutants.Mutant
	setting   setting
	revisions []server.Revision
	all       []Pair
	cases     map[server.Revision][]string // in which the bug shows, those first in which a check found it
}

// mutant plays all pairs of a mutant.
func (p *player) mutant(ctx context.Context, m *mutants.Mutant) ([]Pair, error) {
	all := each(mutants.Conditions(), func(c mutants.Condition) Pair {
		return Pair{Mutant: m.Name, Condition: c.Name, chapter: m.Chapter, when: c}
	})
	if !m.Conditional() {
		for i := range all {
			all[i].Reason = neverOfSample
		}
		return all, nil
	}
	revisions := revisionsOf(m)
	shift := number(m) % len(revisions)
	of := &pairs{p, m, settingsOf(m, false)[0], slices.Concat(revisions[shift:], revisions[:shift]), all,
		map[server.Revision][]string{}}
	if err := of.play(ctx); err != nil {
		return nil, err
	}
	fired := slices.ContainsFunc(all, func(pair Pair) bool { return pair.Fired })
	for i := range all {
		switch {
		case !fired:
			all[i].Reason = neverOfSample
		case !all[i].Fired && all[i].Condition == "streamed" && !of.setting.streams():
			all[i].Reason = neverStreamed
		}
	}
	return all, nil
}

func each[A, B any](all []A, f func(A) B) []B {
	var made []B
	for _, a := range all {
		made = append(made, f(a))
	}
	return made
}

// fewCases is how many cases a pair is played on first. Most are named there.
const fewCases = 6

// play plays the mutant under no condition, which proves most pairs. It plays the others on a few cases in each
// revision, and then on the rest, until they are named.
func (p *pairs) play(ctx context.Context) error {
	for _, part := range []part{ownCases, longCases, otherCases} {
		for _, r := range p.revisions {
			if err := p.look(ctx, r, part); err != nil {
				return err
			}
		}
	}
	for i := range p.all {
		for nth := range 2 {
			for _, r := range p.revisions {
				if err := p.under(ctx, &p.all[i], r, nth); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// look plays the mutant in all samples, to see in which cases its bug shows and which pairs that proves. It plays the
// cases of its own checks first, those of their scenarios, and one case of each scenario for each condition.
func (p *pairs) look(ctx context.Context, r server.Revision, of part) error {
	occurs, err := p.occurrences(ctx, r, p.mutant)
	if err != nil {
		return err
	}
	cases := slices.DeleteFunc(casesOf(p.mutant, occurs), func(id string) bool {
		return p.part(id) != of ||
			!slices.ContainsFunc(p.all, func(pair Pair) bool { return pair.Named == "" && occurs.in(id, pair.Condition) })
	})
	if len(cases) == 0 {
		p.cases[r] = append(p.cases[r], cases...)
		return nil
	}
	_, changed, named, err := p.on(ctx, play.AnySample, r, cases)
	if err != nil || changed[beforeAll] != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(id string) bool { return changed[id] == nil })
	isNamed := func(id string) bool { return named[id] != "" }
	cases = slices.Concat(slices.DeleteFunc(slices.Clone(cases), func(id string) bool { return !isNamed(id) }),
		slices.DeleteFunc(cases, isNamed))
	p.cases[r] = append(p.cases[r], cases...)
	for i := range p.all {
		if pair := &p.all[i]; pair.Named == "" && !p.mutant.Remembers {
			pair.prove(p.setting.name, r, cases, changed, named)
		}
	}
	return nil
}

// part is what is played together. Most conditions occur in the first parts, and need no others.
type part int

const (
	ownCases   part = iota // of the scenarios of the mutant's checks
	longCases              // manyStories
	otherCases             // examples of other scenarios
)

func (p *pairs) part(id string) part {
	isLong := func(pattern string) bool {
		matches, _ := path.Match(pattern, id)
		return matches
	}
	scenario, _, _ := strings.Cut(id, "/")
	switch {
	case slices.ContainsFunc(manyStories, isLong):
		return longCases
	case slices.Contains(scenariosOf(p.mutant), scenario):
		return ownCases
	}
	return otherCases
}

// prove looks for a case in which a check found the bug, and all that the bug changed is under the condition. The bug
// under the condition changes the same there.
func (p *Pair) prove(setting string, r server.Revision, cases []string, changed changes, named map[string]string) {
	for _, id := range cases {
		if named[id] != "" && !slices.ContainsFunc(changed[id], func(c mutants.Change) bool {
			return len(c.Facts) == 0 || slices.ContainsFunc(c.Facts, func(f mutants.Facts) bool { return !p.when.Holds(f) })
		}) {
			p.Fired, p.Setting, p.Revision, p.Case, p.Named = true, setting, string(r), id, named[id]
			return
		}
	}
}

// under plays a pair that nothing has named, first on a few cases, then on the rest.
func (p *pairs) under(ctx context.Context, pair *Pair, r server.Revision, nth int) error {
	occurs, err := p.occurrences(ctx, r, p.mutant)
	if err != nil {
		return err
	}
	cases := slices.DeleteFunc(slices.Clone(p.cases[r]), func(id string) bool { return !occurs.in(id, pair.Condition) })
	parts := slices.Collect(play.Growing(cases, fewCases, len(cases)))
	if pair.Named != "" || nth >= len(parts) {
		return nil
	}
	row, changed, named, err := p.on(ctx, pair.when, r, parts[nth])
	delete(changed, beforeAll)
	if err != nil || len(changed) == 0 {
		return err
	}
	pair.Fired, pair.Setting, pair.Revision = true, p.setting.name, string(r)
	pair.Case = slices.Sorted(maps.Keys(changed))[0]
	if pair.Named, pair.Beside = named[""], nil; pair.Named == "" {
		pair.Beside = slices.Concat(row.Killed, row.Unseen)
	}
	return nil
}

// on plays the mutant under a condition on cases. It returns what the bug changed, and what named it (see [Row.named]).
func (p *pairs) on(ctx context.Context, when mutants.Condition, r server.Revision, cases []string) (
	row Row, changed changes, named map[string]string, err error,
) {
	m := *p.mutant
	m.When = when
	cases = append([]string{plainCase}, cases...)
	j := job{mutant: &m, setting: p.setting, revision: r, only: cases}
	if row, changed, err = j.run(ctx, true); err != nil || !concernsReports(&m) {
		return row, changed, row.named(&m, nil), err
	}
	of := job{setting: p.setting, revision: r, only: cases}
	right, _, err := of.run(ctx, true)
	return row, changed, row.named(&m, &right), err
}

// concernsReports reports whether a check of level MAY is about the mutant. It never fails: its report differs.
func concernsReports(m *mutants.Mutant) bool {
	for _, s := range conformance.Scenarios() {
		for _, c := range s.Checks {
			for _, level := range c.Levels {
				if level == report.May && slices.Contains(slices.Concat(m.Kills, m.Also), c.ID) {
					return true
				}
			}
		}
	}
	return false
}

// casesOf are the cases on which a mutant is played: those of its own checks, those of their scenarios, and one of each
// scenario for each condition.
func casesOf(m *mutants.Mutant, occurs *occurrences) []string {
	var own, same, others []string
	of := scenariosOf(m)
	for _, s := range chapters() {
		for _, c := range s.Checks {
			if slices.Contains(m.Kills, c.ID) || slices.Contains(m.Also, c.ID) {
				own = append(own, c.Cases...)
			}
		}
		if slices.Contains(of, s.ID) && s.ID != malformedScenario {
			same = append(same, s.Cases...)
		}
		for _, id := range s.Cases {
			if slices.Contains(m.Plays, id) {
				own = append(own, id)
			}
		}
	}
	for _, c := range mutants.Conditions() {
		others = append(others, occurs.examples[c.Name]...)
	}
	var cases []string
	for _, id := range slices.Concat(own, others, same) {
		if occurs.byCase[id] != nil && !slices.Contains(cases, id) {
			cases = append(cases, id)
		}
	}
	return cases
}

const malformedScenario = "malformed"
