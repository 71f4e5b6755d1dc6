package harness

import (
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	// knownHangs is how many sessions must hang in the same way before the others have a shorter limit.
	knownHangs = 2
	// shortShare is the part of a limit that remains, and leastShort the least that does.
	shortShare = 10
	leastShort = 2 * time.Second
)

// hangs counts the sessions that hung, by the last message before. It is safe for concurrent use.
type hangs struct {
	lock  sync.Mutex
	after map[string]int
	known bool
	mute  bool // it never said anything
}

func (r *Runner) hangs() *hangs {
	if r.counts == nil {
		return new(hangs)
	}
	return &r.counts.hangs
}

// limits returns the limit of a session until its client connects, and that from then on. They are short for a client
// that is known to hang, unless the session waits by design.
func (h *hangs) limits(limit time.Duration, waits bool) (first, then time.Duration) {
	h.lock.Lock()
	defer h.lock.Unlock()
	switch {
	case !h.known || waits:
		return limit, limit
	case h.mute:
		return min(limit, startPatience), min(limit, startPatience)
	}
	return limit, min(limit, max(limit/shortShare, leastShort))
}

// note counts a session that hung. One that was ended while it made progress did not.
func (h *hangs) note(t *trace.Trace) {
	last, ended := "", false
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case e.Mark != nil && e.Mark.Name == trace.MarkEnding:
			ended = true
		case e.Frame != nil && len(e.Frame.Raw) > 0 && !ended:
			last = string(e.Frame.Dir) + trace.ReadMessage(e.Frame.Raw).Method
		case e.Process != nil && e.Process.State == trace.Ended && e.Process.Deadline && !e.Process.Unfinished:
			h.lock.Lock()
			if h.after == nil {
				h.after = map[string]int{}
			}
			h.after[last]++
			h.known, h.mute = h.known || h.after[last] >= knownHangs, h.after[""] >= knownHangs
			h.lock.Unlock()
		}
	}
}
