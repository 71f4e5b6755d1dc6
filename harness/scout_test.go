package harness_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func always(*trace.Trace) bool { return true }

func TestAClientThatTriesAnotherRevisionIsStartedOnce(t *testing.T) {
	waiting := question("s/3")
	waiting.Wait = time.Millisecond
	negotiates := alone(question("s/0"))
	negotiates.ServerRevisions = []server.Revision{server.V20250618}
	for name, c := range map[string]struct {
		cases  []harness.Case
		want   [][]string
		starts int
	}{
		"together first": {[]harness.Case{question("s/0"), question("s/1"), alone(question("s/2")), waiting},
			[][]string{{"s/0", "s/1"}, {"s/2", "s/3"}}, 1},
		"alone first": {[]harness.Case{alone(question("s/1")), alone(question("s/2"))},
			[][]string{{"s/1"}, {"s/2"}}, 1},
		"one":               {[]harness.Case{question("s/1")}, [][]string{{"s/1"}}, 1},
		"negotiation first": {[]harness.Case{negotiates, alone(question("s/1"))}, [][]string{{"s/0"}, {"s/1"}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var starts atomic.Int32
			client := harness.InProcess(func(_ context.Context, env harness.Env) error {
				starts.Add(1)
				post(env, env.URL, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`)
				return errors.New("the server does not speak 2024-11-05")
			}, harness.Loopback())
			traces := play(t, harness.Runner{Client: client, Foreign: always}, c.cases...)
			require.Equal(t, c.want, sessions(traces))
			require.EqualValues(t, c.starts, starts.Load())
			for _, left := range traces[1:] {
				if last := left.Events[0]; last.Mark != nil {
					require.Equal(t, trace.Mark{Name: trace.MarkNotPlayed,
						Text: "the client tried only another revision in the first session"}, *last.Mark)
				}
			}
		})
	}
}

// It might have gone on to the right revision.
func TestAClientThatIsEndedInTheFirstSessionIsStartedAgain(t *testing.T) {
	var starts atomic.Int32
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		starts.Add(1)
		post(env, env.URL, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		<-ctx.Done()
		return ctx.Err()
	})
	r := harness.Runner{Client: client, Foreign: always, Bubble: inBubble(t)}
	require.Equal(t, [][]string{{"s/0"}, {"s/1"}}, sessions(play(t, r, alone(question("s/0")), alone(question("s/1")))))
	require.EqualValues(t, 2, starts.Load())
}

func TestAClientThatComesToACaseSpeaksTheRevision(t *testing.T) {
	cases := []harness.Case{question("s/0"), question("s/1"), alone(question("s/2"))}
	for name, o := range map[string][]harness.Option{"in virtual time": nil, "in real time": {harness.Loopback()}} {
		t.Run(name, func(t *testing.T) {
			traces := play(t, harness.Runner{Client: right(o...), Bubble: inBubble(t), Foreign: always}, cases...)
			require.Equal(t, [][]string{{"s/0", "s/1"}, {"s/2"}}, sessions(traces))
			requireClean(t, traces...)
		})
	}
}

func TestAClientThatHangsInTheFirstSessionHoldsUpTheOthersForTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // around the runner, which takes the time for real
		var begun atomic.Int32
		end := make(chan struct{})
		client := harness.InProcess(func(context.Context, harness.Env) error {
			begun.Add(1)
			<-end
			return nil
		})
		var cases []harness.Case
		for i, id := range []string{"s/0", "s/1", "s/2", "s/3"} { // two share a session
			cases = append(cases, question(id))
			cases[i].Declare = fmt.Appendf(nil, `{"sampling":{},"roots":{"n":%d}}`, i/2)
		}
		var running sync.WaitGroup
		running.Go(func() {
			r := harness.Runner{Client: client, Revision: server.V20251125, Foreign: always, Slots: make(chan struct{}, 2)}
			assert.NoError(t, r.Run(t.Context(), cases, func(*trace.Trace) {}))
		})
		<-time.After(9 * time.Second) // virtual
		synctest.Wait()
		require.EqualValues(t, 1, begun.Load())
		<-time.After(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 2, begun.Load())
		close(end)
		running.Wait()
	})
}

// with returns a case whose handler ends when that of the other case has begun, and closes begun when it begins itself.
func with(c harness.Case, begun, other chan bool) harness.Case {
	c.Handler = func(s *server.Session) (any, error) {
		close(begun)
		select {
		case <-other:
			return "done", nil
		case <-s.Context().Done():
			return nil, s.Context().Err()
		}
	}
	return c
}

func TestCasesOfTheirOwnArePlayedBesideTheOthers(t *testing.T) {
	a, b := make(chan bool), make(chan bool)
	cases := []harness.Case{with(question("s/0"), a, b), question("s/1"), with(alone(question("s/2")), b, a)}
	requireClean(t, play(t, harness.Runner{Client: right(harness.Loopback()), Slots: make(chan struct{}, 2)}, cases...)...)
}

func TestCasesThatLingerNeedNoSlot(t *testing.T) {
	a, b := make(chan bool), make(chan bool)
	cases := []harness.Case{with(question("s/0"), a, b), question("s/1"), with(question("s/2"), b, a)}
	for _, id := range []string{"3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e"} {
		cases = append(cases, question("s/"+id))
	}
	for i := 2; i < len(cases); i++ {
		cases[i].Lingers = true
	}
	traces := play(t, harness.Runner{Client: right(harness.Loopback())}, cases...)
	requireClean(t, traces...)
	var sizes []int
	for _, ids := range sessions(traces) {
		sizes = append(sizes, len(ids))
	}
	require.Equal(t, []int{2, 12, 1}, sizes)
}

func TestRunnersShareTheirSlots(t *testing.T) {
	slots := make(chan struct{}, 1)
	slots <- struct{}{} // another runner's session
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	var traces []*trace.Trace
	r := harness.Runner{Client: right(), Revision: server.V20251125, Slots: slots}
	go func() {
		over <- r.Run(ctx, []harness.Case{question("s/0")}, func(tr *trace.Trace) { traces = append(traces, tr) })
	}()
	cancel()
	<-slots
	require.ErrorIs(t, <-over, context.Canceled)
	require.Empty(t, traces, "nothing began before the other session was over")
	require.Empty(t, slots)
}
