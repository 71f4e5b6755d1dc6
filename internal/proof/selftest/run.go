package selftest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// changes are what a bug changed, by case; "" is before the first call.
type changes map[string][]mutants.Change

// run runs the client. A few cases need not show that it runs the tool loop itself.
func (j *job) run(ctx context.Context, few bool) (Row, changes, error) {
	row := Row{Setting: j.setting.name, Revision: string(j.revision), Killed: []string{}, Unseen: []string{},
		Passed: []string{}, Failed: map[string]report.Result{}, reports: map[string]map[string]string{}}
	var mu sync.Mutex
	var all []mutants.Change
	client := reference.Client(j.setting.config)
	if j.mutant != nil {
		row.Mutant = j.mutant.Name
		client = j.mutant.Client(j.setting.config, func(c mutants.Change) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c)
		})
	}
	suite := j.suite(client)
	if j.setting.config.Loop && few {
		suite.Loop = harness.ClientLoop
	}
	rs, traces, err := suite.Run(ctx)
	if err != nil {
		return row, nil, err
	}
	row.Fired = int64(len(all))
	byCase, cases := changes{}, play.CasesByCall(traces)
	cases[""] = beforeAll
	for _, c := range all {
		byCase[cases[c.Call]] = append(byCase[cases[c.Call]], c)
	}
	delete(byCase, "") // the call is of no case
	return row, byCase, row.add(rs)
}

// beforeAll is in place of a case before the first call.
const beforeAll = "before all"

// suite is the suite that plays a client in place of the job's.
func (j *job) suite(client func(context.Context, harness.Env) error) *conformance.Suite {
	s := play.Setting{Revision: j.revision, Config: j.setting.config, Stdio: j.setting.stdio}
	suite := s.Suite(client)
	suite.Only, suite.Skip = j.only, j.skip
	if j.mutant != nil {
		suite.Skip = skips(j.mutant)
		if j.mutant.When.Holds == nil {
			suite.Skip = append(suite.Skip, manyStories...)
		}
	}
	if j.mutant != nil && waits(j.mutant) {
		suite.ClientTimeout = time.Minute // so that its limit can be judged
	}
	if j.mutant != nil && j.mutant.Hangs {
		suite.Timeout = hangTimeout
	}
	return suite
}

// hangTimeout is the time for a session with a mutant that hangs: longer than a case waits for a late response.
const hangTimeout = 5 * time.Second

// expense is a case that costs as much as many others. It runs for the reference, and for the mutants that need it.
type expense struct {
	pattern string
	checks  []string
}

var expensive = []expense{
	{longString, nil},
	{"basic/long", nil},
	{"mrtr/for-ever", []string{"mrtr/endless"}},
	{"consent/fifty", []string{"consent/burst"}},
	{"loop/sixty-four-rounds", []string{"loop/iteration-limit", "loop/stops-with-error"}},
}

const longString = "malformed/long-string" // which proves no check

// manyStories are cases that tell again what others tell. They show the bugs that are limited to a condition.
var manyStories = []string{"*/*after-image", "*/after-failure"}

// isFor reports whether a mutant needs the case: it plays it, or one of the checks concerns it.
func (e *expense) isFor(m *mutants.Mutant) bool {
	return slices.Contains(m.Plays, e.pattern) || slices.ContainsFunc(e.checks, m.Concerns)
}

// skips are the expensive cases that none of the mutants needs.
func skips(of ...*mutants.Mutant) []string {
	var skip []string
	for _, e := range expensive {
		if !slices.ContainsFunc(of, e.isFor) {
			skip = append(skip, e.pattern)
		}
	}
	return skip
}

// add sorts the results by verdict.
func (row *Row) add(rs *report.Results) error {
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Level == report.May || r.Failed(true) {
			row.Failed[r.ID()] = *r
		}
		if r.Level == report.May {
			row.reports[r.ID()] = map[string]string{}
			for _, c := range r.Cases {
				if c.Verdict == report.Info {
					row.reports[r.ID()][c.Case] = c.Message
				}
			}
		}
		switch r.Verdict {
		case report.Fail, report.Warn:
			row.Killed = append(row.Killed, r.ID())
		case report.NotObserved:
			row.Unseen = append(row.Unseen, r.ID())
		case report.Pass, report.Info:
			row.Passed = append(row.Passed, r.ID())
		case report.HarnessError:
			return fmt.Errorf("%s: harness error: %s", r.ID(), r.Message)
		}
	}
	return nil
}

// named returns the checks about the mutant that found its bug, by the case in which they did; "" for a check of the
// client as a whole. Right is the reference's row on the same cases; nil if no report matters.
func (row *Row) named(m *mutants.Mutant, right *Row) map[string]string {
	found := map[string]string{}
	for _, id := range row.Killed {
		if !m.Concerns(id) {
			continue
		}
		found[""] = id
		for _, c := range row.Failed[id].Cases {
			if c.Verdict == report.Fail || c.Verdict == report.Warn {
				found[c.Case] = id
			}
		}
	}
	if right == nil {
		return found
	}
	for _, id := range slices.Sorted(maps.Keys(row.reports)) {
		for name, message := range row.reports[id] {
			if other, ok := right.reports[id][name]; ok && other != message && m.Concerns(id) {
				found[""], found[name] = id, id
			}
		}
	}
	return found
}
