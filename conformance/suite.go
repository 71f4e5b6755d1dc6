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

// Suite is a run: a client, and what is asked of it. Only Client is required.
type Suite struct {
	Client harness.Client
	// Revisions are those to judge, each in sessions of its own; nil for [Revisions].
	Revisions []server.Revision
	// Only and Skip are patterns of scenarios, cases and checks; nil for all, and for none.
	Only, Skip []string
	// Seed makes session ids and request states.
	Seed int64
	// Timeout is how long one session with the client may take, CaseTimeout one of a single case; 0 for what [harness.Runner] says.
	Timeout, CaseTimeout time.Duration
	// ClientTimeout is how long the client waits for the model; 0 where that is not known (see [harness.Runner]).
	ClientTimeout time.Duration
	// Parallel is how many sessions run at once; 0 for one.
	Parallel int
	// Dialect is the only model wire format that the client is told of; "" for all that there are.
	Dialect string
	// Source answers the model's requests in place of the scenarios' scripts; nil for the scripts.
	Source llm.Source
	// Tool is the version of the program, for the report.
	Tool string
	// Bubble runs a function in virtual time (see [harness.Runner]); nil for real time.
	Bubble func(func())
	// Contained plays the hostile cases in place of Client (see [harness.Runner]); nil for Client.
	Contained *harness.Client
	// Watchdog is how long, by a real clock, a session in virtual time may take; 0 for [harness.DefaultWatchdog].
	Watchdog time.Duration
	// Again returns the command that plays just one case again, for the report; nil for none.
	Reproduce func(revision server.Revision, caseID string) string
	// Fuzz is how many malformed requests are made from Seed and played in each revision, beside those of the catalogue.
	Fuzz int
	// Frames is the folder for malformed requests, of those that are made from a seed, that break the client: each is made as small as it can
	// be, which takes some more sessions, and kept as a file. "" keeps none.
	Frames string
	// Frame is the path of such a file: it alone is played then, in its revision. "" for none.
	Frame string
	// Reproduce returns the command that plays a file of Frames, for the report; nil for none.
	ReproduceFile func(path string) string
}

// Run plays and judges. It returns the results, and the traces that they rest on in the order of the revisions. When the context ends
// it returns what was judged until then, marked as interrupted, with the context's error. Errors are a [SelectionError], a [FrameError], a
// [harness.CommandError], or say what went wrong on our own side.
func (s *Suite) Run(ctx context.Context) (*report.Results, []*trace.Trace, error) {
	suite := *s // what follows from the settings is not the caller's
	s = &suite
	made, err := s.made()
	if err != nil {
		return nil, nil, err
	}
	chosen, err := newSelection(s.Only, s.Skip, made...)
	if err != nil {
		return nil, nil, err
	}
	wanted := s.Revisions
	if wanted == nil {
		wanted = Revisions()
	}
	var revisions []server.Revision
	for _, r := range wanted {
		if !slices.Contains(AllRevisions(), r) {
			return nil, nil, fmt.Errorf("revision %q cannot be judged: want one of %v", r, AllRevisions())
		}
		if !slices.Contains(revisions, r) {
			revisions = append(revisions, r)
		}
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

// play plays the revisions, several at once where that is allowed, and returns the traces in their order.
func (s *Suite) play(ctx context.Context, revisions []server.Revision, chosen *selection) ([]*trace.Trace, error) {
	traces := make([][]*trace.Trace, len(revisions))
	errs := make([]error, len(revisions))
	atOnce := max(min(s.Parallel, len(revisions)), 1) // revisions, each with its share of the sessions that may run at once
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

// runner plays cases in a revision, several sessions at once.
func (s *Suite) runner(revision server.Revision, parallel int) *harness.Runner {
	return &harness.Runner{Client: s.Client, Revision: revision, Seed: s.Seed, Timeout: s.Timeout, CaseTimeout: s.CaseTimeout, ClientTimeout: s.ClientTimeout,
		Contained: s.Contained, Parallel: parallel, Tool: s.Tool, Dialect: s.Dialect, Source: s.Source, Bubble: s.Bubble, Watchdog: s.Watchdog}
}

// tellAgain adds to each result that calls for a look the command that reproduces it.
func (s *Suite) addReproduce(rs *report.Results) {
	if s.Reproduce == nil {
		return
	}
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Verdict == report.Pass || r.Verdict == report.NotApplicable {
			continue
		}
		again := ""
		for _, c := range r.Cases {
			if c.Verdict == r.Verdict {
				again = c.Case
				break
			}
		}
		r.Reproduce = s.Reproduce(server.Revision(r.Revision), again)
	}
}
