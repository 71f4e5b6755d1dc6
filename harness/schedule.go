package harness

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	// mostWaiting is how many sessions of waiting cases run at once, and how many of those that linger.
	mostWaiting = 64
	// startPatience is how long the next ones wait for the first message of one of those. It is longer than most starts
	// take on a busy machine.
	startPatience = 10 * time.Second
	// mostStuck is how many sessions in a row may be stuck before the remaining cases are not played.
	mostStuck = 3
)

type run struct {
	*Runner
	ctx      context.Context
	starting chan struct{} // half as large as Slots: sessions of waiting cases until their client has connected
	lingers  chan struct{} // of sessions whose cases linger
	scout    *scout
}

type playSession func(context.Context, []Case) (*trace.Trace, error)

// all plays the sessions and returns them in the order of their first cases. Cases that wait by design run beside all
// others. Sessions of one case run beside those of several, and what the latter leave unfinished comes last. For a
// client that comes to no case in the first session, all those of one case come last, and are not played if
// it stays away from three of the others in a row.
func (r *run) all(sessions []batch) []finished {
	var together, single, waiting []batch
	for _, b := range sessions {
		switch {
		case b.cases[0].waiting() && !r.inVirtualTime(&b.cases[0]):
			waiting = append(waiting, b)
		case b.single():
			single = append(single, b)
		default:
			together = append(together, b)
		}
	}
	r.scout = newScout(together, single)
	var alone, beside []finished
	var wait sync.WaitGroup
	wait.Go(func() {
		beside, _ = r.untilStuck(waiting, make(chan struct{}, mostWaiting), r.startInTurn, r.ended, absent)
	})
	apart := len(together) == 0 // else the scout's session is one of those
	wait.Go(func() {
		if apart || r.scout.serves() {
			alone, _ = r.untilStuck(single, r.Slots, r.playNow, r.ended, stuck)
		}
	})
	done, last, absence := r.rounds(together)
	if !apart && !r.scout.serves() {
		last = append(last, single...)
	}
	sort.SliceStable(last, func(i, j int) bool { return last[i].index[0] < last[j].index[0] })
	if absence == nil {
		played, _ := r.untilStuck(last, r.Slots, r.playNow, r.ended, stuck)
		done = append(done, played...)
	} else if len(last) > 0 {
		done = append(done, r.leave(last, absence))
	}
	wait.Wait()
	done = slices.Concat(done, alone, beside)
	if r.scout.foreign {
		done = r.passOver(done)
	}
	sort.SliceStable(done, func(i, j int) bool { return done[i].index[0] < done[j].index[0] })
	return done
}

// rounds plays sessions of several cases, and those for several cases that they left unfinished. What they left besides
// goes to single. The absence says why sessions were not played; nil if all were.
func (r *run) rounds(together []batch) (done []finished, single []batch, absence *trace.Mark) {
	if len(together) > 0 { // What lingers needs no slot, but time: it follows the scout's session.
		slices.SortStableFunc(together[1:], func(a, b batch) int { return cmp.Compare(b.lingering(), a.lingering()) })
	}
	for round := 1; len(together) > 0; round++ {
		var again []batch
		var played []finished
		played, absence = r.untilStuck(together, r.Slots, r.playNow, func(f *finished) {
			if r.ctx.Err() == nil {
				again = append(again, f.rerun(round < mostStuck)...)
			}
			r.ended(f)
		}, absent)
		done, together = append(done, played...), nil
		for _, b := range again {
			if b.single() {
				single = append(single, b)
			} else {
				together = append(together, b)
			}
		}
	}
	return done, single, absence
}

func (r *run) ended(f *finished) {
	if r.Ended != nil && f.trace != nil {
		r.Ended(f.trace)
	}
}

func (r *run) playNow(ctx context.Context, cases []Case) (*trace.Trace, error) {
	if cases[0].ID == r.scout.first {
		return r.playFirst(ctx, cases)
	}
	return r.session(ctx, cases, func(*trace.Event) {})
}

// startInTurn plays a session of waiting cases when few others are starting: a client has started with its first
// message. If all started at once, a machine might have no time for any of them. A client without a message holds up
// the next one for startPatience at most.
func (r *run) startInTurn(ctx context.Context, cases []Case) (*trace.Trace, error) {
	select {
	case r.starting <- struct{}{}:
	case <-ctx.Done():
		return r.playNow(ctx, cases)
	}
	started := sync.OnceFunc(func() { <-r.starting })
	defer started()
	timer := time.AfterFunc(startPatience, started)
	defer timer.Stop()
	return r.session(ctx, cases, func(*trace.Event) {
		timer.Stop()
		started()
	})
}

// each plays the sessions, as many at once as there are slots, and returns them in their order. It calls over for each
// session in that order, as soon as the session and those before it are over.
func (r *run) each(
	ctx context.Context, sessions []batch, slots chan struct{}, play playSession, over func(int, *finished),
) []finished {
	done := make([]finished, len(sessions))
	ended := make([]chan struct{}, len(sessions))
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	var running sync.WaitGroup
	running.Go(func() {
		for i, b := range sessions {
			done[i].batch = b
			if !r.scout.admits(ctx, &b) {
				close(ended[i])
				continue
			}
			own := slots
			if b.cases[0].Lingers && !r.inVirtualTime(&b.cases[0]) {
				own = r.lingers
			}
			own <- struct{}{}
			running.Go(func() {
				defer close(ended[i])
				defer func() { <-own }()
				done[i].trace, done[i].err = play(ctx, b.cases)
			})
		}
	})
	for i := range ended {
		<-ended[i]
		over(i, &done[i])
	}
	running.Wait()
	return done
}

// untilStuck plays sessions until too many in a row are stuck: stuck gives the reason, or "". The result depends on the
// order of the cases alone, not on which session ends first. The cases that are not played have one trace, which says
// why, as left does; it is nil if all were played.
func (r *run) untilStuck(
	sessions []batch, slots chan struct{}, play playSession, over func(*finished),
	stuck func(t *trace.Trace, virtual bool) string,
) (done []finished, left *trace.Mark) {
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	inARow, kept := 0, len(sessions)
	done = r.each(ctx, sessions, slots, play, func(i int, f *finished) {
		if kept < len(sessions) {
			return
		}
		over(f)
		if f.trace == nil {
			return
		}
		reason := stuck(f.trace, r.inVirtualTime(&f.cases[0]))
		inARow++
		mark := &trace.Mark{Name: trace.MarkNotPlayed}
		switch reason {
		case "":
			inARow = 0
		case outOfReach: // one such wait is enough
			inARow, mark.Text = mostStuck, "in an earlier session "+outOfReach
		case outOfTime:
			mark.Name, mark.Text = trace.MarkOutOfTime, fmt.Sprintf("in %d sessions in a row %s", mostStuck, reason)
		default:
			mark.Text = fmt.Sprintf("%d sessions in a row made no progress; in the last one %s", mostStuck, reason)
		}
		if inARow >= mostStuck && i+1 < len(sessions) {
			kept, left = i+1, mark
			stop()
		}
	})
	if left == nil {
		return done, nil
	}
	return append(done[:kept], r.leave(sessions[kept:], left)), left
}

// leave returns what stands for sessions that are not played: a trace with the reason.
func (r *run) leave(sessions []batch, why *trace.Mark) finished {
	var rest finished
	for _, b := range sessions {
		rest.cases, rest.index = append(rest.cases, b.cases...), append(rest.index, b.index...)
	}
	rest.trace = r.notPlayed(rest.cases, *why)
	return rest
}

func (r *run) notPlayed(cases []Case, why trace.Mark) *trace.Trace {
	header, _ := r.header(&r.Client, cases, 0)
	rec := trace.NewRecorder(header, 0)
	for _, c := range cases {
		rec.Record(trace.Event{Case: c.ID, Mark: &why})
	}
	return rec.Stop()
}
