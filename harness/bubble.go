package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// errBubbleFailed is what became of a session whose bubble ended its goroutine, as that of a test does that has failed.
var errBubbleFailed = errors.New("the session's bubble failed: the test's own output says why")

// inBubble is a session in virtual time. A bubble ends when all that runs in it has ended, panics when something stays blocked, and
// waits for ever for a goroutine that waits for something outside: the latter two are the client's doing, since all of ours have ended.
func (r *Runner) inBubble(cases []Case) (*trace.Trace, error) {
	var rec atomic.Pointer[trace.Recorder]
	var t *trace.Trace
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() {
			v := recover()
			switch started := rec.Load(); {
			case v == nil:
			case started != nil && strings.Contains(fmt.Sprint(v), "deadlock"):
				t = leaked(started.Stop()) // what was recorded stands, and the leak with it
			default:
				err = fmt.Errorf("the session panicked: %v\n\n%s", v, debug.Stack())
			}
		}()
		err = errBubbleFailed // unless it comes to its end
		r.Bubble(func() {
			// The context of the run comes from outside of the bubble, where its channel means nothing.
			t, err = r.record(context.Background(), cases, rec.Store, func() {})
			// A connection that stays in this pool would hold the bubble open, and be the end of the whole process once another one uses it.
			http.DefaultClient.CloseIdleConnections()
		})
	}()
	limit := cmp.Or(r.Watchdog, DefaultWatchdog)
	watchdog := time.NewTicker(limit)
	defer watchdog.Stop()
	for seen := 0; ; {
		select {
		case <-over:
			return t, err
		case <-watchdog.C:
		}
		started := rec.Load()
		if n := started.Count(); n > seen { // it is slow, and gets on
			seen = n
			continue
		}
		if started == nil {
			return nil, fmt.Errorf("after %s by a real clock the session has not begun", limit)
		}
		return leftBehind(started.Stop(), limit), nil
	}
}

// leaked notes in the trace that the client left goroutines behind, unless it is known already what it left.
func leaked(t *trace.Trace) *trace.Trace {
	for i := len(t.Events) - 1; i >= 0; i-- {
		if p := t.Events[i].Process; p != nil && p.State == trace.Ended {
			noted := *p
			noted.Leak = cmp.Or(p.Leak, "goroutines of the client were still blocked after it had returned and everything was closed")
			t.Events[i].Process = &noted
			return t
		}
	}
	return t
}

// leftBehind notes in the trace that its client was left to itself, at the virtual time of the last that was seen of it.
func leftBehind(t *trace.Trace, limit time.Duration) *trace.Trace {
	e := trace.Event{Seq: 1, Process: &trace.Process{State: trace.Ended, Outside: true, Err: fmt.Sprintf(
		"for %s by a real clock nothing came of it: it waits for something that virtual time does not reach, such as a real socket, a pool or a "+
			"worker of an earlier session, or never rests; run it with harness.Loopback()", limit)}}
	for i := range t.Events {
		if e.At = t.Events[i].At; t.Events[i].Case == "" {
			e.Seq = t.Events[i].Seq + 1
		}
	}
	t.Events = append(slices.Clip(t.Events), e) // what is still running may hold the recorder's own
	return t
}

// advised adds to an error of a client in virtual time what it has to know to mend it.
func advised(err string) string {
	if strings.Contains(err, "dial tcp") && !strings.Contains(err, "in-memory network") {
		err += " (in virtual time the server and the model are reached through env.HTTP only: use it, or run the client with harness.Loopback())"
	}
	return err
}
