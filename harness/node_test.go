package harness_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// node is the adapter in JavaScript.
func node(t testing.TB) harness.Client {
	path, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no node in the PATH: install Node.js 20 or later, as with apt-get install nodejs")
	}
	require.NoError(t, err)
	return harness.Command(path, "testdata/adapter.mjs")
}

func questions(n int) []harness.Case {
	var cases []harness.Case
	for i := range n {
		cases = append(cases, question(fmt.Sprintf("s/%d", i)))
	}
	return cases
}

func TestAnAdapterInJavaScriptIsAClientInBothEras(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		traces := play(t, harness.Runner{Client: node(t), Revision: revision}, questions(3)...)
		require.Len(t, traces, 1)
		p := ending(t, traces[0])
		require.True(t, p.Clean(), "%+v", p)
		require.Empty(t, p.Stdout, "outcome lines are no output")
		require.Equal(t, 3, modelRequests(traces[0]))
		var said []string
		for _, e := range traces[0].Events {
			if e.Mark != nil && e.Mark.Name == trace.MarkOutcome {
				said = append(said, e.Case+" "+e.Mark.Text)
			}
		}
		require.Equal(t, `s/0 {"mcp-conform":"outcome","tool":"s-0","outcome":"completed"}`, said[0])
		require.Len(t, said, 3)
	}
}

// BenchmarkBatch tells what a case costs in a batch of 50 for a client in a process of its own, beyond what starting it costs.
func BenchmarkBatch(b *testing.B) {
	for name, client := range map[string]func(testing.TB) harness.Client{
		"node": node,
		"go":   func(testing.TB) harness.Client { return harness.Command(os.Args[0], "program:reference") },
	} {
		b.Run(name, func(b *testing.B) {
			const many = 50
			one, all := time.Hour, time.Hour // the least of each: what is above that is for others on the machine
			for b.Loop() {
				one = min(one, session(b, client(b), questions(1)))
				all = min(all, session(b, client(b), questions(many)))
			}
			b.ReportMetric(one.Seconds()*1000, "start-ms")
			b.ReportMetric((all-one).Seconds()*1000/(many-1), "ms/case")
		})
	}
}

// session plays the cases in one session and returns what it took.
func session(b *testing.B, client harness.Client, cases []harness.Case) time.Duration {
	began := time.Now()
	r := harness.Runner{Client: client, Revision: server.V20251125}
	require.NoError(b, r.Run(b.Context(), cases, func(tr *trace.Trace) {
		for _, e := range tr.Events {
			require.True(b, e.Process == nil || e.Process.State == trace.Started || e.Process.Clean(), "%+v", e.Process)
		}
	}))
	return time.Since(began)
}

// BenchmarkStartUp tells what the harness costs before and after a client that does nothing.
func BenchmarkStartUp(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip("there is no program true in the PATH: it comes with every Unix")
	}
	for b.Loop() {
		session(b, harness.Command(path), questions(50))
	}
}
