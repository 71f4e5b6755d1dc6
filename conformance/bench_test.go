package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// chapters are the scenarios of chapters 1 to 11.
var chapters = []string{"declare", "basic", "tool-use", "parallel", "loop", "balance", "malformed", "cancel", "time",
	"provider-errors", "consent"}

// BenchmarkCatalogue plays and judges chapters 1 to 11 in both eras with a correct client in process, in real time as
// the command does. The longest wait is that for a client timeout of two seconds. A run must stay below three seconds
// on two cores.
func BenchmarkCatalogue(b *testing.B) {
	for name, config := range map[string]reference.Config{
		"openai-chat": {},
		"native":      {Dialect: dialect.Native},
	} {
		b.Run(name, func(b *testing.B) {
			suite := conformance.Suite{Client: harness.InProcess(reference.Client(config)), Only: chapters, Seed: 1, Parallel: 2}
			began := time.Now()
			for b.Loop() {
				rs, _, err := suite.Run(b.Context())
				require.NoError(b, err)
				require.False(b, rs.Failed(true))
			}
			b.ReportMetric(float64(time.Since(began).Milliseconds())/float64(b.N), "ms/run")
		})
	}
}

// BenchmarkAgentMode plays the same cases with the reference as an adapter and as a host, in real time as the command
// does. The host may take at most twice as long.
func BenchmarkAgentMode(b *testing.B) {
	for name, client := range map[string]harness.Client{
		"adapter": harness.InProcess(reference.Client(reference.Config{})),
		"host":    harness.InProcess(reference.Host(reference.Config{}), harness.Agent()),
	} {
		b.Run(name, func(b *testing.B) {
			client.Has = []string{harness.NeverAbandons, harness.ToolsOnly}
			suite := conformance.Suite{Client: client, Only: chapters, Seed: 1, Parallel: 2}
			for b.Loop() {
				rs, _, err := suite.Run(b.Context())
				require.NoError(b, err)
				require.False(b, rs.Failed(false))
			}
		})
	}
}

// BenchmarkJudge judges the traces of a correct client in chapters 1 to 11, which it plays once.
func BenchmarkJudge(b *testing.B) {
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})), Only: chapters, Seed: 1,
		Parallel: 2}
	_, traces, err := suite.Run(b.Context())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := conformance.Judge(traces...)
		require.NoError(b, err)
	}
}
