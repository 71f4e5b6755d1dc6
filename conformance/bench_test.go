package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// chapters are the scenarios of the catalogue's chapters 1 to 11.
var chapters = []string{"declare", "basic", "tool-use", "parallel", "loop", "balance", "malformed", "cancel", "time", "provider-errors", "consent"}

// BenchmarkCatalogue plays and judges chapters 1 to 11 of the catalogue, all cases in both eras, with a client in process that is right. The
// time is real, as for the command: the longest wait is that for a client which gives up after two seconds, and all others are beside it. It
// has to stay below three seconds on two cores.
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
