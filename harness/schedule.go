package harness

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	// mostWaiting is how many sessions of waiting cases run at once.
	mostWaiting = 64
	// startPatience is how long the others wait for the first message of one of those before all start. It is longer
	// than a start takes on a busy machine.
	startPatience = 10 * time.Second
	// mostStuck is how many sessions in a row may be stuck before the remaining cases are not played.
	mostStuck = 3
)

type run struct {
	*Runner
	ctx      context.Context
	slots    chan struct{}
	starting chan struct{} // as large as slots: sessions of waiting cases until their client has connected
	silent   chan struct{} // closed when one of those has not connected within startPatience
	noted    sync.Once     // closes silent
}

type playSession func(context.Context, []Case) (*trace.Trace, error)

// all plays the sessions and returns them in the order of their first cases. Sessions of several cases come first, then
// those of one case, including what the former left unfinished. Cases that wait by design run beside all this.
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
	var beside []finished
	var wait sync.WaitGroup
	wait.Go(func() { beside = r.each(r.ctx, waiting, make(chan struct{}, mostWaiting), r.startInTurn, r.ended) })
	var done []finished
	for round := 1; len(together) > 0; round++ {
		var again []batch
		done = append(done, r.each(r.ctx, together, r.slots, r.playNow, func(i int, f *finished) {
			if r.ctx.Err() == nil {
				again = append(again, f.rerun(round < mostStuck)...)
			}
			r.ended(i, f)
		})...)
		together = nil
		for _, b := range again {
			if b.single() {
				single = append(single, b)
			} else {
				together = append(together, b)
			}
		}
	}
	slices.SortStableFunc(single, func(a, b batch) int { return cmp.Compare(a.index[0], b.index[0]) })
	done = append(done, r.untilStuck(single)...)
	wait.Wait()
	done = append(done, beside...)
	slices.SortStableFunc(done, func(a, b finished) int { return cmp.Compare(a.index[0], b.index[0]) })
	return done
}

func (r *run) ended(_ int, f *finished) {
	if r.Ended != nil && f.trace != nil {
		r.Ended(f.trace)
	}
}

func (r *run) playNow(ctx context.Context, cases []Case) (*trace.Trace, error) {
	return r.session(ctx, cases, func() {})
}

// startInTurn plays a session of waiting cases when few others are starting: a client has started with its first
// message. If all started at once, a machine might have no time for any of them. A client without a message holds up
// the others for startPatience at most.
func (r *run) startInTurn(ctx context.Context, cases []Case) (*trace.Trace, error) {
	select {
	case r.starting <- struct{}{}:
	case <-r.silent:
		return r.playNow(ctx, cases)
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
			slots <- struct{}{}
			running.Go(func() {
				defer close(ended[i])
				defer func() { <-slots }()
				done[i].batch = b
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

// untilStuck plays sessions of one case until too many in a row are stuck. The result depends on the order of the cases
// alone, not on which session ends first. The cases that are not played have one trace, which says why.
func (r *run) untilStuck(sessions []batch) []finished {
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	inARow, kept, why, mark := 0, len(sessions), "", ""
	done := r.each(ctx, sessions, r.slots, r.playNow, func(i int, f *finished) {
		if kept < len(sessions) || f.trace == nil {
			return
		}
		r.ended(i, f)
		reason := stuck(f.trace, r.inVirtualTime(&f.cases[0]))
		mark = trace.MarkNotPlayed
		switch inARow++; reason {
		case "":
			inARow = 0
		case outOfReach: // one such wait is enough
			inARow, why = mostStuck, "in an earlier session "+outOfReach
		case outOfTime:
			mark, why = trace.MarkOutOfTime, fmt.Sprintf("in %d sessions in a row %s", mostStuck, reason)
		default:
			why = fmt.Sprintf("%d sessions in a row made no progress; in the last one %s", mostStuck, reason)
		}
		if inARow >= mostStuck && i+1 < len(sessions) {
			kept = i + 1
			stop()
		}
	})
	if kept == len(done) {
		return done
	}
	var rest batch
	for _, b := range sessions[kept:] {
		rest.cases, rest.index = append(rest.cases, b.cases...), append(rest.index, b.index...)
	}
	return append(done[:kept], finished{batch: rest, trace: r.notPlayed(rest.cases, mark, why)})
}

func (r *run) notPlayed(cases []Case, mark, why string) *trace.Trace {
	header, _ := r.header(&r.Client, cases, 0)
	rec := trace.NewRecorder(header, 0)
	for _, c := range cases {
		rec.Record(trace.Event{Case: c.ID, Mark: &trace.Mark{Name: mark, Text: why}})
	}
	return rec.Stop()
}
