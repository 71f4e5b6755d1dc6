package harness_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// programs are clients in processes of their own: this test binary, run with one of the names.
var programs = map[string]func() error{
	"program:reference": func() error {
		env, err := harness.EnvFromProcess(os.Args[1:], os.Getenv)
		if err != nil {
			return err
		}
		return correct(context.Background(), env)
	},
	"program:leave-an-orphan": leaveAnOrphan,
	"program:print-stdio":     printStdio,
	"program:die-over-stdio":  dieOverStdio,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && programs[os.Args[1]] != nil {
		if err := programs[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// With -race, each program would take a second to end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil { // parallel tests wait more than they compute
		panic(err)
	}
	os.Exit(m.Run())
}

// correct is the function of a correct client.
var correct = reference.Client(reference.Config{})

// right is a correct client in process.
func right(o ...harness.Option) harness.Client { return harness.InProcess(correct, o...) }

// mutant is the correct client with a fault.
func mutant(name string) harness.Client {
	return harness.InProcess(mutants.Find(name).Client(reference.Config{}, nil))
}

// both are the revisions of the two eras.
var both = []server.Revision{server.V20251125, server.V20260728}

// question is a case that asks the model once.
func question(id string) harness.Case {
	return harness.Case{
		ID:      id,
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Hello?")) },
		Script:  func(string) []*llm.Rule { return []*llm.Rule{llm.When().Reply(llm.Text("Hello."))} },
	}
}

// quiet is a case that asks for nothing.
func quiet(id string) harness.Case {
	return harness.Case{ID: id, Handler: func(*server.Session) (any, error) { return "nothing", nil }}
}

// cases makes a case of each id.
func cases(makeCase func(string) harness.Case, ids ...string) []harness.Case {
	var all []harness.Case
	for _, id := range ids {
		all = append(all, makeCase(id))
	}
	return all
}

func alone(c harness.Case) harness.Case {
	c.Isolated = true
	return c
}

func hostile(c harness.Case) harness.Case {
	c.Hostile = true
	return c
}

func barred(c harness.Case) harness.Case {
	c.Barrier = true
	return c
}

// inBubble runs a function in virtual time.
func inBubble(t *testing.T) func(func()) {
	return func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
}

// play plays the cases, in 2025-11-25 by default, and returns the traces in the order in which they came.
func play(t *testing.T, r harness.Runner, cases ...harness.Case) []*trace.Trace {
	t.Helper()
	if r.Revision == "" {
		r.Revision = server.V20251125
	}
	var traces []*trace.Trace
	require.NoError(t, r.Run(t.Context(), cases, func(tr *trace.Trace) { traces = append(traces, tr) }))
	return traces
}

// virtually plays the cases in virtual time.
func virtually(t *testing.T, c harness.Client, revision server.Revision, cases ...harness.Case) []*trace.Trace {
	t.Helper()
	return play(t, harness.Runner{Client: c, Revision: revision, Bubble: inBubble(t)}, cases...)
}

// end runs a client that never connects and returns how it ended.
func end(t *testing.T, c harness.Client, timeout time.Duration) *trace.Process {
	t.Helper()
	traces := play(t, harness.Runner{Client: c, Timeout: timeout}, quiet("case/quiet"))
	require.Len(t, traces, 1)
	return ending(t, traces[0])
}

// ending returns how the client of a trace ended.
func ending(t *testing.T, tr *trace.Trace) *trace.Process {
	t.Helper()
	for _, e := range tr.Events {
		if e.Process != nil && e.Process.State == trace.Ended {
			return e.Process
		}
	}
	require.Fail(t, "expected the end of the client in the trace, found none")
	return nil
}

func requireClean(t *testing.T, traces ...*trace.Trace) {
	t.Helper()
	for _, tr := range traces {
		require.True(t, ending(t, tr).Clean(), "%+v", ending(t, tr))
	}
}

// unclean returns the indices of the traces whose client did not end cleanly.
func unclean(t *testing.T, traces []*trace.Trace) (indices []int) {
	t.Helper()
	for i, tr := range traces {
		if !ending(t, tr).Clean() {
			indices = append(indices, i)
		}
	}
	return indices
}

// sessions returns the case ids of each trace.
func sessions(traces []*trace.Trace) [][]string {
	ids := make([][]string, len(traces))
	for i, tr := range traces {
		for _, c := range tr.Header.Cases {
			ids[i] = append(ids[i], c.ID)
		}
	}
	return ids
}

// replayed returns the cases of a trace that ran again in another session.
func replayed(tr *trace.Trace) []string {
	var ids []string
	for _, c := range tr.Header.Cases {
		if c.Replayed {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// modelRequests counts the requests to the model.
func modelRequests(tr *trace.Trace) int {
	n := 0
	for _, e := range tr.Events {
		if e.Request != nil {
			n++
		}
	}
	return n
}

// marks returns the texts of the marks with a name, by case.
func marks(tr *trace.Trace, name string) map[string][]string {
	texts := map[string][]string{}
	for _, e := range tr.Events {
		if e.Mark != nil && e.Mark.Name == name {
			texts[e.Case] = append(texts[e.Case], e.Mark.Text)
		}
	}
	return texts
}
