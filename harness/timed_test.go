package harness_test

import (
	"context"
	"fmt"
	"net/http"
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

func TestATimedCaseIsMadeAnewForEachSessionOfItsOwn(t *testing.T) {
	var mu sync.Mutex
	var made []harness.Limits
	timed := harness.Case{ID: "s/a", Timed: harness.Beyond, Make: func(l harness.Limits) harness.Stage {
		mu.Lock()
		defer mu.Unlock()
		made = append(made, l)
		return harness.Stage{Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Are you there?")) },
			Rules: llm.Script(llm.When().Reply(llm.Text("Yes.")))}
	}}
	told := map[time.Duration]int{}
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		mu.Lock()
		told[env.Timeout]++
		mu.Unlock()
		return nil
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, ClientTimeout: 2 * time.Second}, timed, question("s/b"))
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}}, sessions(traces))
	want := harness.Limits{Client: 2 * time.Second, Declared: true, Patience: 9 * time.Second}
	require.Equal(t, []harness.Limits{want}, made)
	require.Equal(t, map[time.Duration]int{2 * time.Second: 2}, told)
	h := traces[0].Header
	require.Equal(t, want, harness.Limits{Client: h.ClientTimeout, Declared: h.TimeoutDeclared, Patience: h.Patience})
	require.Zero(t, traces[1].Header.Patience)
}

func TestAClientThatAsksInVainHasNoMoreTime(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		post := func(url string) {
			if resp, err := env.HTTP.Post(url, "application/json", strings.NewReader(`{}`)); err == nil {
				_ = resp.Body.Close()
			}
		}
		post(env.URL)
		again := time.NewTicker(time.Second)
		defer again.Stop()
		for {
			post(env.Model["native"]) // which cannot read that
			select {
			case <-again.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, CaseTimeout: time.Minute, Bubble: inBubble(t)}, question("s/a"))
	events := traces[0].Events
	ended := events[len(events)-1]
	require.True(t, ended.Process.Deadline)
	require.Less(t, ended.At, 2*time.Minute)
	require.True(t, slices.ContainsFunc(events, func(e trace.Event) bool { return e.End != nil && e.End.Status >= http.StatusBadRequest }), "the model was asked")
}

func TestWaitingSessionsStartFewAtOnceAndWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // around the runner, for which time is real
		var begun atomic.Int64
		speak, end := make(chan struct{}), make(chan struct{})
		client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
			begun.Add(1)
			<-speak
			if resp, err := env.HTTP.Post(env.URL, "application/json", strings.NewReader(`{}`)); err == nil {
				_ = resp.Body.Close()
			}
			<-end
			env.HTTP.CloseIdleConnections()
			return nil
		})
		var cases []harness.Case
		for i := range 7 {
			c := question(fmt.Sprintf("s/%d", i))
			c.Wait = time.Hour
			cases = append(cases, c)
		}
		var running sync.WaitGroup
		running.Go(func() {
			r := harness.Runner{Client: client, Revision: server.V20251125, Parallel: 2}
			assert.NoError(t, r.Run(t.Context(), cases, func(*trace.Trace) {}))
		})
		started := func() int64 {
			synctest.Wait()
			return begun.Load()
		}
		require.EqualValues(t, 2, started(), "the others wait for a first word")
		speak <- struct{}{}
		require.EqualValues(t, 3, started(), "one has said it")
		speak <- struct{}{}
		require.EqualValues(t, 4, started())
		<-time.After(time.Minute) // of virtual time
		require.EqualValues(t, 7, started(), "two say nothing, for which the others do not wait")
		close(speak)
		close(end)
		running.Wait()
	})
}

func TestAClientIsGivenMoreTimeForWhatIsOfACase(t *testing.T) {
	slowly := harness.Case{ID: "s/slow",
		Handler: func(s *server.Session) (any, error) {
			for range 8 {
				if _, err := s.Sample(s.Ask("And then?")); err != nil {
					return nil, err
				}
			}
			return "done", nil
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(llm.When().Reply(llm.Text("This.")).Fault(llm.PauseBefore(5 * time.Second)))
		},
	}
	r := harness.Runner{Client: right(), Revision: server.V20251125, CaseTimeout: 12 * time.Second, Bubble: inBubble(t)}
	require.True(t, ending(t, play(t, r, slowly)[0]).Clean(), "one play of 40 s, in which the model is asked")

	r.Client = harness.InProcess(func(ctx context.Context, env harness.Env) error {
		for ctx.Err() == nil {
			resp, err := env.HTTP.Post(env.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			if err == nil {
				_ = resp.Body.Close()
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
		env.HTTP.CloseIdleConnections()
		return nil
	})
	tr := play(t, r, slowly)[0]
	require.True(t, ending(t, tr).Deadline, "one that is about nothing")
	require.InDelta(t, 12*time.Second, tr.Events[len(tr.Events)-1].At, float64(time.Second))
}
