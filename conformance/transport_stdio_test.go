package conformance_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// transported returns a suite that plays cases in real time.
func transported(c harness.Client, revision server.Revision, only ...string) conformance.Suite {
	return conformance.Suite{Client: c, Revisions: []server.Revision{revision}, Only: only, Seed: 1, Parallel: 2}
}

func TestProcessesWhoseServerEndsOrLogs(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { noRelays(t) })
	const pass, fail = report.Pass, report.Fail
	clients := map[string]map[string]report.Verdict{
		"kills-in-the-end": {"transport/shuts-down": report.Warn, "client/ends-cleanly": pass},
		"none": {"transport/shuts-down": pass, "transport/stdio": pass, "transport/stderr": pass,
			"transport/pipe-ends": pass, "client/ends-cleanly": pass},
		"logs": {"transport/stdio": fail, "transport/stderr": pass, "transport/pipe-ends": pass,
			"client/ends-cleanly": pass},
		"fears-stderr":       {"transport/stderr": report.Warn, "client/ends-cleanly": fail},
		"dies-of-sigpipe":    {"transport/pipe-ends": fail, "client/ends-cleanly": fail},
		"waits-for-the-dead": {"transport/pipe-ends": fail, "client/ends-cleanly": fail},
	}
	suites := map[string]conformance.Suite{}
	for behaviour := range clients {
		suite := transported(python(t, behaviour), server.V20251125, "transport/pipe", "transport/pipe-end")
		if behaviour == "waits-for-the-dead" { // It hangs.
			suite.Client.Grace, suite.Timeout, suite.CaseTimeout = time.Second/4, 4*time.Second, 4*time.Second
		}
		suites[behaviour] = suite
	}
	for behaviour, played := range playAll(t, suites) {
		t.Run(behaviour, func(t *testing.T) {
			for id, verdict := range clients[behaviour] {
				r := find(t, played.Results, id)
				require.Equal(t, verdict, r.Verdict, "%s: %s", id, r.Message)
			}
		})
	}
}

// A client that speaks one version does not fail with a server that speaks another.
func TestAClientOfOneVersionPassesWithAnotherServer(t *testing.T) {
	t.Parallel()
	suite := transported(python(t, "none"), server.V20251125, "transport/older-version", "transport/pipe")
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, report.Pass, find(t, rs, "transport/other-version").Verdict)
	require.Equal(t, report.NotApplicable, find(t, rs, "transport/version-listed").Verdict, "its messages name no version")
	require.Equal(t, report.Pass, find(t, rs, "client/ends-cleanly").Verdict)

	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not in the PATH: on Windows, install Git")
	}
	script := `test -n "$MCP_CONFORMANCE_PROTOCOL_VERSION" || { echo 'no version' >&2; exit 7; }`
	suite = transported(harness.Command(sh, "-c", script), server.V20260728, "transport/older-era")
	rs, _, err = suite.Run(t.Context())
	require.NoError(t, err)
	for _, check := range []string{"version-listed", "other-version"} {
		r := find(t, rs, "transport/"+check)
		require.Equal(t, report.Unsupported, r.Verdict, "it need not know what an empty revision means")
		require.Contains(t, r.Message, "it exited with status 7")
	}
	require.Equal(t, report.Fail, find(t, rs, "client/connects").Verdict,
		"nothing green comes of a client that never came")
}

// Both revisions are judged where nobody says which; a client that speaks one of them is judged in that, and not
// accused in the other.
func TestAClientOfOneEraIsJudgedInThatAlone(t *testing.T) {
	for own, other := range map[server.Revision]server.Revision{server.V20251125: server.V20260728,
		server.V20260728: server.V20251125} {
		s := suiteOf(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
			env.Revision = own
			return reference.Client(reference.Config{})(ctx, env)
		}))
		s.Only = []string{"declare", "transport"}
		rs, _, err := s.Run(t.Context())
		require.NoError(t, err)
		seen := map[string]int{}
		for _, r := range rs.Results {
			seen[r.Revision]++
			require.False(t, r.Failed(true), "%s %s: %s", r.Revision, r.ID(), r.Message)
			if r.Revision == string(other) {
				require.Equal(t, report.NotApplicable, r.Verdict, "%s: %s", r.ID(), r.Message)
			}
		}
		require.NotZero(t, seen[string(own)])
		require.NotZero(t, seen[string(other)])
	}
}
