package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Suite is the configuration of a run. Only Client is required.
type Suite struct {
	Client harness.Client
	// Revisions are judged in sessions of their own; nil for [Revisions].
	Revisions []server.Revision
	// Only and Skip are patterns of scenarios, cases and checks (see [Only]); nil for everything, and for nothing.
	Only, Skip []string
	// Seed generates session ids, request states and malformed requests.
	Seed int64
	// Timeout limits a session with the client, CaseTimeout one with a single case; 0 for the default of [harness.Runner].
	Timeout, CaseTimeout time.Duration
	// ClientTimeout is how long the client waits for the model; 0 if unknown (see [harness.Runner]).
	ClientTimeout time.Duration
	// Parallel is the number of concurrent sessions; 0 for one.
	Parallel int
	// Dialect is the only model wire format that the client is offered; "" for all.
	Dialect string
	// Source answers requests to the model in place of the scenarios' scripts; nil for the scripts.
	Source llm.Source
	// Tool is the version of the program, for the report.
	Tool string
	// Bubble runs a function in virtual time (see [harness.Runner]); nil for real time.
	Bubble func(func())
	// Contained plays the hostile cases in place of Client (see [harness.Runner]); nil for Client.
	Contained *harness.Client
	// Watchdog limits the real time of a session in virtual time; 0 for [harness.DefaultWatchdog].
	Watchdog time.Duration
	// Reproduce returns the command that plays one case, or the whole run for "", for the report; nil for none.
	Reproduce func(revision server.Revision, caseID string) string
	// Fuzz is the number of malformed requests per revision that Seed generates in addition to the catalogue's.
	Fuzz int
	// Frames is the folder in which generated malformed requests that break the client are kept. Each is shrunk first,
	// which takes more sessions. "" keeps none.
	Frames string
	// Frame is the path of a file in Frames: only that is played, in its revision. "" for none.
	Frame string
	// ReproduceFile returns the command that plays a file in Frames, for the report; nil for none.
	ReproduceFile func(path string) string
}

// Run plays and judges. It returns the results and their traces, in the order of the revisions. When the context ends,
// it returns the results so far, marked as interrupted, with the context's error. Errors are a [SelectionError], a
// [FrameError], a [harness.CommandError], or an error of the harness. Run does not change the suite.
func (s *Suite) Run(ctx context.Context) (*report.Results, []*trace.Trace, error) {
	suite := *s
	s = &suite
	generated, err := s.generated()
	if err != nil {
		return nil, nil, err
	}
	chosen, err := newSelection(s.Only, s.Skip, generated...)
	if err != nil {
		return nil, nil, err
	}
	revisions, err := s.revisions()
	if err != nil {
		return nil, nil, err
	}
	traces, err := s.play(ctx, revisions, chosen)
	var usage *harness.CommandError
	if errors.As(err, &usage) {
		return nil, nil, usage
	}
	if len(traces) == 0 {
		return nil, nil, cmp.Or(err, error(&SelectionError{}))
	}
	rs, judgeErr := judgeSelected(traces, chosen)
	if judgeErr != nil {
		return nil, traces, errors.Join(err, judgeErr)
	}
	rs.Interrupted = ctx.Err() != nil
	s.addReproduce(rs)
	if s.Frames != "" && err == nil {
		err = s.keepFrames(ctx, rs)
	}
	return rs, traces, err
}

// revisions returns the revisions to judge, each once.
func (s *Suite) revisions() ([]server.Revision, error) {
	wanted := s.Revisions
	if wanted == nil {
		wanted = Revisions()
	}
	var revisions []server.Revision
	for _, r := range wanted {
		if !slices.Contains(AllRevisions(), r) {
			return nil, fmt.Errorf("unknown revision %q: use one of %v", r, AllRevisions())
		}
		if !slices.Contains(revisions, r) {
			revisions = append(revisions, r)
		}
	}
	return revisions, nil
}

// play plays the revisions, concurrently if Parallel allows it, and returns the traces in their order.
func (s *Suite) play(ctx context.Context, revisions []server.Revision, chosen *selection) ([]*trace.Trace, error) {
	traces := make([][]*trace.Trace, len(revisions))
	errs := make([]error, len(revisions))
	atOnce := max(min(s.Parallel, len(revisions)), 1) // Each revision gets its share of the concurrent sessions.
	one := func(i int) {
		cases := chosen.cases(revisions[i])
		if len(cases) == 0 || ctx.Err() != nil {
			errs[i] = ctx.Err()
			return
		}
		runner := s.runner(revisions[i], s.Parallel/atOnce)
		errs[i] = runner.Run(ctx, cases, func(t *trace.Trace) { traces[i] = append(traces[i], t) })
	}
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i := range revisions {
		slots <- struct{}{}
		running.Go(func() {
			one(i)
			<-slots
		})
	}
	running.Wait()
	return slices.Concat(traces...), errors.Join(errs...)
}

// runner returns a runner for a revision.
func (s *Suite) runner(revision server.Revision, parallel int) *harness.Runner {
	return &harness.Runner{
		Client: s.Client, Contained: s.Contained, Revision: revision, Seed: s.Seed, Tool: s.Tool,
		Timeout: s.Timeout, CaseTimeout: s.CaseTimeout, ClientTimeout: s.ClientTimeout, Watchdog: s.Watchdog,
		Parallel: parallel, Dialect: s.Dialect, Source: s.Source, Bubble: s.Bubble,
	}
}

// addReproduce adds the reproduce command to each result that did not pass.
func (s *Suite) addReproduce(rs *report.Results) {
	if s.Reproduce == nil {
		return
	}
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Verdict == report.Pass || r.Verdict == report.NotApplicable {
			continue
		}
		caseID := ""
		for _, c := range r.Cases {
			if c.Verdict == r.Verdict {
				caseID = c.Case
				break
			}
		}
		r.Reproduce = s.Reproduce(server.Revision(r.Revision), caseID)
	}
}
