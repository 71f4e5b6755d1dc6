package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestOnlyGoClientsAreToldOfEnvAnnounce(t *testing.T) {
	told := func(argv ...string) string {
		return HowToDeclare(&evidence.Session{Trace: &trace.Trace{Events: []trace.Event{
			{Process: &trace.Process{State: trace.Started, Argv: argv}}, {Process: &trace.Process{State: trace.Ended}},
		}}}, "tasks")
	}
	require.Equal(t, `declare it with Env.Announce("tasks")`, told())
	require.Equal(t, `declare it with --has tasks, or print {"mcp-conform":"supports","feature":"tasks"}`,
		told("node", "client.js"))
}
