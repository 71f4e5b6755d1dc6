package harness_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestTheTraceSaysHowAFunctionEnded(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(context.Context, harness.Env) error
		want trace.Process
	}{
		"nil": {func(context.Context, harness.Env) error { return nil }, trace.Process{}},
		"an error": {func(context.Context, harness.Env) error { return errors.New("out of luck \xff") },
			trace.Process{Err: "out of luck �"}},
		"a panic": {func(context.Context, harness.Env) error { panic("out of range \xff") },
			trace.Process{Panic: "out of range �"}},
		"the end of its goroutine": {func(context.Context, harness.Env) error { runtime.Goexit(); return nil },
			trace.Process{Err: "the client's function ended its goroutine (by runtime.Goexit or FailNow) " +
				"instead of returning"}},
		"an error at its limit": {func(ctx context.Context, _ harness.Env) error { <-ctx.Done(); return ctx.Err() },
			trace.Process{Deadline: true, Err: "context canceled"}},
		"nil at its limit": {func(ctx context.Context, _ harness.Env) error { <-ctx.Done(); return nil },
			trace.Process{Deadline: true}},
		"it ignores its context": {func(context.Context, harness.Env) error { select {} },
			trace.Process{Deadline: true, Leak: "the client's function did not return after its context had ended"}},
	} {
		c.want.State = trace.Ended
		t.Run(name+", in virtual time", func(t *testing.T) {
			traces := virtually(t, harness.InProcess(c.run), server.V20251125, quiet("case/quiet"))
			require.Equal(t, &c.want, ending(t, traces[0]))
		})
		t.Run(name+", over loopback", func(t *testing.T) {
			client := harness.InProcess(c.run, harness.Loopback())
			client.Grace = 20 * time.Millisecond
			timeout := harness.DefaultTimeout
			if c.want.Deadline {
				timeout = 20 * time.Millisecond
			}
			r := harness.Runner{Client: client, Timeout: timeout, Bubble: inBubble(t)}
			traces := play(t, r, quiet("case/quiet"))
			require.Equal(t, &c.want, ending(t, traces[0]))
		})
	}
}

func TestTheTraceHasVirtualTime(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, _ harness.Env) error { <-ctx.Done(); return nil })
	r := harness.Runner{Client: client, CaseTimeout: 40 * time.Hour, Bubble: inBubble(t)}
	events := play(t, r, quiet("s/a"))[0].Events
	require.Equal(t, 40*time.Hour, events[len(events)-1].At)
}

func TestGoroutinesThatAClientLeavesAreALeak(t *testing.T) {
	for name, left := range map[string]func(){
		"blocked on a channel": func() { <-make(chan bool) },
		"waiting for a ticker": func() {
			for range time.NewTicker(time.Second).C {
			}
		},
		"waiting for an hour": func() { <-time.After(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			traces := virtually(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
				go left()
				return correct(ctx, env)
			}), server.V20251125, question("case/one"))
			p := ending(t, traces[0])
			require.Contains(t, p.Leak, "goroutines of the client were still blocked")
			require.False(t, p.Clean())
			require.True(t, traces[0].Whole)
			require.Equal(t, 1, modelRequests(traces[0]))
		})
	}
}

func TestGoroutinesThatEndWithTheirConnectionsAreNotALeak(t *testing.T) {
	var stream openStream
	traces := virtually(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
		stream = openStream{next: env.HTTP.Transport}
		env.HTTP = &http.Client{Transport: &stream}
		return correct(ctx, env)
	}), server.V20251125, question("case/one"))
	requireClean(t, traces...)
	require.True(t, stream.opened)
}

// openStream opens the GET stream of a session and leaves its end to the server. It drops the DELETE of the session,
// which would end the stream, too.
type openStream struct {
	next   http.RoundTripper
	opened bool
}

func (o *openStream) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodDelete {
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	}
	resp, err := o.next.RoundTrip(r)
	if err != nil || o.opened || resp.Header.Get("Mcp-Session-Id") == "" {
		return resp, err
	}
	o.opened = true
	get, _ := http.NewRequest(http.MethodGet, r.URL.String(), nil)
	get.Header = http.Header{"Mcp-Session-Id": resp.Header["Mcp-Session-Id"], "Accept": {"text/event-stream"}}
	stream, err := o.next.RoundTrip(get)
	if err != nil || stream.StatusCode != http.StatusOK {
		return nil, errors.New("expected a GET stream, found none")
	}
	go func() {
		defer stream.Body.Close()
		_, _ = io.Copy(io.Discard, stream.Body)
	}()
	return resp, nil
}

func TestABubbleDoesNotReachTheRealNetwork(t *testing.T) {
	var failed error
	traces := virtually(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = http.DefaultClient
		failed = correct(ctx, env)
		return failed
	}), server.V20251125, question("case/one"))
	require.ErrorContains(t, failed, "refused")
	p := ending(t, traces[0])
	require.Contains(t, p.Err, failed.Error())
	require.Contains(t, p.Err, "use it, or run the client with harness.Loopback()")
}

func TestAConnectionInTheDefaultPoolDoesNotKeepABubbleOpen(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer elsewhere.Close()
	traces := virtually(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
		resp, err := http.Get(elsewhere.URL)
		if err != nil {
			return err
		}
		resp.Body.Close()
		return correct(ctx, env)
	}), server.V20251125, question("s/a"), alone(question("s/b")))
	requireClean(t, traces...)
	for _, tr := range traces {
		require.Equal(t, 1, modelRequests(tr))
	}
}

func TestLoopbackReachesTheRealNetwork(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = http.DefaultClient
		return correct(ctx, env)
	}, harness.Loopback(), harness.Named("mine"))
	require.False(t, client.InBubble())
	tr := virtually(t, client, server.V20251125, question("case/one"))[0]
	requireClean(t, tr)
	require.Equal(t, 1, modelRequests(tr))
	require.Equal(t, "mine", tr.Header.Client)
}

func TestAClientThatWaitsOutsideItsBubbleIsLeftRunning(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	var bubbles sync.WaitGroup // two, if the next session starts before the first one is known to wait
	bubble := func(f func()) {
		bubbles.Add(1)
		defer bubbles.Done()
		inBubble(t)(f)
	}
	client := harness.InProcess(func(context.Context, harness.Env) error {
		_, err := r.Read(make([]byte, 1))
		return err
	})
	traces := play(t, harness.Runner{Client: client, Bubble: bubble, Watchdog: time.Second},
		alone(quiet("s/a")), alone(quiet("s/b")), quiet("s/c"))
	require.Equal(t, [][]string{{"s/a"}, {"s/b", "s/c"}}, sessions(traces), "one such wait is enough")
	p := ending(t, traces[0])
	require.True(t, p.OutsideBubble)
	require.Contains(t, p.Err, "run it with harness.Loopback()")
	require.Less(t, traces[0].Events[1].At, time.Hour, "on the clock of the session")
	require.Equal(t, trace.MarkNotPlayed, traces[1].Events[0].Mark.Name)
	require.NoError(t, w.Close())
	bubbles.Wait() // the test must outlive them
}

func TestABubbleThatFailsIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		bubble func(func())
		want   string
	}{
		"it ends its goroutine":      {func(func()) { runtime.Goexit() }, "the session's bubble failed"},
		"it runs nothing":            {func(func()) {}, "the session's bubble failed"},
		"it panics":                  {func(func()) { panic("no such luck") }, "the session panicked: no such luck"},
		"it panics about a deadlock": {func(func()) { panic("deadlock: at once") }, "panicked: deadlock: at once"},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Runner{Client: right(), Revision: server.V20251125, Bubble: c.bubble}
			require.ErrorContains(t, r.Run(t.Context(), cases(quiet, "case/quiet"), func(*trace.Trace) {}), c.want)
		})
	}
}
