package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// whoOn is the reference client with something that happens to it once the server has taken its call of a tool.
func whoOn(happens map[string]func(context.Context) error, o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = &http.Client{Transport: incident{env.HTTP.Transport, happens}}
		return reference.Client(reference.Config{Plain: true})(ctx, env)
	}, o...)
}

type incident struct {
	to      http.RoundTripper
	happens map[string]func(context.Context) error
}

func (i incident) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	to := i.to
	if to == nil {
		to = http.DefaultTransport
	}
	resp, err := to.RoundTrip(r)
	for tool, happens := range i.happens {
		if err == nil && bytes.Contains(body, []byte(`"tools/call"`)) && bytes.Contains(body, []byte(`"`+tool+`"`)) {
			if err = happens(r.Context()); err != nil {
				resp.Body.Close()
				resp = nil
			}
		}
	}
	return resp, err
}

func panics(context.Context) error { panic("out of range") }
func fails(context.Context) error  { return errors.New("out of luck") }
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// again are the cases of a trace that were played again.
func again(tr *trace.Trace) []string {
	var ids []string
	for _, c := range tr.Header.Cases {
		if c.Replayed {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func TestWhatADeadSessionLeftUnfinishedIsPlayedAgainAlone(t *testing.T) {
	barred := func(id string) harness.Case {
		c := question(id)
		c.Barrier = true
		return c
	}
	for name, c := range map[string]struct {
		happens func(context.Context) error
		cases   []harness.Case
		want    [][]string
		again   []string
		bad     []int // the sessions that do not end well
	}{
		"it panics":               {panics, []harness.Case{question("s/a"), question("s/b"), question("s/c")}, [][]string{{"s/a", "s/b", "s/c"}, {"s/b"}, {"s/c"}}, []string{"s/b", "s/c"}, []int{0, 1}},
		"it fails":                {fails, []harness.Case{question("s/a"), question("s/b"), question("s/c")}, [][]string{{"s/a", "s/b", "s/c"}, {"s/b"}, {"s/c"}}, []string{"s/b", "s/c"}, []int{0, 1}},
		"it hangs":                {hangs, []harness.Case{question("s/a"), question("s/b"), question("s/c")}, [][]string{{"s/a", "s/b", "s/c"}, {"s/b"}, {"s/c"}}, []string{"s/b", "s/c"}, []int{0, 1}},
		"before a barrier":        {panics, []harness.Case{barred("s/a"), question("s/b")}, [][]string{{"s/a", "s/b", "barrier"}, {"s/a", "barrier"}, {"s/b"}}, []string{"s/a", "s/b"}, []int{0, 2}},
		"alone from the first on": {panics, []harness.Case{question("s/b")}, [][]string{{"s/b"}}, nil, []int{0}},
		"isolated":                {panics, []harness.Case{question("s/a"), alone(question("s/b")), question("s/c")}, [][]string{{"s/a", "s/c"}, {"s/b"}}, nil, []int{1}},
		"hostile": {panics, []harness.Case{question("s/a"), {ID: "s/b", Hostile: true, Handler: question("").Play, Script: question("").Script}, question("s/c")},
			[][]string{{"s/a", "s/c"}, {"s/b"}}, nil, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
				client := whoOn(map[string]func(context.Context) error{"s-b": c.happens})
				traces := play(t, harness.Runner{Client: client, Revision: revision, Bubble: inBubble(t)}, c.cases...)
				require.Equal(t, c.want, sessions(traces), revision)
				require.Equal(t, c.again, again(traces[0]))
				var bad []int
				for i, tr := range traces {
					if !ending(t, tr).Clean() {
						bad = append(bad, i)
					}
				}
				require.Equal(t, c.bad, bad, "only where the case is played that is to blame")
			}
		})
	}
}

// Hostile cases share a session, and count together once its barrier was passed. Where it was not, what is around the case that shows a crash is
// played again together, and each alone after a hang, of which the client shows no place, or where the client answers no more.
func TestHostileCasesShareSessionsAndTheRightOneIsBlamed(t *testing.T) {
	nasty := func(id string) harness.Case {
		c := hostile(question(id))
		c.Barrier = true
		return c
	}
	five := []harness.Case{nasty("s/a"), nasty("s/b"), nasty("s/c"), nasty("s/d"), nasty("s/e")}
	all := []string{"s/a", "s/b", "s/c", "s/d", "s/e"}
	for name, c := range map[string]struct {
		happens  map[string]func(context.Context) error
		sessions [][]string
		bad      []int
	}{
		"nothing":          {nil, [][]string{all}, nil},
		"a panic":          {map[string]func(context.Context) error{"s-c": panics}, [][]string{all, {"s/a", "s/b"}, {"s/c"}, {"s/d", "s/e"}}, []int{0, 2}},
		"a panic at first": {map[string]func(context.Context) error{"s-a": panics}, [][]string{all, {"s/a"}, {"s/b", "s/c", "s/d", "s/e"}}, []int{0, 1}},
		"a panic at last":  {map[string]func(context.Context) error{"s-e": fails}, [][]string{all, {"s/a", "s/b", "s/c", "s/d"}, {"s/e"}}, []int{0, 2}},
		"two panics":       {map[string]func(context.Context) error{"s-b": panics, "s-d": panics}, [][]string{all, {"s/a"}, {"s/b"}, {"s/c", "s/d", "s/e"}, {"s/c"}, {"s/d"}, {"s/e"}}, []int{0, 2, 3, 5}},
		"a panic each time": {map[string]func(context.Context) error{"s-a": panics, "s-b": panics, "s-c": panics, "s-d": panics, "s-e": panics},
			[][]string{all, {"s/a"}, {"s/b", "s/c", "s/d", "s/e"}, {"s/b"}, {"s/c", "s/d", "s/e"}, {"s/c"}, {"s/d"}, {"s/e"}}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"a hang":         {map[string]func(context.Context) error{"s-c": hangs}, [][]string{all, {"s/a"}, {"s/b"}, {"s/c"}, {"s/d"}, {"s/e"}}, []int{0, 3}},
		"at the barrier": {map[string]func(context.Context) error{"barrier": panics}, [][]string{all, {"s/a"}, {"s/b"}, {"s/c"}, {"s/d"}, {"s/e"}}, []int{0, 1, 2, 3, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
				traces := play(t, harness.Runner{Client: whoOn(c.happens), Revision: revision, Bubble: inBubble(t)}, append([]harness.Case{question("s/plain")}, five...)...)
				require.Equal(t, [][]string{{"s/plain"}}, sessions(traces[:1]), "what is harmless is not with them")
				traces = traces[1:]
				var want [][]string
				for _, s := range c.sessions {
					want = append(want, append(slices.Clone(s), harness.BarrierID))
				}
				require.Equal(t, want, sessions(traces), revision)
				var bad []int
				last := map[string]int{}
				for i, tr := range traces {
					if !ending(t, tr).Clean() {
						bad = append(bad, i)
					}
					for _, one := range tr.Header.Cases {
						if !one.Again && one.ID != harness.BarrierID {
							last[one.ID]++
						}
					}
				}
				require.Equal(t, c.bad, bad)
				require.Equal(t, map[string]int{"s/a": 1, "s/b": 1, "s/c": 1, "s/d": 1, "s/e": 1}, last, "each counts once")
			}
		})
	}
}

// A client that answers nothing at all is not played once for each case: there is nothing else to be seen.
func TestHostileCasesOfAClientThatAnswersNothingArePlayedOnce(t *testing.T) {
	a, b := hostile(question("s/a")), hostile(question("s/b"))
	a.Barrier, b.Barrier = true, true
	client := harness.InProcess(mutants.Find("refuses").Client(reference.Config{}, nil))
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		traces := play(t, harness.Runner{Client: client, Revision: revision, Bubble: inBubble(t)}, a, b)
		require.Equal(t, [][]string{{"s/a", "s/b", "barrier"}}, sessions(traces))
	}
	poisoned := harness.InProcess(mutants.Find("deaf-after-malformed").Client(reference.Config{}, nil))
	a.Play = func(s *server.Session) (any, error) { return s.Sample(s.Ask("Still there?")) }
	b.Play = func(s *server.Session) (any, error) {
		return s.Sample(server.Hostile(map[string]any{"maxTokens": 1, "messages": []any{map[string]any{"role": "user", "content": "text"}}}))
	}
	traces := play(t, harness.Runner{Client: poisoned, Revision: server.V20260728, Bubble: inBubble(t)}, a, b)
	require.Equal(t, [][]string{{"s/a", "s/b", "barrier"}, {"s/a", "barrier"}, {"s/b", "barrier"}}, sessions(traces), "one that answered before it was asked something is found out alone")
}

func TestAClientThatDoesNotCallEveryToolIsGivenThoseItLeftAlone(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		calls := 0
		env.HTTP = &http.Client{Transport: limited{env.HTTP.Transport, &calls}}
		_ = reference.Client(reference.Config{})(ctx, env)
		return nil
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20260728, Bubble: inBubble(t)}, quiet("s/a"), quiet("s/b"), quiet("s/c"), quiet("s/d"))
	require.Equal(t, [][]string{{"s/a", "s/b", "s/c", "s/d"}, {"s/c"}, {"s/d"}}, sessions(traces))
	require.Equal(t, []string{"s/c", "s/d"}, again(traces[0]))
}

// limited lets two calls of tools pass.
type limited struct {
	to    http.RoundTripper
	calls *int
}

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Mcp-Method") == "tools/call" {
		if *l.calls++; *l.calls > 2 {
			return nil, errors.New("two are enough")
		}
	}
	return l.to.RoundTrip(r)
}

func TestNothingIsPlayedAgainForAClientThatNeverAskedForTheTools(t *testing.T) {
	for name, run := range map[string]func(context.Context, harness.Env) error{
		"it never connects": func(context.Context, harness.Env) error { return nil },
		"it fails at once":  func(context.Context, harness.Env) error { return errors.New("out of luck") },
		"it gets the version wrong": func(ctx context.Context, env harness.Env) error {
			env.Revision = server.V20251125
			return reference.Client(reference.Config{})(ctx, env)
		},
	} {
		t.Run(name, func(t *testing.T) {
			traces := play(t, harness.Runner{Client: harness.InProcess(run), Revision: server.V20260728, Bubble: inBubble(t)}, quiet("s/a"), quiet("s/b"))
			require.Equal(t, [][]string{{"s/a", "s/b"}}, sessions(traces))
			require.Empty(t, again(traces[0]))
		})
	}
}

func TestAClientThatAlwaysHangsIsGivenUp(t *testing.T) {
	var cases []harness.Case
	happens := map[string]func(context.Context) error{}
	for i := range 8 {
		cases = append(cases, question(fmt.Sprintf("s/%d", i)))
		happens[cases[i].Tool()] = hangs
	}
	cases = append(cases, alone(question("s/8")))
	for _, parallel := range []int{1, 4} {
		client := whoOn(happens, harness.Loopback())
		r := harness.Runner{Client: client, Revision: server.V20260728, Timeout: 3 * time.Second, CaseTimeout: 200 * time.Millisecond, Parallel: parallel}
		traces := play(t, r, cases...)
		require.Equal(t, [][]string{{"s/0", "s/1", "s/2", "s/3", "s/4", "s/5", "s/6", "s/7"}, {"s/0"}, {"s/1"}, {"s/2"},
			{"s/3", "s/4", "s/5", "s/6", "s/7", "s/8"}}, sessions(traces), "the same however many run at once")
		require.Len(t, again(traces[0]), 8)
		require.Equal(t, 3*time.Second, traces[0].Header.Timeout)
		require.Equal(t, 200*time.Millisecond, traces[1].Header.Timeout)
		last := traces[4]
		require.True(t, last.Whole)
		require.Len(t, last.Events, 6, "nothing was started")
		require.Equal(t, "s/3", last.Events[0].Case)
		require.Equal(t, &trace.Mark{Name: trace.MarkNotPlayed, Text: "3 sessions in a row got nowhere, and the client hung in the last one"}, last.Events[0].Mark)
	}
}

func TestACrashIsNoReasonToGiveUp(t *testing.T) {
	happens := map[string]func(context.Context) error{}
	var cases []harness.Case
	for i := range 8 {
		cases = append(cases, alone(quiet(fmt.Sprintf("s/%d", i))))
		happens[cases[i].Tool()] = panics
	}
	traces := play(t, harness.Runner{Client: whoOn(happens, harness.Loopback()), Revision: server.V20251125}, cases...)
	require.Len(t, traces, 8)
	for _, tr := range traces {
		require.Equal(t, "out of range", ending(t, tr).Panic)
	}
}

func TestCasesThatWaitDoSoTogetherAndHaveTheTimeForIt(t *testing.T) {
	var together sync.WaitGroup
	together.Add(3)
	var cases []harness.Case
	for i := range 3 {
		c := quiet(fmt.Sprintf("s/%d", i))
		c.Wait = time.Minute
		c.Play = func(s *server.Session) (any, error) {
			together.Done()
			together.Wait() // for the others
			return "done", nil
		}
		cases = append(cases, c)
	}
	traces := play(t, harness.Runner{Client: right(harness.Loopback()), Revision: server.V20251125, CaseTimeout: 20 * time.Second}, append(cases, question("s/3"))...)
	require.Equal(t, [][]string{{"s/0"}, {"s/1"}, {"s/2"}, {"s/3"}}, sessions(traces), "in their order, although only one session may run at once")
	require.Equal(t, time.Minute+20*time.Second, traces[0].Header.Timeout)
	require.Equal(t, 20*time.Second, traces[3].Header.Timeout)
	for _, tr := range traces {
		require.True(t, ending(t, tr).Clean())
	}
}

func TestInVirtualTimeAWaitCostsNothing(t *testing.T) {
	c := quiet("s/a")
	c.Wait = time.Hour
	c.Play = func(*server.Session) (any, error) {
		<-time.After(time.Hour)
		return "done", nil
	}
	traces := play(t, harness.Runner{Client: right(), Revision: server.V20251125, Bubble: inBubble(t)}, c)
	require.True(t, ending(t, traces[0]).Clean())
}

func TestASessionTakesSoManyCasesAndNoMore(t *testing.T) {
	var cases []harness.Case
	for i := range 70 {
		cases = append(cases, quiet(fmt.Sprintf("s/%d", i)))
	}
	traces := play(t, harness.Runner{Client: right(), Revision: server.V20260728, Bubble: inBubble(t)}, cases...)
	require.Len(t, traces, 2)
	require.Len(t, traces[0].Header.Cases, 64)
	require.Len(t, traces[1].Header.Cases, 6)
}

func TestAFloodCostsOnlyTheCaseThatItComesWith(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		flood := func(context.Context) error {
			body := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 64<<10) + `"}}`
			for range 20 {
				r, _ := http.NewRequest(http.MethodPost, env.URL, strings.NewReader(body))
				r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {string(env.Revision)}}
				resp, err := env.HTTP.Do(r)
				if err != nil {
					return err
				}
				resp.Body.Close()
			}
			return nil
		}
		wire := env
		wire.HTTP = &http.Client{Transport: incident{env.HTTP.Transport, map[string]func(context.Context) error{"s-b": flood}}}
		return reference.Client(reference.Config{})(ctx, wire)
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20260728, Bubble: inBubble(t), TraceLimit: 1 << 20}, quiet("s/a"), quiet("s/b"), quiet("s/c"))
	require.Equal(t, [][]string{{"s/a", "s/b", "s/c"}, {"s/a"}, {"s/b"}, {"s/c"}}, sessions(traces))
	require.Equal(t, []string{"s/a", "s/b", "s/c"}, again(traces[0]))
	var whole []bool
	for _, tr := range traces {
		whole = append(whole, tr.Whole)
	}
	require.Equal(t, []bool{false, true, false, true}, whole)
}
