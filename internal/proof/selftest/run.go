package selftest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// run runs the client.
func (j *job) run(ctx context.Context, o Options) (Row, error) { return j.runWith(ctx, o, nil) }

// runWith runs the client. The witness, if there is one, notes in which cases its bug changed something.
func (j *job) runWith(ctx context.Context, o Options, seen *witness) (Row, error) {
	row := Row{Setting: j.setting.name, Revision: string(j.revision), Killed: []string{}, Unseen: []string{},
		Passed: []string{}, Failed: map[string]report.Result{}, reports: map[string]map[string]string{}}
	suite := conformance.Suite{Revisions: []server.Revision{j.revision}, Seed: 1, Bubble: o.Bubble, Only: j.only,
		Skip: j.skipped(o)}
	client := reference.Client(j.setting.config)
	if j.setting.config.Loop && seen != nil {
		suite.Loop = harness.ClientLoop // the few cases of a pair need not show it
	}
	var fired atomic.Int64
	if j.mutant != nil {
		row.Mutant = j.mutant.Name
		client = func(ctx context.Context, env harness.Env) error {
			current := func() string { return "" }
			if seen != nil {
				current = watch(&env)
			}
			return j.mutant.Client(j.setting.config, func() {
				fired.Add(1)
				if seen != nil {
					seen.saw(current())
				}
			})(ctx, env)
		}
		suite.ClientTimeout = j.limit(o)
		if o.Bubble == nil && j.waits() && !o.Sample && seen == nil {
			suite.Only = scenariosOf(j.mutant)
		}
		if j.mutant.Hangs {
			suite.Timeout = hangTimeout
		}
	}
	var options []harness.Option
	if j.setting.stdio {
		options = append(options, harness.Stdio())
	}
	if j.setting.config.Host {
		options = append(options, harness.Agent())
	}
	suite.Client = harness.InProcess(client, options...)
	rs, _, err := suite.Run(ctx)
	if err != nil {
		return row, err
	}
	row.Fired = fired.Load()
	return row, row.add(rs)
}

// expense is a case that costs as much as many others. It runs for the reference, and for the mutants that need it.
type expense struct {
	pattern string
	checks  []string
}

var expensive = []expense{
	{"basic/long", nil},
	{"mrtr/for-ever", []string{"mrtr/endless"}},
	{"consent/fifty", []string{"consent/burst"}},
	{"loop/sixty-four-rounds", []string{"loop/iteration-limit", "loop/stops-with-error"}},
}

// isFor reports whether a mutant needs the case: it plays it, or one of the checks concerns it.
func (e *expense) isFor(m *mutants.Mutant) bool {
	return slices.Contains(m.Plays, e.pattern) || slices.ContainsFunc(e.checks, m.Concerns)
}

// skipped are the cases that the client does not run.
func (j *job) skipped(o Options) []string {
	var skip []string
	if j.mutant != nil || j.setting.name != settings[0].name {
		skip = append(skip, "malformed/long-string") // proves no check
	}
	if j.mutant == nil {
		if o.Sample && j.revision != server.V20260728 { // once is enough
			skip = append(skip, "malformed/long-string", "basic/long", "loop/sixty-four-rounds")
		}
		return skip
	}
	for _, e := range expensive {
		if !e.isFor(j.mutant) {
			skip = append(skip, e.pattern)
		}
	}
	if o.Bubble == nil && !j.waits() {
		skip = append(skip, timeScenario, timeScenario+"/*")
	}
	return skip
}

// limit is how long a mutant that waits gives the model, so that its limit can be judged; 0 for other clients.
func (j *job) limit(o Options) time.Duration {
	switch {
	case j.mutant == nil || !j.waits():
		return 0
	case o.Bubble == nil:
		return time.Second
	}
	return time.Minute
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
