package badclients_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/badclients"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bad" {
		os.Exit(badclients.Main(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func TestExplore(t *testing.T) {
	for _, c := range badclients.All() {
		for _, r := range []server.Revision{server.V20251125, server.V20260728} {
			if c.Legacy && r.Modern() || c.Modern && !r.Modern() {
				continue
			}
			client := harness.Command(os.Args[0], "bad", c.Name)
			client.Grace = 100 * time.Millisecond
			s := conformance.Suite{Client: client, Seed: 1, Timeout: 1500 * time.Millisecond, Revisions: []server.Revision{r}, Only: []string{"basic/question", "basic/truncated"}}
			start := time.Now()
			rs, _, err := s.Run(t.Context())
			require.NoError(t, err, c.Name)
			fmt.Printf("%-32s %s %6dms", c.Name, r, time.Since(start).Milliseconds())
			for i := range rs.Results {
				x := &rs.Results[i]
				if x.Verdict != report.Pass {
					fmt.Printf("  %s=%s", x.ID(), x.Verdict)
				}
			}
			fmt.Println()
			for i := range rs.Results {
				x := &rs.Results[i]
				if x.Scenario == "client" && x.Verdict != report.Pass {
					fmt.Printf("      %s: %.150s\n", x.ID(), x.Message)
				}
			}
		}
	}
}
