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
	if err != nil {
		t.Skip("needs node in the PATH: install Node.js 20 or later, for example with apt-get install nodejs")
	}
	return harness.Command(path, "testdata/adapter.mjs")
}

func questions(n int) []harness.Case {
	var all []harness.Case
	for i := range n {
		all = append(all, question(fmt.Sprintf("s/%d", i)))
	}
	return all
}

func TestAnAdapterInJavaScriptWorksInBothEras(t *testing.T) {
	for _, revision := range both {
		traces := play(t, harness.Runner{Client: node(t), Revision: revision}, questions(3)...)
		require.Len(t, traces, 1)
		requireClean(t, traces...)
		require.Empty(t, ending(t, traces[0]).Stdout)
		require.Equal(t, 3, modelRequests(traces[0]))
		outcomes := marks(traces[0], trace.MarkOutcome)
		require.Len(t, outcomes, 3)
		require.Equal(t, []string{`{"mcp-conform":"outcome","tool":"s-0","outcome":"completed"}`}, outcomes["s/0"])
	}
}

// BenchmarkBatch measures a case in a batch of 50, for a client in a process of its own, and the start of the client.
func BenchmarkBatch(b *testing.B) {
	for name, client := range map[string]func(testing.TB) harness.Client{
		"node": node,
		"go":   func(testing.TB) harness.Client { return harness.Command(os.Args[0], "program:reference") },
	} {
		b.Run(name, func(b *testing.B) {
			const many = 50
			one, all := time.Hour, time.Hour // the least of each: the rest is other work of the machine
			for b.Loop() {
				one = min(one, session(b, client(b), questions(1)))
				all = min(all, session(b, client(b), questions(many)))
			}
			b.ReportMetric(one.Seconds()*1000, "start-ms")
			b.ReportMetric((all-one).Seconds()*1000/(many-1), "ms/case")
		})
	}
}

// session plays the cases in one session and returns how long it took.
func session(b *testing.B, client harness.Client, all []harness.Case) time.Duration {
	began := time.Now()
	r := harness.Runner{Client: client, Revision: server.V20251125}
	require.NoError(b, r.Run(b.Context(), all, func(tr *trace.Trace) {
		for _, e := range tr.Events {
			require.True(b, e.Process == nil || e.Process.State == trace.Started || e.Process.Clean(), "%+v", e.Process)
		}
	}))
	return time.Since(began)
}

// BenchmarkStartUp measures the harness around a client that does nothing.
func BenchmarkStartUp(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip("needs the program true in the PATH")
	}
	for b.Loop() {
		session(b, harness.Command(path), questions(50))
	}
}
