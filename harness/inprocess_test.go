package harness_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// clients in process, and how each of them ends, whether in virtual time or over real sockets.
var clients = map[string]struct {
	run  func(context.Context, harness.Env) error
	want trace.Process
}{
	"returns nil": {
		func(context.Context, harness.Env) error { return nil }, trace.Process{}},
	"returns an error": {
		func(context.Context, harness.Env) error { return errors.New("out of luck \xff") }, trace.Process{Err: "out of luck �"}},
	"panics": {
		func(context.Context, harness.Env) error { panic("out of range \xff") }, trace.Process{Panic: "out of range �"}},
	"ends its goroutine, as FailNow does": {
		func(context.Context, harness.Env) error { runtime.Goexit(); return nil },
		trace.Process{Err: "the client's function ended its goroutine (runtime.Goexit, or FailNow of a test) and did not return"}},
	"returns when its time is up": {
		func(ctx context.Context, _ harness.Env) error { <-ctx.Done(); return ctx.Err() },
		trace.Process{Deadline: true, Err: "context canceled"}},
	"says nothing when its time is up": {
		func(ctx context.Context, _ harness.Env) error { <-ctx.Done(); return nil }, trace.Process{Deadline: true}},
	"ignores its context": {
		func(context.Context, harness.Env) error { select {} },
		trace.Process{Deadline: true, Leak: "the client's function did not return although its context had ended"}},
}

func TestHowAFunctionEndedIsInTheTrace(t *testing.T) {
	for name, c := range clients {
		c.want.State = trace.Ended
		t.Run(name+", in virtual time", func(t *testing.T) {
			traces := play(t, harness.Runner{Client: harness.InProcess(c.run), Revision: server.V20251125, Bubble: inBubble(t)}, quiet("case/quiet"))
			require.Len(t, traces, 1)
			require.Equal(t, &c.want, ending(t, traces[0]))
		})
		t.Run(name+", over loopback", func(t *testing.T) {
			client := harness.InProcess(c.run, harness.Loopback())
			timeout := harness.DefaultTimeout
			if c.want.Deadline {
				timeout = 20 * time.Millisecond
			}
			if c.want.Leak != "" {
				client.Grace = 20 * time.Millisecond
			}
			traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, Timeout: timeout, Bubble: inBubble(t)}, quiet("case/quiet"))
			require.Len(t, traces, 1)
			require.Equal(t, &c.want, ending(t, traces[0]))
		})
	}
}

func TestALongWaitInVirtualTimeIsOnTheTracesClock(t *testing.T) {
	run := func(ctx context.Context, _ harness.Env) error { <-ctx.Done(); return nil }
	traces := play(t, harness.Runner{Client: harness.InProcess(run), Revision: server.V20251125, CaseTimeout: 40 * time.Hour, Bubble: inBubble(t)}, quiet("case/quiet"))
	require.Equal(t, 40*time.Hour, traces[0].Events[len(traces[0].Events)-1].At)
}

func TestGoroutinesThatAClientLeavesBehindAreALeakAndNotADeadTest(t *testing.T) {
	for name, left := range map[string]func(){
		"blocked on a channel":    func() { <-make(chan bool) },
		"waiting for a ticker":    func() { waitFor(time.NewTicker(time.Second).C) },
		"asleep in an hour's nap": func() { <-time.After(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			run := func(ctx context.Context, env harness.Env) error {
				go left()
				return reference.Client(reference.Config{})(ctx, env)
			}
			traces := play(t, harness.Runner{Client: harness.InProcess(run), Revision: server.V20251125, Bubble: inBubble(t)}, question("case/one"))
			require.Len(t, traces, 1)
			p := ending(t, traces[0])
			require.Equal(t, "goroutines of the client were still blocked after it had returned and everything was closed", p.Leak)
			require.False(t, p.Clean())
			require.True(t, traces[0].Whole, "what was recorded stands")
			require.Equal(t, 1, modelRequests(traces[0]))
		})
	}
}

// waitFor reads a channel for ever.
func waitFor(c <-chan time.Time) {
	for range c {
	}
}

func TestGoroutinesThatEndWithTheirConnectionsAreNoLeak(t *testing.T) {
	var stream listening
	run := func(ctx context.Context, env harness.Env) error {
		stream = listening{to: env.HTTP.Transport}
		env.HTTP = &http.Client{Transport: &stream}
		return reference.Client(reference.Config{})(ctx, env)
	}
	traces := play(t, harness.Runner{Client: harness.InProcess(run), Revision: server.V20251125, Bubble: inBubble(t)}, question("case/one"))
	require.True(t, ending(t, traces[0]).Clean(), "%+v", ending(t, traces[0]))
	require.True(t, stream.opened, "there was a stream to be left open")
}

// listening opens the GET stream of a session as soon as there is one, and leaves it to the server to end it. It keeps the session from
// being deleted, which would end the stream, too.
type listening struct {
	to     http.RoundTripper
	opened bool
}

func (l *listening) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodDelete {
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	}
	resp, err := l.to.RoundTrip(r)
	if err != nil || l.opened || resp.Header.Get("Mcp-Session-Id") == "" {
		return resp, err
	}
	l.opened = true
	get, _ := http.NewRequest(http.MethodGet, r.URL.String(), nil)
	get.Header = http.Header{"Mcp-Session-Id": resp.Header["Mcp-Session-Id"], "Accept": {"text/event-stream"}}
	stream, err := l.to.RoundTrip(get)
	if err != nil || stream.StatusCode != http.StatusOK {
		return nil, errors.New("there is no GET stream")
	}
	go func() {
		defer stream.Body.Close()
		_, _ = io.Copy(io.Discard, stream.Body)
	}()
	return resp, nil
}

func TestTheRealNetworkIsOutOfReachInABubble(t *testing.T) {
	var failed error
	run := func(ctx context.Context, env harness.Env) error {
		env.HTTP = http.DefaultClient
		failed = reference.Client(reference.Config{})(ctx, env)
		return failed
	}
	traces := play(t, harness.Runner{Client: harness.InProcess(run), Revision: server.V20251125, Bubble: inBubble(t)}, question("case/one"))
	require.ErrorContains(t, failed, "refused")
	require.Equal(t, failed.Error()+" (in virtual time the server and the model are reached through env.HTTP only: use it, or run the client with harness.Loopback())",
		ending(t, traces[0]).Err)
}

func TestAConnectionInTheDefaultPoolHoldsNoBubbleOpen(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer elsewhere.Close()
	run := func(ctx context.Context, env harness.Env) error {
		resp, err := http.Get(elsewhere.URL)
		if err != nil {
			return err
		}
		resp.Body.Close()
		return reference.Client(reference.Config{})(ctx, env)
	}
	for _, tr := range play(t, harness.Runner{Client: harness.InProcess(run), Revision: server.V20251125, Bubble: inBubble(t)}, question("s/a"), alone(question("s/b"))) {
		require.True(t, ending(t, tr).Clean(), "%+v", ending(t, tr))
		require.Equal(t, 1, modelRequests(tr))
	}
}

func TestLoopbackIsTheRealNetwork(t *testing.T) {
	run := func(ctx context.Context, env harness.Env) error {
		env.HTTP = http.DefaultClient
		return reference.Client(reference.Config{})(ctx, env)
	}
	client := harness.InProcess(run, harness.Loopback(), harness.Named("mine"))
	require.False(t, client.InBubble())
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, Bubble: inBubble(t)}, question("case/one"))
	require.True(t, ending(t, traces[0]).Clean())
	require.Equal(t, 1, modelRequests(traces[0]))
	require.Equal(t, "mine", traces[0].Header.Client)
}

func TestAClientThatWaitsOutsideOfItsBubbleIsToldOfLoopback(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	over := make(chan bool)
	bubble := func(f func()) {
		defer close(over)
		inBubble(t)(f)
	}
	run := func(context.Context, harness.Env) error {
		_, err := r.Read(make([]byte, 1))
		return err
	}
	runner := harness.Runner{Client: harness.InProcess(run), Revision: server.V20251125, Bubble: bubble, Watchdog: time.Second}
	traces := play(t, runner, alone(quiet("s/a")), alone(quiet("s/b")), quiet("s/c"))
	require.Equal(t, [][]string{{"s/a"}, {"s/b", "s/c"}}, sessions(traces))
	require.Equal(t, &trace.Process{State: trace.Ended, Outside: true, Err: "for 1s by a real clock nothing came of it: it waits for something that " +
		"virtual time does not reach, such as a real socket, a pool or a worker of an earlier session, or never rests; run it with harness.Loopback()"},
		ending(t, traces[0]))
	require.Less(t, traces[0].Events[1].At, time.Hour, "on the clock of the session")
	require.Equal(t, &trace.Mark{Name: trace.MarkNotPlayed, Text: "in a session before it the client waited for something outside of virtual time"}, traces[1].Events[0].Mark,
		"one such wait is enough")
	require.NoError(t, w.Close())
	<-over // the test may end once the bubble has
}

func TestABubbleThatFailsIsAnErrorAndNotADeadRun(t *testing.T) {
	for name, c := range map[string]struct {
		bubble func(func())
		want   string
	}{
		"it ends its goroutine":       {func(func()) { runtime.Goexit() }, "the session's bubble failed: the test's own output says why"},
		"it never runs what it holds": {func(func()) {}, "the session's bubble failed: the test's own output says why"},
		"it panics":                   {func(func()) { panic("no such luck") }, "the session panicked: no such luck"},
		"it panics of a deadlock":     {func(func()) { panic("deadlock: before anything began") }, "the session panicked: deadlock: before anything began"},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Runner{Client: harness.InProcess(clients["returns nil"].run), Revision: server.V20251125, Bubble: c.bubble}
			err := r.Run(t.Context(), []harness.Case{quiet("case/quiet")}, func(*trace.Trace) {})
			require.Error(t, err)
			first, _, _ := strings.Cut(err.Error(), "\n")
			require.Equal(t, c.want, first)
		})
	}
}
