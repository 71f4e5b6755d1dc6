package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

const (
	// statusWidth is how wide the status line may be: it must not wrap.
	statusWidth = 79
	// statusEvery is how often the line is drawn.
	statusEvery = 200 * time.Millisecond
	// clearLine goes to the beginning of the line and clears it.
	clearLine = "\r\x1b[K"
)

// status is what a run plays now. It is safe for concurrent use.
type status struct {
	mu       sync.Mutex
	now      func() time.Time
	total    map[server.Revision]int
	done     map[server.Revision]map[string]bool
	sessions map[sessionKey]*playing
}

type sessionKey struct {
	revision server.Revision
	number   int64
}

// playing is a session, and its latest case.
type playing struct {
	number int64
	caseID string
	waits  bool
	since  time.Time // the case began
}

func newStatus(now func() time.Time) *status {
	return &status{now: now, total: map[server.Revision]int{}, done: map[server.Revision]map[string]bool{},
		sessions: map[sessionKey]*playing{}}
}

func (s *status) see(p harness.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total[p.Revision] = p.Total
	key := sessionKey{p.Revision, p.Session}
	if !p.Over {
		s.sessions[key] = &playing{p.Session, cmp.Or(p.Case, p.Cases[0]), p.Waits, s.now()}
		return
	}
	delete(s.sessions, key)
	if s.done[p.Revision] == nil {
		s.done[p.Revision] = map[string]bool{}
	}
	for _, c := range p.Cases {
		s.done[p.Revision][c] = true
	}
}

// line says how many cases are over, what plays, and what waits and for how long.
func (s *status) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts, plays, waits []string
	for _, r := range slices.Sorted(maps.Keys(s.total)) {
		parts = append(parts, fmt.Sprintf("%s %d/%d", r, len(s.done[r]), s.total[r]))
	}
	for _, p := range slices.SortedFunc(maps.Values(s.sessions), byStart) {
		if p.waits {
			waits = append(waits, fmt.Sprintf("%s %.0f s", p.caseID, s.now().Sub(p.since).Seconds()))
		} else {
			plays = append(plays, p.caseID)
		}
	}
	if len(plays) > 0 {
		parts = append(parts, strings.Join(plays, ", "))
	}
	if more := len(waits) - 1; more > 0 {
		parts = append(parts, fmt.Sprintf("waiting: %s and %d more", waits[0], more))
	} else if more == 0 {
		parts = append(parts, "waiting: "+waits[0])
	}
	line := []rune(strings.Join(parts, " · "))
	return string(line[:min(len(line), statusWidth)])
}

func byStart(a, b *playing) int {
	return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.number, b.number), strings.Compare(a.caseID, b.caseID))
}

func showProgress(w io.Writer) (see func(harness.Progress), done func()) {
	s, over := newStatus(time.Now), make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for last := ""; ; {
			select {
			case <-tick.C:
			case <-over:
				fmt.Fprint(w, clearLine)
				return
			}
			if line := s.line(); line != last {
				fmt.Fprint(w, clearLine+line)
				last = line
			}
		}
	})
	return s.see, func() {
		close(over)
		drawing.Wait()
	}
}
