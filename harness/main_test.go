package harness_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// programs are clients in processes of their own: this test's binary, called with one of the names.
var programs = map[string]func() error{
	"program:reference": func() error {
		env, err := harness.EnvFromProcess(os.Args[1:], os.Getenv)
		if err != nil {
			return err
		}
		return reference.Client(reference.Config{})(context.Background(), env)
	},
	"program:leave-an-orphan": leaveAnOrphan,
	"program:tell-stdio":      tellStdio,
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
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil { // or each program takes a second to end, with -race
		panic(err)
	}
	os.Exit(m.Run())
}

// question is a case in which the model is asked once.
func question(id string) harness.Case {
	return harness.Case{
		ID:      id,
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Hello?")) },
		Script:  func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text("Hello."))) },
	}
}

// quiet is a case that asks for nothing, for clients that never call it.
func quiet(id string) harness.Case {
	return harness.Case{ID: id, Handler: func(*server.Session) (any, error) { return "nothing", nil }}
}

// inBubble runs a function in virtual time.
func inBubble(t *testing.T) func(func()) {
	return func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
}

// play runs the cases and returns the traces, in the order in which they came.
func play(t *testing.T, r harness.Runner, cases ...harness.Case) []*trace.Trace {
	t.Helper()
	var traces []*trace.Trace
	require.NoError(t, r.Run(t.Context(), cases, func(tr *trace.Trace) { traces = append(traces, tr) }))
	return traces
}

// ending returns how the client of a trace ended.
func ending(t *testing.T, tr *trace.Trace) *trace.Process {
	t.Helper()
	for _, e := range tr.Events {
		if e.Process != nil && e.Process.State == trace.Ended {
			return e.Process
		}
	}
	require.Fail(t, "the trace does not say how the client ended")
	return nil
}

// modelRequests counts what the model was asked.
func modelRequests(tr *trace.Trace) int {
	n := 0
	for _, e := range tr.Events {
		if e.Request != nil {
			n++
		}
	}
	return n
}
