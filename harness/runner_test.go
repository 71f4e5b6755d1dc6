package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestCasesShareASessionUnlessTheyAreIsolated(t *testing.T) {
	a, b, c := question("s/a"), question("s/b"), question("s/c")
	for name, test := range map[string]struct {
		cases []harness.Case
		want  [][]string
	}{
		"no case":           {nil, [][]string{}},
		"none isolated":     {[]harness.Case{a, b}, [][]string{{"s/a", "s/b"}}},
		"the first":         {[]harness.Case{alone(a), b, c}, [][]string{{"s/a"}, {"s/b", "s/c"}}},
		"one in the middle": {[]harness.Case{a, alone(b), c}, [][]string{{"s/a", "s/c"}, {"s/b"}}},
		"all":               {[]harness.Case{alone(a), alone(b)}, [][]string{{"s/a"}, {"s/b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			traces := virtually(t, right(), server.V20251125, test.cases...)
			require.Equal(t, test.want, sessions(traces))
			requireClean(t, traces...)
			for _, tr := range traces {
				require.True(t, tr.Whole)
				require.Equal(t, len(tr.Header.Cases), modelRequests(tr))
			}
		})
	}
}

func TestTheHeaderDescribesTheRun(t *testing.T) {
	r := harness.Runner{Client: right(harness.Named("mine")), Revision: server.V20260728, Seed: 7, Tool: "v1",
		Bubble: inBubble(t)}
	tr := play(t, r, question("s/a"))[0]
	h := tr.Header
	require.JSONEq(t, `{"sampling":{"tools":{}}}`, string(h.Declare))
	require.NotEmpty(t, h.Key)
	one := question("s/a")
	require.Equal(t, trace.Header{Tool: "v1", Client: "mine", Revision: "2026-07-28", Seed: 7, Declare: h.Declare,
		Key: h.Key, Timeout: harness.DefaultCaseTimeout, ClientTimeout: harness.DefaultClientTimeout,
		Cases: []trace.Case{{ID: "s/a", Tool: "s-a", Mark: one.Mark()}}}, h)
	for _, e := range tr.Events {
		require.Contains(t, []string{"", "s/a"}, e.Case, "not its tool or mark")
	}
}

func TestInvalidCasesAreAnErrorOfTheHarness(t *testing.T) {
	empty := quiet("s/a")
	empty.Script = func(string) []*llm.Rule { return []*llm.Rule{llm.When()} }
	for want, all := range map[string][]harness.Case{
		"rule 1 of mark mkkgzwttak":       {empty},
		"tool s-a has no":                 {{ID: "s/a"}},
		`mark "mkkgzwttak"`:               {quiet("s/a"), quiet("s/a")},
		`"s-ä": expected 1 to 128 charac`: {quiet("s/ä")},
	} {
		r := harness.Runner{Client: right(), Revision: server.V20251125, Bubble: inBubble(t)}
		err := r.Run(t.Context(), all, func(*trace.Trace) { t.Error("expected no trace") })
		require.ErrorContains(t, err, "starting a session of 2025-11-25: ")
		require.ErrorContains(t, err, want)
	}
}

func TestASourceReplacesTheScripts(t *testing.T) {
	tr := play(t, harness.Runner{Client: right(), Source: silent{}, Bubble: inBubble(t)}, question("s/a"))[0]
	var misses []string
	for _, e := range tr.Events {
		if e.End != nil {
			misses = append(misses, e.End.Unmatched)
		}
	}
	require.Equal(t, []string{"the source has no answer"}, misses)
}

type silent struct{}

func (silent) Answer(*dialect.Request) (llm.Answer, error) {
	return llm.Answer{}, errors.New("the source has no answer")
}

func TestACancelledRunReturnsTheTracesSoFar(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waits := quiet("s/b")
	waits.Handler = func(s *server.Session) (any, error) {
		cancel()
		<-s.Context().Done()
		return nil, s.Context().Err()
	}
	all := []harness.Case{alone(question("s/a")), alone(waits), alone(question("s/c")), alone(question("s/d"))}
	var traces []*trace.Trace
	r := harness.Runner{Client: right(harness.Loopback()), Revision: server.V20251125}
	require.ErrorIs(t, r.Run(ctx, all, func(tr *trace.Trace) { traces = append(traces, tr) }), context.Canceled)
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}}, sessions(traces))
	requireClean(t, traces[0])
	require.True(t, ending(t, traces[1]).Interrupted)

	for _, bubble := range []func(func()){inBubble(t), nil} {
		r := harness.Runner{Client: right(), Revision: server.V20251125, Bubble: bubble}
		require.ErrorIs(t, r.Run(ctx, all, func(*trace.Trace) { t.Error("expected no trace") }), context.Canceled)
	}
}

func TestARunLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	before := runtime.NumGoroutine()
	for _, client := range []harness.Client{
		right(harness.Loopback()), right(), harness.Command(os.Args[0], "program:reference"),
	} {
		for _, revision := range both {
			r := harness.Runner{Client: client, Revision: revision, Bubble: inBubble(t), Slots: make(chan struct{}, 2)}
			requireClean(t, play(t, r, question("s/a"), alone(question("s/b")))...)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.DefaultTimeout)
	defer cancel()
	for runtime.NumGoroutine() > before { // ending goroutines may need their turn
		if ctx.Err() != nil {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			require.FailNow(t, "goroutines are left", "expected %d, found %d", before, runtime.NumGoroutine())
		}
		runtime.Gosched()
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestABarrierEndsTheSessionWithASample(t *testing.T) {
	for _, revision := range both {
		traces := virtually(t, right(), revision, question("s/a"), barred(question("s/b")), alone(question("s/c")),
			alone(barred(question("s/d"))))
		require.Equal(t, [][]string{{"s/a", "s/b", "barrier"}, {"s/c"}, {"s/d", "barrier"}}, sessions(traces))
		require.Equal(t, 3, modelRequests(traces[0]))
		requireClean(t, traces[0])
	}
}

func TestABarrierAsksNothingIfTheUserDeclines(t *testing.T) {
	for _, decision := range []string{harness.Decline, harness.DeclineAnswer} {
		for _, revision := range both {
			declined := barred(question("s/a"))
			declined.Decision = decision
			traces := virtually(t, right(), revision, declined)
			require.Equal(t, [][]string{{"s/a", "barrier"}}, sessions(traces))
			for _, e := range traces[0].Events {
				if e.Case == harness.BarrierID && e.Frame != nil {
					require.NotContains(t, string(e.Frame.Raw), "sampling/createMessage")
				}
			}
			requireClean(t, traces[0])
		}
	}
}

// received returns what a client receives.
func received(t *testing.T, r harness.Runner, all ...harness.Case) (env harness.Env) {
	t.Helper()
	r.Client = harness.InProcess(func(ctx context.Context, got harness.Env) error {
		env = got
		return nil
	})
	play(t, r, all...)
	return env
}

func TestAClientReceivesOnlyTheChosenDialect(t *testing.T) {
	for dialect, want := range map[string]string{
		"anthropic": "anthropic", "native": "native", "mistral": "openai-chat",
	} {
		model := received(t, harness.Runner{Dialect: dialect, Bubble: inBubble(t)}, quiet("case/quiet")).Model
		require.Len(t, model, 1)
		require.Contains(t, model, want)
		if dialect == "mistral" {
			require.Contains(t, model[want], "/mistral/")
		}
	}
	r := harness.Runner{Client: right(), Revision: server.V20251125, Dialect: "esperanto"}
	require.ErrorContains(t, r.Run(t.Context(), cases(quiet, "case/quiet"), func(*trace.Trace) {}),
		`unknown dialect "esperanto": use one of native, openai-chat`)
}

// carried are a tool, a prompt and a resource.
func carried() []harness.Case {
	all := cases(quiet, "s/tool", "s/prompt", "s/resource")
	all[1].Carrier, all[2].Carrier = server.PromptsGet, server.ResourcesRead
	return all
}

func TestAClientReceivesPromptsAndResources(t *testing.T) {
	env := received(t, harness.Runner{Revision: server.V20260728}, carried()...)
	require.Equal(t, []string{"s-prompt"}, env.Prompts)
	require.Equal(t, []string{"mcp-conform:/s-resource"}, env.Resources)
	traces := play(t, harness.Runner{Client: right(), Revision: server.V20260728}, carried()...)
	require.Len(t, traces, 1)
	require.Equal(t, "resources/read", traces[0].Header.Cases[2].Carrier)
	outcomes := marks(traces[0], trace.MarkOutcome)
	for _, id := range []string{"s/tool", "s/prompt", "s/resource"} {
		require.Len(t, outcomes[id], 1, id)
	}
}

func TestPromptsAndResourcesThatAClientIgnoresDoNotRunAgain(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.Prompts, env.Resources = nil, nil
		return correct(ctx, env)
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20260728}, carried()...)
	require.Len(t, traces, 1)
	require.Empty(t, replayed(traces[0]))
}

func TestACaseMayHaveAServerOfOtherRevisions(t *testing.T) {
	c := alone(quiet("s/other"))
	c.ServerRevisions, c.ListVersionsToModern = []server.Revision{server.V20250618}, true
	var revisions []server.Revision
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		revisions = append(revisions, env.Revision)
		return correct(ctx, env)
	})
	traces := virtually(t, client, server.V20251125, quiet("s/usual"), c)
	require.Len(t, traces, 2)
	require.ElementsMatch(t, []server.Revision{server.V20251125, ""}, revisions, "the client has to negotiate")
	require.Nil(t, traces[0].Header.ServerRevisions)
	require.Equal(t, []string{"2025-06-18"}, traces[1].Header.ServerRevisions)
	var wire []byte
	for _, e := range traces[1].Events {
		if e.Frame != nil {
			wire = append(wire, e.Frame.Raw...)
		}
	}
	require.Contains(t, string(wire), `"code":-32022`)
	require.Contains(t, string(wire), `"protocolVersion":"2025-06-18"`)
	requireClean(t, traces[1])
}

func TestARunReportsItsProgress(t *testing.T) {
	var seen []string
	r := harness.Runner{Client: right(), Revision: server.V20260728, Bubble: inBubble(t),
		Progress: func(p harness.Progress) {
			seen = append(seen, fmt.Sprint(p.Revision, " ", p.Session, " ", p.Cases, " of ", p.Total, " ", p.Case, p.Over))
		}}
	waiting := question("s/c")
	waiting.Wait = time.Second
	play(t, r, question("s/a"), question("s/b"), waiting)
	require.Equal(t, []string{
		"2026-07-28 1 [s/a s/b] of 3 false", "2026-07-28 1 [s/a s/b] of 3 s/afalse", "2026-07-28 1 [s/a s/b] of 3 s/bfalse",
		"2026-07-28 1 [s/a s/b] of 3 true",
		"2026-07-28 2 [s/c] of 3 false", "2026-07-28 2 [s/c] of 3 s/cfalse", "2026-07-28 2 [s/c] of 3 true",
	}, seen)
}
