package harness

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// scout tells from the first session of a run whether the client speaks the revision: the same client would try another
// one in each session. The other sessions wait for that. A session whose server has other revisions tells nothing.
type scout struct {
	first string        // the first case of that session; "" if there is no such session
	known chan struct{} // closed when the client comes to a case, the session is over, or startPatience is
	once  sync.Once     // closes known
	// To be read when known is closed: the client came to a case; it tried only another revision.
	came, foreign bool
}

// newScout chooses the first session of the groups, which are in the order in which they are played.
func newScout(groups ...[]batch) *scout {
	s := &scout{known: make(chan struct{})}
	if sessions := slices.Concat(groups...); len(sessions) > 0 && sessions[0].cases[0].ServerRevisions == nil {
		s.first = sessions[0].cases[0].ID
	} else {
		close(s.known)
	}
	return s
}

// admits reports whether a session is to be played. It waits until it is known whether the client speaks the revision.
func (s *scout) admits(ctx context.Context, b *batch) bool {
	if b.cases[0].ID == s.first {
		return true
	}
	select {
	case <-s.known:
		return !s.foreign
	case <-ctx.Done():
		return false // Run returns the error
	}
}

// serves waits until it is known, and reports whether the client came to a case.
func (s *scout) serves() bool {
	<-s.known
	return s.came
}

// playFirst plays the scout's session. A client that hangs there holds up the others for startPatience only.
func (r *run) playFirst(ctx context.Context, cases []Case) (*trace.Trace, error) {
	s := r.scout
	defer time.AfterFunc(startPatience, func() { s.once.Do(func() { close(s.known) }) }).Stop()
	t, err := r.session(ctx, cases, func(e *trace.Event) {
		if e.Case != "" {
			s.once.Do(func() {
				s.came = true
				close(s.known)
			})
		}
	})
	s.once.Do(func() {
		s.foreign = t != nil && r.Foreign != nil && endedByItself(t) && r.Foreign(t)
		close(s.known)
	})
	return t, err
}

// endedByItself reports whether the harness did not end the client, which might have gone on to the right revision.
func endedByItself(t *trace.Trace) bool {
	s := survey(t)
	return s.ended != nil && !s.ended.Deadline && !s.endedEarly()
}

// passOver replaces the sessions that were not played for the scout's reason by a trace that says so.
func (r *run) passOver(done []finished) []finished {
	var played []finished
	var skipped []batch
	for _, f := range done {
		if f.trace != nil || f.err != nil {
			played = append(played, f)
		} else {
			skipped = append(skipped, f.batch)
		}
	}
	if len(skipped) == 0 {
		return played
	}
	mark := trace.Mark{Name: trace.MarkNotPlayed, Text: "the client tried only another revision in the first session"}
	return append(played, r.leave(skipped, &mark))
}
