package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	// mostCases is how many cases share a session. It bounds what a hang costs, and hosts take only so many tools.
	mostCases = 64
	// mostWaiting is how many sessions of waiting cases run at once.
	mostWaiting = 64
	// startPatience is how long others wait for one of those to say its first word, before all are started: longer than a start takes on a busy
	// machine.
	startPatience = 10 * time.Second
	// mostFruitless is how many sessions in a row may get nowhere before the cases that are left are given up.
	mostFruitless = 3
)

// batch is a session to be: its cases, and the place of each among all.
type batch struct {
	cases []Case
	at    []int
}

// alone reports whether the session is for one case only, whatever becomes of it.
func (b *batch) alone() bool { return len(b.cases) == 1 }

// batches puts the cases into as few sessions as they allow, in the order of each session's first case.
func batches(cases []Case, stdio bool) []batch {
	var all []batch
	shared := map[string]int{} // by what the client is told, the session of the cases that share one
	for i, c := range cases {
		told := fmt.Sprint(c.declare(), " ", cmp.Or(c.Decision, Approve), " ", c.Hostile)
		at, open := shared[told]
		switch {
		case c.Isolated && (stdio || !c.Stdio) || c.waiting():
			all = append(all, batch{[]Case{c}, []int{i}})
		case open && len(all[at].cases) < mostCases:
			all[at].cases, all[at].at = append(all[at].cases, c), append(all[at].at, i)
		default:
			shared[told] = len(all)
			all = append(all, batch{[]Case{c}, []int{i}})
		}
	}
	return all
}

// played is a session that was.
type played struct {
	batch
	trace *trace.Trace // nil where it was not begun
	err   error
}

// run is a Run in progress.
type run struct {
	*Runner
	ctx      context.Context
	slots    chan struct{}
	starting chan struct{} // has as many places as slots, for sessions of waiting cases until their client has connected
	silent   chan struct{} // closed by the first of them whose client has not, in startPatience
	noted    sync.Once     // that it is closed
}

// all plays the sessions and returns them in the order of their first cases: first those that share a process, then each case that needs one of
// its own, among them what the former left unfinished. Those that wait by design wait beside all this, together, and start a few at once.
func (r *run) all(sessions []batch) []played {
	var together, alone, waiting []batch
	for _, b := range sessions {
		switch {
		case b.cases[0].waiting() && !r.inVirtualTime(&b.cases[0]):
			waiting = append(waiting, b)
		case b.alone():
			alone = append(alone, b)
		default:
			together = append(together, b)
		}
	}
	var beside []played
	var wait sync.WaitGroup
	wait.Go(func() { beside = r.each(r.ctx, waiting, make(chan struct{}, mostWaiting), r.startInTurn, nil) })
	var done []played
	for round := 1; len(together) > 0; round++ {
		over := r.each(r.ctx, together, r.slots, r.play, nil)
		together = nil
		for i := range over {
			if r.ctx.Err() != nil {
				break
			}
			for _, b := range again(&over[i], round < mostFruitless) {
				if b.alone() {
					alone = append(alone, b)
				} else {
					together = append(together, b)
				}
			}
		}
		done = append(done, over...)
	}
	slices.SortStableFunc(alone, func(a, b batch) int { return cmp.Compare(a.at[0], b.at[0]) })
	done = append(done, r.inTurn(alone)...)
	wait.Wait()
	done = append(done, beside...)
	slices.SortStableFunc(done, func(a, b played) int { return cmp.Compare(a.at[0], b.at[0]) })
	return done
}

// play plays a session.
func (r *run) play(ctx context.Context, cases []Case) (*trace.Trace, error) {
	return r.session(ctx, cases, func() {})
}

// startInTurn plays a session of waiting cases once few enough others are about to start: the first word of a client says that it has. A machine
// on which all start at once may have no time left for any of them. For a client that says nothing nobody waits longer than startPatience.
func (r *run) startInTurn(ctx context.Context, cases []Case) (*trace.Trace, error) {
	select {
	case r.starting <- struct{}{}:
	case <-r.silent:
		return r.play(ctx, cases)
	}
	started := sync.OnceFunc(func() { <-r.starting })
	defer started()
	timer := time.AfterFunc(startPatience, func() { r.noted.Do(func() { close(r.silent) }) })
	defer timer.Stop()
	return r.session(ctx, cases, func() {
		timer.Stop()
		started()
	})
}

// each plays the sessions, as many at once as there are slots, and returns them in their order. Took is told of each in that order,
// as soon as those before it are over; nil for nobody.
func (r *run) each(ctx context.Context, sessions []batch, slots chan struct{}, play func(context.Context, []Case) (*trace.Trace, error),
	took func(int, *played)) []played {
	done := make([]played, len(sessions))
	over := make([]chan struct{}, len(sessions))
	for i := range over {
		over[i] = make(chan struct{})
	}
	var running sync.WaitGroup
	running.Go(func() {
		for i, b := range sessions {
			slots <- struct{}{}
			running.Go(func() {
				defer close(over[i])
				defer func() { <-slots }()
				done[i].batch = b
				done[i].trace, done[i].err = play(ctx, b.cases)
			})
		}
	})
	for i := range over {
		<-over[i]
		if took != nil {
			took(i, &done[i])
		}
	}
	running.Wait()
	return done
}

// inTurn plays sessions of one case each until too many in a row get nowhere. Which those are depends on the order of the cases alone, not on
// which session ends first. Those that are given up are one trace, which says so.
func (r *run) inTurn(sessions []batch) []played {
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	row, kept, why := 0, len(sessions), ""
	done := r.each(ctx, sessions, r.slots, r.play, func(i int, p *played) {
		if kept < len(sessions) || p.trace == nil {
			return
		}
		got := fruitless(p.trace, r.inVirtualTime(&p.cases[0]))
		switch row++; got {
		case "":
			row = 0
		case outOfReach: // one such wait is enough
			row, why = mostFruitless, "in a session before it "+outOfReach
		default:
			why = fmt.Sprintf("%d sessions in a row got nowhere, and %s in the last one", mostFruitless, got)
		}
		if row >= mostFruitless && i+1 < len(sessions) {
			kept = i + 1
			stop()
		}
	})
	if kept == len(done) {
		return done
	}
	var left batch
	for _, b := range sessions[kept:] {
		left.cases, left.at = append(left.cases, b.cases...), append(left.at, b.at...)
	}
	return append(done[:kept], played{batch: left, trace: r.notPlayed(left.cases, why)})
}

// outOfReach is why a session was fruitless that has to be waited for by a real clock.
const outOfReach = "the client waited for something outside of virtual time"

// fruitless says why a session of one case led to nothing in a way that takes time; "" where it did not. In virtual time hardly anything does.
func fruitless(t *trace.Trace, virtual bool) string {
	s := survey(t)
	switch {
	case s.ended != nil && s.ended.Outside:
		return outOfReach
	case !t.Whole:
		return "the client sent more than is kept"
	case virtual || s.ended == nil || s.ended.Interrupted:
		return ""
	case s.ended.Deadline:
		return "the client hung"
	case !s.called[t.Header.Cases[0].ID] && t.Header.Cases[0].Carrier == "" && t.Header.Speaks == nil:
		return "the client never called the tool"
	}
	return ""
}

// notPlayed is the trace of cases that were not.
func (r *run) notPlayed(cases []Case, why string) *trace.Trace {
	header, _ := r.header(&r.Client, cases, 0)
	rec := trace.NewRecorder(header, 0)
	for _, c := range cases {
		rec.Record(trace.Event{Case: c.ID, Mark: &trace.Mark{Name: trace.MarkNotPlayed, Text: why}})
	}
	return rec.Stop()
}

// again returns the sessions that are due to the cases which a session left unfinished, and notes them in its trace: one that died, ended
// early or was more than could be kept says nothing of them, for another case may be to blame. Those of hostile cases may be of several,
// where that is allowed.
func again(p *played, several bool) []batch {
	if p.trace == nil {
		return nil
	}
	s := survey(p.trace)
	if s.ended == nil || s.ended.Interrupted || !s.asked {
		return nil // with fewer tools a client that never asked for them would have done the same
	}
	due := p.unfinished
	if p.cases[0].Hostile && slices.ContainsFunc(p.cases, func(c Case) bool { return c.Barrier }) {
		due = p.unsettled
	}
	var places []int
	header := &p.trace.Header
	header.Cases = slices.Clone(header.Cases)
	for i := range p.cases {
		if due(&s, i) {
			header.Cases[i].Replayed = true
			places = append(places, i)
		}
	}
	suspect := slices.IndexFunc(p.cases, func(c Case) bool { return c.ID == s.last })
	if several && len(places) == len(p.cases) && s.crashed() && suspect >= 0 && p.cases[0].Hostile {
		return p.around(suspect)
	}
	var sessions []batch
	for _, i := range places {
		sessions = append(sessions, p.part(i, i+1))
	}
	return sessions
}

// reached reports whether the client called the case's tool. One that another carrier begins is not for every client.
func (s *surveyed) reached(c *Case) bool { return s.called[c.ID] || c.Carrier != "" }

// unfinished reports whether the session says nothing of a case.
func (p *played) unfinished(s *surveyed, i int) bool {
	c := &p.cases[i]
	open := s.over[c.ID] == 0 || s.begun[c.ID] > s.over[c.ID] || c.Barrier // whose session has to end in order
	return !s.reached(c) || s.died() && open || !p.trace.Whole
}

// unsettled is unfinished for a session of hostile cases: what one of them does to a client may show in another, so that they count together,
// where the client answered the sample of the barrier behind them all. Of one that answers nothing there is no more to be seen in other sessions.
func (p *played) unsettled(s *surveyed, i int) bool {
	answers := slices.ContainsFunc(p.cases, func(c Case) bool { return s.over[c.ID] > 0 })
	settled := s.over[BarrierID] > 0 || !answers && !s.died()
	return !s.reached(&p.cases[i]) || !settled || !p.trace.Whole
}

// around are the sessions for a crash that shows in a case: those before it together, the case alone, and those behind it together.
func (p *played) around(suspect int) []batch {
	var sessions []batch
	for _, b := range []batch{p.part(0, suspect), p.part(suspect, suspect+1), p.part(suspect+1, len(p.cases))} {
		if len(b.cases) > 0 {
			sessions = append(sessions, b)
		}
	}
	return sessions
}

// part are the cases from one place to before another.
func (p *played) part(from, to int) batch {
	return batch{p.cases[from:to:to], p.at[from:to:to]}
}

// surveyed is what a trace shows of how far a client came.
type surveyed struct {
	ended       *trace.Process
	asked       bool            // for the tools
	called      map[string]bool // the tools of these cases
	last        string          // the case that the client asked for last
	begun, over map[string]int  // plays of each case, and those of them that ended well while the client was there
}

// crashed reports whether the client came to a bad end by itself, and died whether it came to one at all.
func (s *surveyed) crashed() bool {
	return !s.ended.Deadline && !s.ended.Outside && (s.ended.Signal != "" || s.ended.ExitCode != 0 || s.ended.Panic != "" || s.ended.Err != "")
}

func (s *surveyed) died() bool { return s.ended.Deadline || s.ended.Outside || s.crashed() }

// survey reads a trace.
func survey(t *trace.Trace) surveyed {
	s := surveyed{called: map[string]bool{}, begun: map[string]int{}, over: map[string]int{}}
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case e.Process != nil && e.Process.State == trace.Ended:
			s.ended = e.Process
		case e.Mark != nil && e.Mark.Name == trace.MarkHandlerStarted:
			s.begun[e.Case]++
		case e.Mark != nil && e.Mark.Name == trace.MarkHandlerEnded && e.Mark.Text == "" && s.ended == nil:
			s.over[e.Case]++
		case e.Frame != nil && e.Frame.Dir == trace.FromClient:
			s.called[e.Case] = true
			method := methodOf(e.Frame.Raw)
			s.asked = s.asked || strings.HasPrefix(method, "tools/")
			if e.Case != "" && method != "" && !strings.HasPrefix(method, "notifications/") {
				s.last = e.Case
			}
		}
	}
	return s
}

// methodOf is the method of a request; "" for anything else.
func methodOf(raw []byte) string {
	var m struct{ Method string }
	_ = json.Unmarshal(raw, &m) // what cannot be read has none
	return m.Method
}

// limit is how long a session may take.
func (r *Runner) limit(cases []Case) time.Duration {
	limit := cmp.Or(r.Timeout, DefaultTimeout)
	if len(cases) > 1 {
		return limit
	}
	return cmp.Or(r.CaseTimeout, max(limit/3, min(limit, DefaultCaseTimeout))) + r.waits(&cases[0])
}
