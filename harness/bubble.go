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

// errBubbleFailed says that a bubble ended its goroutine, as that of a failed test does.
var errBubbleFailed = errors.New("the session's bubble failed: see the test's own output")

// defaultWatchdog is the default of [Runner.Watchdog]. A session in virtual time takes milliseconds.
const defaultWatchdog = time.Minute

// inBubble runs a session in virtual time. A bubble ends with the last of its goroutines, panics if one stays blocked,
// and waits for ever for one that waits for something outside. The latter two are the client's doing, since all of our
// goroutines have ended.
func (r *Runner) inBubble(cases []Case, spoke func(*trace.Event)) (*trace.Trace, error) {
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
				t = leaked(started.Stop())
			default:
				err = fmt.Errorf("the session panicked: %v\n\n%s", v, debug.Stack())
			}
		}()
		err = errBubbleFailed // replaced if the function ends
		r.Bubble(func() {
			// The run's context is from outside the bubble: its channel must not be used here.
			t, err = r.play(context.Background(), cases, rec.Store, spoke)
			// An idle connection in this pool would keep the bubble open, and crash the process if another uses it.
			http.DefaultClient.CloseIdleConnections()
		})
	}()
	limit := cmp.Or(r.Watchdog, defaultWatchdog)
	watchdog := time.NewTicker(limit)
	defer watchdog.Stop()
	for seen := 0; ; {
		select {
		case <-over:
			return t, err
		case <-watchdog.C:
		}
		started := rec.Load()
		if n := started.Count(); n > seen { // slow, but active
			seen = n
			continue
		}
		if started == nil {
			return nil, fmt.Errorf("the session did not begin within %s of real time", limit)
		}
		return leftBehind(started.Stop(), limit), nil
	}
}

// leaked notes in the trace that the client left goroutines running, unless a leak is known already.
func leaked(t *trace.Trace) *trace.Trace {
	for i := len(t.Events) - 1; i >= 0; i-- {
		if p := t.Events[i].Process; p != nil && p.State == trace.Ended {
			noted := *p
			const leak = "goroutines of the client were still blocked after it had returned and everything was closed"
			noted.Leak = cmp.Or(p.Leak, leak)
			t.Events[i].Process = &noted
			return t
		}
	}
	return t
}

// leftBehind notes in the trace that its client was left running, at the virtual time of its last event.
func leftBehind(t *trace.Trace, limit time.Duration) *trace.Trace {
	e := trace.Event{Seq: 1, Process: &trace.Process{State: trace.Ended, OutsideBubble: true, Err: fmt.Sprintf(
		"no event for %s of real time: the client waits for something outside virtual time, such as a real socket, "+
			"a pool or a worker of an earlier session, or never rests; run it with harness.Loopback()", limit)}}
	for i := range t.Events {
		if e.At = t.Events[i].At; t.Events[i].Case == "" {
			e.Seq = t.Events[i].Seq + 1
		}
	}
	t.Events = append(slices.Clip(t.Events), e) // the recorder may still hold the slice
	return t
}

// withAdvice adds to a network error of a client in virtual time how to fix it.
func withAdvice(err string) string {
	if strings.Contains(err, "dial tcp") && !strings.Contains(err, "in-memory network") {
		err += " (in virtual time only env.HTTP reaches the server and the model: " +
			"use it, or run the client with harness.Loopback())"
	}
	return err
}
