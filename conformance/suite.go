package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

// Suite is the configuration of a run. Only Client is required.
type Suite struct {
	Client harness.Client
	// Revisions are judged in sessions of their own; nil for [server.DefaultRevisions].
	Revisions []server.Revision
	// Only and Skip are patterns of scenarios, cases and checks (see [Only]); nil for everything, and for nothing.
	Only, Skip []string
	// Seed generates session ids, request states, malformed requests and conversations.
	Seed int64
	// Timeout limits a session with the client, CaseTimeout one with a single case; 0 for the default of [harness.Runner].
	Timeout, CaseTimeout time.Duration
	// ClientTimeout is how long the client waits for the model; 0 if unknown (see [harness.Runner]).
	ClientTimeout time.Duration
	// Loop says who runs the tool loop: [harness.ServerLoop], [harness.ClientLoop], or "" if the traces have to tell.
	Loop harness.Loop
	// Parallel is the number of concurrent sessions; 0 for one.
	Parallel int
	// Dialect is the only model wire format that the client is offered; "" for all.
	Dialect string
	// Bubble runs a function in virtual time (see [harness.Runner]); nil for real time.
	Bubble func(func())
	// Fuzz is the number of malformed requests per revision that Seed generates in addition to the catalogue's.
	Fuzz int
	// Explore is the number of valid conversations per revision that Seed generates; 0 for 4, negative for none.
	Explore int
	// Keep is the folder in which generated requests and conversations that fail a check are kept. Each is shrunk first,
	// which takes more sessions. "" keeps none.
	Keep string

	hooks.Options // of the command mcp-conform and our own tests
}

// Run plays and judges. It returns the results and their traces, in the order of the revisions. When the context ends,
// it returns the results so far, marked as interrupted, with the context's error. Errors are a [SelectionError], a
// [ConversationError], a [harness.CommandError], or an error of the harness. Run does not change the suite.
func (s *Suite) Run(ctx context.Context) (*report.Results, []*trace.Trace, error) {
	suite := *s
	s = &suite
	chosen, revisions, err := s.choose()
	if err != nil {
		return nil, nil, err
	}
	traces, err := s.play(ctx, revisions, chosen, func(ended []*trace.Trace) { s.checkpoint(ended, revisions, chosen) })
	var usage *harness.CommandError
	if errors.As(err, &usage) {
		return nil, nil, usage
	}
	if len(traces) == 0 {
		return nil, nil, cmp.Or(err, error(&SelectionError{}))
	}
	rs, judgeErr := s.judge(traces, chosen)
	if judgeErr != nil {
		return nil, traces, errors.Join(err, judgeErr)
	}
	if ctx.Err() != nil {
		rs.Interrupted, rs.Whole = true, false
	}
	if s.Keep != "" && err == nil {
		err = s.keepFailing(ctx, rs)
	}
	if s.Direct == nil || err != nil || ctx.Err() != nil {
		return s.ofGateway(rs, traces), traces, err
	}
	unusual, err := s.sayUnusual(ctx, revisionsOf(rs))
	traces = slices.Concat(traces, unusual)
	if rs = s.ofGateway(rs, traces); err == nil {
		var alone []*trace.Trace
		alone, err = s.addAlone(ctx, rs)
		traces = slices.Concat(traces, alone)
		s.addReproduce(rs)
	}
	return rs, traces, err
}

// Valid returns the error with which Run would refuse the selection, the revisions or the conversation. It
// plays nothing.
func (s *Suite) Valid() error {
	suite := *s
	_, _, err := suite.choose()
	return err
}

// Play plays without judging, as a shard of a run does. [Suite.Judge] judges the traces of all shards. When the context
// ends, it returns the traces so far, with the context's error.
func (s *Suite) Play(ctx context.Context) ([]*trace.Trace, error) {
	suite := *s
	chosen, revisions, err := suite.choose()
	if err != nil {
		return nil, err
	}
	return suite.play(ctx, revisions, chosen, func(ended []*trace.Trace) { suite.Checkpoint(nil, ended) })
}

// Judge judges the traces of all shards as Run would have judged the whole run. The traces of each shard are in the
// order of Play.
func (s *Suite) Judge(traces []*trace.Trace) (*report.Results, error) {
	suite := *s
	chosen, revisions, err := suite.choose()
	if err != nil {
		return nil, err
	}
	return suite.judge(inOrder(traces, revisions, chosen), chosen)
}

// inOrder returns traces in the order of a whole run.
func inOrder(traces []*trace.Trace, revisions []server.Revision, chosen *selection) []*trace.Trace {
	var sorted []*trace.Trace
	for _, revision := range revisions {
		index := map[string]int{}
		for i, c := range chosen.cases(revision) {
			index[c.ID] = i
		}
		var own []*trace.Trace
		for _, t := range traces {
			if t.Header.Revision == string(revision) && len(t.Header.Cases) > 0 && !isOfGateway(t.Header.Cases[0].ID) {
				own = append(own, t)
			}
		}
		slices.SortStableFunc(own, func(a, b *trace.Trace) int {
			return cmp.Compare(index[a.Header.Cases[0].ID], index[b.Header.Cases[0].ID])
		})
		sorted = append(sorted, own...)
	}
	return sorted
}

func (s *Suite) choose() (*selection, []server.Revision, error) {
	generated, err := s.generated()
	if err != nil {
		return nil, nil, err
	}
	chosen, err := newSelection(s.Only, s.Skip, generated)
	if err != nil {
		return nil, nil, err
	}
	revisions, err := s.revisions()
	return chosen, revisions, err
}

func (s *Suite) judge(traces []*trace.Trace, chosen *selection) (*report.Results, error) {
	rs, err := judgeSelected(traces, chosen)
	if err != nil {
		return nil, err
	}
	if rs.Whole = s.Only == nil && s.Skip == nil && s.Conversation == ""; rs.Whole {
		rs.Played = nil
	}
	s.addReproduce(rs)
	return rs, nil
}

// revisions returns the revisions to judge, each once.
func (s *Suite) revisions() ([]server.Revision, error) {
	wanted := s.Revisions
	if wanted == nil {
		wanted = server.DefaultRevisions()
	}
	var revisions []server.Revision
	for _, r := range wanted {
		if !slices.Contains(server.AllRevisions(), r) {
			return nil, fmt.Errorf("unknown revision %q: use one of %v", r, server.AllRevisions())
		}
		if !slices.Contains(revisions, r) {
			revisions = append(revisions, r)
		}
	}
	return revisions, nil
}

// play plays the revisions, concurrently if Parallel allows it, and returns the traces in their order. If the suite has
// checkpoints, it calls checkpoint with the sessions that have ended.
func (s *Suite) play(
	ctx context.Context, revisions []server.Revision, chosen *selection, checkpoint func([]*trace.Trace),
) ([]*trace.Trace, error) {
	var ended func(*trace.Trace)
	if s.Checkpoint != nil {
		c := startCheckpoints(checkpoint)
		defer c.stop()
		ended = c.add
	}
	traces := make([][]*trace.Trace, len(revisions))
	errs := make([]error, len(revisions))
	slots := make(chan struct{}, max(s.Parallel, 1)) // of all revisions
	one := func(i int) {
		cases := chosen.cases(revisions[i])
		if len(cases) == 0 || ctx.Err() != nil {
			errs[i] = ctx.Err()
			return
		}
		runner := s.runner(revisions[i], slots)
		runner.Ended = ended
		errs[i] = s.playRevision(ctx, runner, cases, func(t *trace.Trace) {
			traces[i] = append(traces[i], t)
		})
	}
	workers.Each(len(revisions), cap(slots), one)
	return inOrder(slices.Concat(traces...), revisions, chosen), errors.Join(errs...)
}

// playRevision plays the cases of a revision: those for clients that run the tool loop last, and only if the client
// does, or the case that shows it is not selected.
func (s *Suite) playRevision(
	ctx context.Context, runner *harness.Runner, cases []harness.Case, done func(*trace.Trace),
) error {
	var first, last []harness.Case
	shows := false
	for _, c := range cases {
		if c.ClientLoop {
			last = append(last, c)
		} else {
			first = append(first, c)
			shows = shows || c.Tools != nil
		}
	}
	if !shows || len(last) == 0 || s.Loop == harness.ClientLoop {
		return runner.Run(ctx, cases, done)
	}
	runs := false
	err := runner.Run(ctx, first, func(t *trace.Trace) {
		runs = runs || s.Loop == "" && evidence.RunsTools(t)
		done(t)
	})
	if err != nil || !runs {
		return err
	}
	if runner.Progress != nil {
		runner.Progress = func(p harness.Progress) {
			p.Total += len(first)
			s.Progress(p)
		}
	}
	return runner.Run(ctx, last, done)
}

func (s *Suite) runner(revision server.Revision, slots chan struct{}) *harness.Runner {
	return &harness.Runner{
		Client: s.Client, Contained: s.Contained, Revision: revision, Seed: s.Seed, Tool: s.Tool,
		Timeout: s.Timeout, CaseTimeout: s.CaseTimeout, ClientTimeout: s.ClientTimeout, Watchdog: s.Watchdog, Loop: s.Loop,
		Slots: slots, Dialect: s.Dialect, Source: s.Source, Bubble: s.Bubble, Progress: s.Progress,
		Shard: s.Shard, Shards: s.Shards,
		Foreign: func(t *trace.Trace) bool { return evidence.Decode(t).SpokeOtherRevision() },
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
		for i, one := range r.Findings() {
			if i == 0 {
				r.Reproduce = s.Reproduce(selectable(one))
			} else {
				r.Others[i-1].Reproduce = s.Reproduce(one)
			}
		}
	}
}

// selectable returns a result whose case, or cases, a run can select. Nobody can select sessions that are only for
// gateways: a run of any case plays them, except for the slow answer, which needs all.
func selectable(r *report.Result) *report.Result {
	one := *r
	if len(r.Together) > 0 {
		one.Case = strings.Join(r.Together, ",")
	}
	if !isOfGateway(r.Case) {
		return &one
	}
	if one.Case = "basic/question"; r.Check == gatewaySlow {
		one.Case = ""
	}
	return &one
}
