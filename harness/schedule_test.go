package harness_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestTracesComeInTheOrderOfTheirCases(t *testing.T) {
	// The handler of each case waits for the one after it.
	names := []string{"s/a", "s/b", "s/c"}
	ended := map[string]chan bool{}
	var all []harness.Case
	for i, name := range names {
		ended[name] = make(chan bool)
		all = append(all, harness.Case{ID: name, Isolated: true, Handler: func(s *server.Session) (any, error) {
			defer close(ended[name])
			if i+1 < len(names) {
				select {
				case <-ended[names[i+1]]:
				case <-s.Context().Done():
					return nil, s.Context().Err()
				}
			}
			return "done", nil
		}})
	}
	r := harness.Runner{Client: right(harness.Loopback()), Revision: server.V20260728,
		Slots: make(chan struct{}, len(names))}
	traces := play(t, r, all...)
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}, {"s/c"}}, sessions(traces))
	requireClean(t, traces...)
}

func TestParallelLimitsTheSessionsAtOnce(t *testing.T) {
	var running, most atomic.Int32
	counted := func(ctx context.Context, env harness.Env) error {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		runtime.Gosched() // others may start now
		return correct(ctx, env)
	}
	client := harness.InProcess(counted, harness.Loopback())
	var all []harness.Case
	for i := range 10 {
		all = append(all, alone(quiet(fmt.Sprintf("s/%d", i))))
	}
	r := harness.Runner{Client: client, Revision: server.V20260728, Slots: make(chan struct{}, 2)}
	require.Len(t, play(t, r, all...), len(all))
	require.LessOrEqual(t, most.Load(), int32(2))
	most.Store(0)
	play(t, harness.Runner{Client: client, Revision: server.V20260728}, all...)
	require.EqualValues(t, 1, most.Load(), "the default")
	most.Store(0)
	for i := range all {
		all[i].Lingers = true
	}
	client = harness.InProcess(counted)
	play(t, harness.Runner{Client: client, Revision: server.V20260728, Bubble: inBubble(t)}, all...)
	require.EqualValues(t, 1, most.Load(), "in virtual time, also for what lingers: a test's client need not be safe")
}

func TestWaitingCasesWaitTogetherAndGetMoreTime(t *testing.T) {
	var together sync.WaitGroup
	together.Add(3)
	all := cases(quiet, "s/0", "s/1", "s/2")
	for i := range all {
		all[i].Wait = time.Minute
		all[i].Handler = func(s *server.Session) (any, error) {
			together.Done()
			together.Wait()
			return "done", nil
		}
	}
	r := harness.Runner{Client: right(harness.Loopback()), CaseTimeout: 20 * time.Second}
	traces := play(t, r, append(all, question("s/3"))...)
	require.Equal(t, [][]string{{"s/0"}, {"s/1"}, {"s/2"}, {"s/3"}}, sessions(traces), "although Parallel is 1")
	require.Equal(t, time.Minute+20*time.Second, traces[0].Header.Timeout)
	require.Equal(t, 20*time.Second, traces[3].Header.Timeout)
	requireClean(t, traces...)
}

func TestInVirtualTimeAWaitTakesNoTime(t *testing.T) {
	c := quiet("s/a")
	c.Wait = time.Hour
	c.Handler = func(*server.Session) (any, error) {
		<-time.After(time.Hour)
		return "done", nil
	}
	requireClean(t, virtually(t, right(), server.V20251125, c)...)
}

func TestATimedCaseReceivesTheLimits(t *testing.T) {
	var mu sync.Mutex
	var made []harness.Limits
	timed := harness.Case{ID: "s/a", Timed: harness.Beyond, Make: func(l harness.Limits) harness.Stage {
		mu.Lock()
		defer mu.Unlock()
		made = append(made, l)
		return harness.Stage{Handler: question("").Handler, Rules: question("").Script("")}
	}}
	timeouts := map[time.Duration]int{}
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		mu.Lock()
		defer mu.Unlock()
		timeouts[env.Timeout]++
		return nil
	})
	traces := play(t, harness.Runner{Client: client, ClientTimeout: 2 * time.Second}, timed, question("s/b"))
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}}, sessions(traces))
	want := harness.Limits{Client: 2 * time.Second, Declared: true, ModelDelay: 9 * time.Second}
	require.Equal(t, []harness.Limits{want}, made)
	require.Equal(t, map[time.Duration]int{2 * time.Second: 2}, timeouts)
	h := traces[0].Header
	require.Equal(t, want, harness.Limits{Client: h.ClientTimeout, Declared: h.TimeoutDeclared, ModelDelay: h.ModelDelay})
	require.Zero(t, traces[1].Header.ModelDelay)
}

func TestWaitingSessionsStartFewAtOnceAndWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // around the runner, which takes the time for real
		var begun atomic.Int64
		speak, end := make(chan struct{}), make(chan struct{})
		client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
			begun.Add(1)
			<-speak
			post(env, env.URL, "{}")
			<-end
			env.HTTP.CloseIdleConnections()
			return nil
		})
		var all []harness.Case
		for i := range 7 {
			all = append(all, question(fmt.Sprintf("s/%d", i)))
			all[i].Wait = time.Hour
		}
		var running sync.WaitGroup
		running.Go(func() {
			r := harness.Runner{Client: client, Revision: server.V20251125, Slots: make(chan struct{}, 4)}
			assert.NoError(t, r.Run(t.Context(), all, func(*trace.Trace) {}))
		})
		requireStarted := func(want int, why string) {
			t.Helper()
			synctest.Wait()
			require.EqualValues(t, want, begun.Load(), why)
		}
		requireStarted(2, "the others wait for a first message")
		speak <- struct{}{}
		requireStarted(3, "after one message")
		speak <- struct{}{}
		requireStarted(4, "after two messages")
		<-time.After(11 * time.Second) // virtual
		requireStarted(6, "each silent client holds up the next one for ten seconds")
		<-time.After(time.Minute)
		requireStarted(7, "silent clients do not hold up the others")
		close(speak)
		close(end)
		running.Wait()
	})
}

// post posts a body and ignores the response.
func post(env harness.Env, url, body string) {
	if resp, err := env.HTTP.Post(url, "application/json", strings.NewReader(body)); err == nil {
		_ = resp.Body.Close()
	}
}

// postEverySecond posts a body until ctx ends.
func postEverySecond(ctx context.Context, env harness.Env, url, body string) {
	for ctx.Err() == nil {
		post(env, url, body)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	env.HTTP.CloseIdleConnections()
}

func TestRequestsThatTheModelRefusesGiveNoMoreTime(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		post(env, env.URL, "{}")
		postEverySecond(ctx, env, env.Model["native"], "{}")
		return ctx.Err()
	})
	r := harness.Runner{Client: client, CaseTimeout: time.Minute, Bubble: inBubble(t)}
	events := play(t, r, question("s/a"))[0].Events
	ended := events[len(events)-1]
	require.True(t, ended.Process.Deadline)
	require.Less(t, ended.At, 2*time.Minute)
	require.True(t, slices.ContainsFunc(events, func(e trace.Event) bool {
		return e.End != nil && e.End.Status >= http.StatusBadRequest
	}))
}

func TestOnlyWorkOnACaseGivesMoreTime(t *testing.T) {
	slow := harness.Case{ID: "s/slow",
		Handler: func(s *server.Session) (any, error) {
			for range 8 {
				if _, err := s.Sample(s.Ask("And then?")); err != nil {
					return nil, err
				}
			}
			return "done", nil
		},
		Script: func(string) []*llm.Rule {
			return []*llm.Rule{llm.When().Reply(llm.Text("This.")).Fault(llm.PauseBefore(5 * time.Second))}
		},
	}
	r := harness.Runner{Client: right(), CaseTimeout: 12 * time.Second, Bubble: inBubble(t)}
	requireClean(t, play(t, r, slow)...) // 40 seconds with the model

	r.Client = harness.InProcess(func(ctx context.Context, env harness.Env) error {
		postEverySecond(ctx, env, env.URL, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		return nil
	})
	tr := play(t, r, slow)[0]
	require.True(t, ending(t, tr).Deadline)
	require.InDelta(t, 12*time.Second, tr.Events[len(tr.Events)-1].At, float64(time.Second))
}
