package harness_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// right is the reference client.
func right(o ...harness.Option) harness.Client {
	return harness.InProcess(reference.Client(reference.Config{}), o...)
}

// alone is the case in a session of its own.
func alone(c harness.Case) harness.Case {
	c.Isolated = true
	return c
}

// named is the case under another name.
func named(id string, c harness.Case) harness.Case {
	c.ID = id
	return c
}

// sessions are the ids of the cases of each trace.
func sessions(traces []*trace.Trace) [][]string {
	ids := make([][]string, len(traces))
	for i, tr := range traces {
		for _, c := range tr.Header.Cases {
			ids[i] = append(ids[i], c.ID)
		}
	}
	return ids
}

func TestCasesShareASessionUnlessTheyAreIsolated(t *testing.T) {
	for name, c := range map[string]struct {
		cases []harness.Case
		want  [][]string
	}{
		"none":               {nil, [][]string{}},
		"all together":       {[]harness.Case{question("s/a"), question("s/b")}, [][]string{{"s/a", "s/b"}}},
		"one alone at first": {[]harness.Case{alone(question("s/a")), question("s/b"), question("s/c")}, [][]string{{"s/a"}, {"s/b", "s/c"}}},
		"one alone between":  {[]harness.Case{question("s/a"), alone(question("s/b")), question("s/c")}, [][]string{{"s/a", "s/c"}, {"s/b"}}},
		"all alone":          {[]harness.Case{alone(question("s/a")), alone(question("s/b"))}, [][]string{{"s/a"}, {"s/b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			traces := play(t, harness.Runner{Client: right(), Revision: server.V20251125, Bubble: inBubble(t)}, c.cases...)
			require.Equal(t, c.want, sessions(traces))
			for _, tr := range traces {
				require.True(t, tr.Whole)
				require.True(t, ending(t, tr).Clean())
				require.Equal(t, len(tr.Header.Cases), modelRequests(tr))
			}
		})
	}
}

func TestTracesComeInTheOrderOfTheirCasesWhoeverIsFirstToEnd(t *testing.T) {
	// The play of each case waits for the one after it.
	names := []string{"s/a", "s/b", "s/c"}
	ended := map[string]chan bool{}
	var cases []harness.Case
	for i, name := range names {
		ended[name] = make(chan bool)
		cases = append(cases, harness.Case{ID: name, Isolated: true, Handler: func(s *server.Session) (any, error) {
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
	traces := play(t, harness.Runner{Client: right(harness.Loopback()), Revision: server.V20260728, Parallel: len(names)}, cases...)
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}, {"s/c"}}, sessions(traces))
	for _, tr := range traces {
		require.True(t, ending(t, tr).Clean())
	}
}

func TestNoMoreSessionsRunAtOnceThanAreAllowed(t *testing.T) {
	var running, most atomic.Int32
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		runtime.Gosched() // gives others the chance to be there, too
		return reference.Client(reference.Config{})(ctx, env)
	}, harness.Loopback())
	var cases []harness.Case
	for _, id := range strings.Fields("a b c d e f g h i j") {
		cases = append(cases, alone(quiet("s/"+id)))
	}
	require.Len(t, play(t, harness.Runner{Client: client, Revision: server.V20260728, Parallel: 2}, cases...), len(cases))
	require.LessOrEqual(t, most.Load(), int32(2))
	most.Store(0)
	play(t, harness.Runner{Client: client, Revision: server.V20260728}, cases...)
	require.EqualValues(t, 1, most.Load(), "one at a time when nothing is said")
}

func TestTheHeaderSaysHowTheTraceCameAbout(t *testing.T) {
	traces := play(t, harness.Runner{Client: right(harness.Named("mine")), Revision: server.V20260728, Seed: 7, Tool: "v1", Bubble: inBubble(t)}, question("s/a"))
	h := traces[0].Header
	require.Equal(t, "mine", h.Client)
	require.Equal(t, "2026-07-28", h.Revision)
	require.Equal(t, int64(7), h.Seed)
	require.Equal(t, "v1", h.Tool)
	require.Equal(t, harness.DefaultCaseTimeout, h.Timeout)
	require.JSONEq(t, `{"sampling":{"tools":{}}}`, string(h.Declare))
	one := question("s/a")
	require.Equal(t, []trace.Case{{ID: "s/a", Tool: "s-a", Mark: one.Mark()}}, h.Cases)
	require.NotEmpty(t, h.Key)
	for _, e := range traces[0].Events {
		require.Contains(t, []string{"", "s/a"}, e.Case, "events carry the id of the case, whatever the wires call it")
	}
}

func TestCasesThatCannotBePlayedAreOurError(t *testing.T) {
	for name, c := range map[string]struct {
		cases []harness.Case
		want  string
	}{
		"a rule that says nothing": {[]harness.Case{{ID: "s/a", Handler: quiet("").Handler, Script: func(string) []*llm.Rule { return llm.Script(llm.When()) }}},
			"starting a session of 2025-11-25: rule 1 of mark mkkgzwttak says nothing: add Reply(…) or Fail(…)"},
		"a case without a play": {[]harness.Case{{ID: "s/a"}}, "starting a session of 2025-11-25: tool s-a has no play"},
		"the same case twice":   {[]harness.Case{quiet("s/a"), quiet("s/a")}, `starting a session of 2025-11-25: mark "mkkgzwttak" has a script already`},
		"no name for a tool":    {[]harness.Case{quiet("s/ä")}, `starting a session of 2025-11-25: tool name "s-ä": want 1 to 128 characters of [A-Za-z0-9_.-]`},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Runner{Client: right(), Revision: server.V20251125, Bubble: inBubble(t)}
			require.EqualError(t, r.Run(t.Context(), c.cases, func(*trace.Trace) { t.Error("nothing ran that could be traced") }), c.want)
		})
	}
}

func TestASourceAnswersInPlaceOfTheScripts(t *testing.T) {
	traces := play(t, harness.Runner{Client: right(), Revision: server.V20251125, Source: silent{}, Bubble: inBubble(t)}, question("s/a"))
	var misses []string
	for _, e := range traces[0].Events {
		if e.End != nil {
			misses = append(misses, e.End.Miss)
		}
	}
	require.Equal(t, []string{"the source has nothing to say"}, misses)
}

type silent struct{}

func (silent) Answer(*dialect.Request) (llm.Answer, error) {
	return llm.Answer{}, errors.New("the source has nothing to say")
}

func TestARunThatIsGivenUpHandsOverWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waits := quiet("s/b")
	waits.Handler = func(s *server.Session) (any, error) {
		cancel()
		<-s.Context().Done()
		return nil, s.Context().Err()
	}
	cases := []harness.Case{alone(question("s/a")), alone(waits), alone(question("s/c")), alone(question("s/d"))}
	var traces []*trace.Trace
	r := harness.Runner{Client: right(harness.Loopback()), Revision: server.V20251125}
	require.ErrorIs(t, r.Run(ctx, cases, func(tr *trace.Trace) { traces = append(traces, tr) }), context.Canceled)
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}}, sessions(traces), "what had not begun does not begin")
	require.True(t, ending(t, traces[0]).Clean())
	require.True(t, ending(t, traces[1]).Interrupted)
}

func TestARunThatIsGivenUpBeforeItBeginsPlaysNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, bubble := range map[string]func(func()){"in virtual time": inBubble(t), "in real time": nil} {
		t.Run(name, func(t *testing.T) {
			r := harness.Runner{Client: right(), Revision: server.V20251125, Bubble: bubble}
			require.ErrorIs(t, r.Run(ctx, []harness.Case{question("s/a")}, func(*trace.Trace) { t.Error("nothing ran that could be traced") }), context.Canceled)
		})
	}
}

func TestNothingIsLeftAfterARun(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	before := runtime.NumGoroutine()
	for name, client := range map[string]harness.Client{
		"of a function over loopback": right(harness.Loopback()),
		"of a function in a bubble":   right(),
		"of a program":                harness.Command(os.Args[0], "program:reference"),
	} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			traces := play(t, harness.Runner{Client: client, Revision: revision, Bubble: inBubble(t), Parallel: 2}, question("s/a"), alone(question("s/b")))
			for _, tr := range traces {
				require.True(t, ending(t, tr).Clean(), "%s: %+v", name, ending(t, tr))
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.DefaultTimeout)
	defer cancel()
	for runtime.NumGoroutine() > before { // those that have been told to end may need their turn for it
		if ctx.Err() != nil {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			require.FailNow(t, "goroutines are left", "%d, and there were %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left, "no file is left")
}

func TestASessionWithABarrierEndsInAPlainSample(t *testing.T) {
	asks := question("s/b")
	asks.Barrier = true
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		traces := play(t, harness.Runner{Client: right(), Revision: revision, Bubble: inBubble(t)}, question("s/a"), asks, alone(question("s/c")), alone(named("s/d", asks)))
		require.Equal(t, [][]string{{"s/a", "s/b", "barrier"}, {"s/c"}, {"s/d", "barrier"}}, sessions(traces), "only where a case asks for it")
		require.Equal(t, 3, modelRequests(traces[0]))
		require.True(t, ending(t, traces[0]).Clean())
	}
}

func TestABarrierAsksNothingWhereThePersonDeclines(t *testing.T) {
	for _, decision := range []string{harness.Decline, harness.DeclineAnswer} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			asks := question("s/a")
			asks.Barrier, asks.Decision = true, decision
			traces := play(t, harness.Runner{Client: right(), Revision: revision, Bubble: inBubble(t)}, asks)
			require.Equal(t, [][]string{{"s/a", "barrier"}}, sessions(traces))
			for _, e := range traces[0].Events {
				if e.Case == harness.BarrierID && e.Frame != nil {
					require.NotContains(t, string(e.Frame.Raw), "sampling/createMessage", "nobody would answer it in the second era")
				}
			}
			require.True(t, ending(t, traces[0]).Clean())
		}
	}
}

func TestAClientIsToldOfOneDialect(t *testing.T) {
	for dialect, want := range map[string]string{"anthropic": "anthropic", "native": "native", "mistral": "openai-chat"} {
		var told map[string]string
		r := harness.Runner{Revision: server.V20251125, Dialect: dialect, Bubble: inBubble(t), Client: harness.InProcess(func(_ context.Context, env harness.Env) error {
			told = env.Model
			return nil
		})}
		play(t, r, quiet("case/quiet"))
		require.Len(t, told, 1)
		require.Contains(t, told, want)
		if dialect == "mistral" {
			require.Contains(t, told[want], "/mistral/")
		}
	}
	r := harness.Runner{Revision: server.V20251125, Dialect: "esperanto", Client: harness.InProcess(func(context.Context, harness.Env) error { return nil })}
	require.ErrorContains(t, r.Run(t.Context(), []harness.Case{quiet("case/quiet")}, func(*trace.Trace) {}),
		`the model does not speak the dialect "esperanto": want one of native, openai-chat, openai-responses, anthropic, gemini, ollama`)
}
