package selftest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
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
}

// name is mutant and condition.
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
// condition occurs. In a sample each mutant has one condition, which the mutants take in turns.
func RunConditions(ctx context.Context, o Options) (*Conditions, error) {
	p := &player{Options: o, learned: map[played]*occurrences{}}
	var pairs [][]Pair
	var errs []error
	var running sync.WaitGroup
	slots := make(chan struct{}, max(o.Parallel, 1))
	chosen := chosenMutants(&o)
	pairs, errs = make([][]Pair, len(chosen)), make([]error, len(chosen))
	for i := range chosen {
		running.Go(func() {
			slots <- struct{}{}
			pairs[i], errs[i] = p.mutant(ctx, &chosen[i].Mutant, chosen[i].turn)
			<-slots
		})
	}
	running.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("playing mutant %s under conditions: %w", chosen[i].Name, err)
		}
	}
	c := &Conditions{Pairs: slices.Concat(pairs...), Wrong: []string{}}
	c.judge(readExceptions(conditionsText), !o.Sample && o.Mutants == nil)
	return c, nil
}

// turn is a mutant and its place among all.
type turn struct {
	mutants.Mutant
	turn int
}

// sampledPairs is how many pairs are in a sample.
const sampledPairs = 60

// chosenMutants are the mutants to play.
func chosenMutants(o *Options) []turn {
	all := mutants.All()
	every := 1
	if o.Sample {
		every = len(all)/sampledPairs + 1
	}
	var chosen []turn
	for i, m := range all {
		if o.Mutants == nil && i%every == 0 || slices.Contains(o.Mutants, m.Name) {
			chosen = append(chosen, turn{m, i})
		}
	}
	return chosen
}

// player plays pairs.
type player struct {
	Options

	mu      sync.Mutex
	learned map[played]*occurrences
}

// mutant plays all pairs of a mutant, or one in a sample.
func (p *player) mutant(ctx context.Context, m *mutants.Mutant, turn int) ([]Pair, error) {
	conditions := mutants.Conditions()
	if p.Sample {
		conditions = conditions[turn%len(conditions):][:1]
	}
	if !m.Conditional() {
		return each(conditions, func(c mutants.Condition) Pair {
			return Pair{Mutant: m.Name, Condition: c.Name, Reason: neverOfSample, chapter: m.Chapter}
		}), nil
	}
	setting := settingsOf(m, turn, false)[0]
	revisions := revisionsOf(m)
	shift := turn % len(revisions)
	revisions = slices.Concat(revisions[shift:], revisions[:shift])
	shows := map[server.Revision][]string{}
	for _, r := range revisions {
		var err error
		if shows[r], err = p.shows(ctx, m, setting, r); err != nil {
			return nil, err
		}
	}
	var pairs []Pair
	for _, c := range conditions {
		pair := Pair{Mutant: m.Name, Condition: c.Name, chapter: m.Chapter}
		under := *m
		under.When = c
		if err := p.pair(ctx, &under, setting, revisions, shows, &pair); err != nil {
			return nil, err
		}
		if !pair.Fired && c.Name == "streamed" && !setting.streams() {
			pair.Reason = neverStreamed
		}
		pairs = append(pairs, pair)
	}
	if !p.Sample && !slices.ContainsFunc(pairs, func(pair Pair) bool { return pair.Fired }) {
		for i := range pairs { // each sample is with tools or without
			pairs[i].Reason = neverOfSample
		}
	}
	return pairs, nil
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

// pair plays a pair on a few cases in each revision, and then on all, until it is named.
func (p *player) pair(ctx context.Context, m *mutants.Mutant, s setting, revisions []server.Revision,
	shows map[server.Revision][]string, pair *Pair) error {
	for _, most := range []int{fewCases, 1 << 10} {
		for _, r := range revisions {
			occurs, err := p.occurrences(ctx, played{r, m.Chapter == mutants.ClientLoop})
			if err != nil {
				return err
			}
			cases := slices.DeleteFunc(slices.Clone(shows[r]), func(id string) bool { return !occurs.in(id, m.When.Name) })
			if len(cases) == 0 || most > fewCases && len(cases) <= fewCases {
				continue
			}
			if err := p.play(ctx, m, s, r, cases[:min(most, len(cases))], pair); err != nil || pair.Named != "" {
				return err
			}
		}
	}
	return nil
}

// play plays a pair on cases.
func (p *player) play(ctx context.Context, m *mutants.Mutant, s setting, r server.Revision, cases []string,
	pair *Pair) error {
	cases = append([]string{plainCase}, cases...)
	j := job{m, s, r, cases}
	seen := &witness{}
	row, err := j.runWith(ctx, p.Options, seen)
	if err != nil {
		return err
	}
	if len(seen.cases) == 0 {
		return nil
	}
	pair.Fired, pair.Setting, pair.Revision = true, s.name, string(r)
	pair.Case, pair.Beside = seen.cases[0], slices.Concat(row.Killed, row.Unseen)
	for _, id := range row.Killed {
		if m.Concerns(id) {
			pair.Named, pair.Beside = id, nil
			return nil
		}
	}
	if !concernsReports(m) {
		return nil
	}
	of := job{nil, s, r, cases}
	reference, err := of.run(ctx, p.Options)
	if err != nil {
		return err
	}
	for id, reports := range row.reports {
		if m.Concerns(id) && differs(reports, reference.reports[id]) {
			pair.Named, pair.Beside = id, nil
		}
	}
	return nil
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

// shows returns the cases in which the bug shows without a condition, those of its own checks first. It looks in the
// scenarios of these checks, and in one case of each scenario for each condition.
func (p *player) shows(ctx context.Context, m *mutants.Mutant, s setting, r server.Revision) ([]string, error) {
	occurs, err := p.occurrences(ctx, played{r, m.Chapter == mutants.ClientLoop})
	if err != nil {
		return nil, err
	}
	cases := casesOf(m, occurs)
	if p.Sample {
		return cases, nil
	}
	seen := &witness{}
	j := job{m, s, r, cases}
	if _, err := j.runWith(ctx, p.Options, seen); err != nil || seen.early {
		return cases, err
	}
	return slices.DeleteFunc(cases, func(id string) bool { return !slices.Contains(seen.cases, id) }), nil
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
		if occurs.facts[id] != nil && !slices.Contains(cases, id) {
			cases = append(cases, id)
		}
	}
	return cases
}

const malformedScenario = "malformed"
