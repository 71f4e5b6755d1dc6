package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/reference"
)

// BenchmarkCatalogue plays and judges all scenarios in process, both eras, in real time: what a user of the command waits for. It
// has to stay below one second on two cores.
func BenchmarkCatalogue(b *testing.B) {
	for name, config := range map[string]reference.Config{
		"openai-chat": {},
		"native":      {Dialect: dialect.Native},
	} {
		b.Run(name, func(b *testing.B) {
			suite := conformance.Suite{Client: harness.InProcess(reference.Client(config)), Seed: 1, Parallel: 2}
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
