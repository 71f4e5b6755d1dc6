package selftest

import (
	"context"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// occurrences say in which cases the conditions occur, in one revision.
type occurrences struct {
	byCase   map[string]play.Conditions
	examples map[string][]string // by condition: one case of each scenario
}

func (o *occurrences) in(id, condition string) bool { return o.byCase[id][condition] }

// played is what occurrences depend on: the revision, and whether the client runs the tool loop itself.
type played struct {
	revision server.Revision
	loop     bool
}

// occurrences returns where the conditions occur for a mutant. A run of the reference teaches it.
func (p *player) occurrences(ctx context.Context, r server.Revision, m *mutants.Mutant) (*occurrences, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := played{r, m.Chapter == mutants.ClientLoop}
	if p.learned[of] != nil {
		return p.learned[of], nil
	}
	var needed []*mutants.Mutant
	for i := range p.chosen {
		needed = append(needed, &p.chosen[i])
	}
	var only []string
	skip := skips(needed...)
	if of.loop {
		only = []string{mutants.ClientLoop, plainCase}
	} else if !slices.ContainsFunc(needed, func(m *mutants.Mutant) bool {
		return slices.Contains(scenariosOf(m), malformedScenario)
	}) {
		skip = append(skip, malformedScenario, malformedScenario+"/*")
	}
	setting := play.Setting{Revision: r, Config: reference.Config{Loop: of.loop}}
	byCase, err := setting.Learn(ctx, only, skip)
	if err != nil {
		return nil, err
	}
	o := &occurrences{byCase, map[string][]string{}}
	o.choose()
	p.learned[of] = o
	return o, nil
}

// choose chooses examples. Malformed requests are left out: every client refuses them.
func (o *occurrences) choose() {
	for _, s := range chapters() {
		for _, c := range mutants.Conditions() {
			i := slices.IndexFunc(s.Cases, func(id string) bool { return o.in(id, c.Name) })
			if i >= 0 && s.ID != timeScenario && s.ID != malformedScenario {
				o.examples[c.Name] = append(o.examples[c.Name], s.Cases[i])
			}
		}
	}
}
