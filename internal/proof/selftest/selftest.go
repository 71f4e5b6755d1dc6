// Package selftest proves the checks. It runs the reference client and its mutants against the catalogue and builds the
// kill matrix: the reference must pass every check, each mutant must fail the checks that it was made for and no
// unrelated ones, and each check must fail at least one mutant.
package selftest

import (
	"context"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

// Options are the settings of [Run]. The zero value runs the matrix one client after the other.
type Options struct {
	// Parallel is how many clients run at once; 0 for one.
	Parallel int
	// Every runs each mutant in every setting in which its bug shows, on the whole catalogue, which takes several times as
	// long. Otherwise it runs in up to three settings, on the scenarios of its own checks and, in the first setting, on
	// others in turn; from the second setting on in one revision. The reference runs in every setting on everything.
	Every bool
	// Sample runs each mutant in one setting and revision, on the cases of its own checks. The reference runs on
	// everything in the first setting, and in others on the same cases as the mutants there.
	Sample bool
	// Mutants are the names of the mutants to run, beside the reference in the same settings; nil for all. With some of
	// them alone, nothing is said about checks without a mutant.
	Mutants []string
}

// Matrix is the kill matrix and what is wrong with it.
type Matrix struct {
	// Checks are all checks of the catalogue, as scenario/check, in its order.
	Checks []string `json:"checks"`
	// Rows are the clients that ran: the reference first, then the mutants, each in its settings.
	Rows []Row `json:"rows"`
	// Wrong says in sentences what is wrong; empty if every check is proven.
	Wrong []string `json:"wrong"`
}

// Row is one client in one setting and revision.
type Row struct {
	// Mutant is "" for the reference.
	Mutant   string `json:"mutant,omitempty"`
	Setting  string `json:"setting"`
	Revision string `json:"revision"`
	// Killed are the checks that failed the client, and those of level MAY that report something else than of the
	// reference.
	Killed []string `json:"killed"`
	// Unseen are the checks that had nothing to judge, because the client did not get that far.
	Unseen []string `json:"unseen"`
	// Passed are the checks that the client passed.
	Passed []string `json:"passed"`
	// Fired is how many times the mutant's bug changed something.
	Fired int64 `json:"fired,omitempty"`

	// Failed has the results of Killed and, of checks of level MAY, all, by ID.
	Failed map[string]report.Result `json:"-"`

	reports map[string]map[string]string // messages of checks of level MAY, by check and case
}

// Run runs the clients and returns the matrix. Its error says that something on our side failed, or that the context
// ended.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	m := &Matrix{Checks: checkIDs(), Wrong: []string{}}
	jobs := jobsOf(&o)
	if o.Mutants != nil {
		jobs = only(jobs, o.Mutants)
	}
	m.Rows = make([]Row, len(jobs))
	errs := make([]error, len(jobs))
	workers.Each(len(jobs), o.Parallel, func(i int) { m.Rows[i], _, errs[i] = jobs[i].run(ctx, false) })
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("running %s: %w", jobs[i].name(), err)
		}
	}
	m.judge(jobs, o.Sample)
	if o.Mutants == nil {
		m.judgeChecks(mutants.All())
	}
	return m, nil
}

// checkIDs are all checks, as scenario/check.
func checkIDs() []string {
	var ids []string
	for _, s := range conformance.Scenarios() {
		for _, c := range s.Checks {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

const (
	// clientScenario holds the checks of the client as a whole, which every case shows.
	clientScenario = "client"
	// timeScenario keeps clients waiting.
	timeScenario = "time"
)
