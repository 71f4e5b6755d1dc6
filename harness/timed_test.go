package harness_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

func TestATimedCaseIsMadeAnewForEachSessionOfItsOwn(t *testing.T) {
	var mu sync.Mutex
	var made []harness.Limits
	timed := harness.Case{ID: "s/a", Timed: harness.Beyond, Make: func(l harness.Limits) harness.Stage {
		mu.Lock()
		defer mu.Unlock()
		made = append(made, l)
		return harness.Stage{Play: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Are you there?")) },
			Rules: llm.Script(llm.When().Reply(llm.Text("Yes.")))}
	}}
	told := map[time.Duration]int{}
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		mu.Lock()
		told[env.Timeout]++
		mu.Unlock()
		return nil
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, ClientTimeout: 2 * time.Second}, timed, question("s/b"))
	require.Equal(t, [][]string{{"s/a"}, {"s/b"}}, sessions(traces))
	want := harness.Limits{Client: 2 * time.Second, Declared: true, Patience: 9 * time.Second}
	require.Equal(t, []harness.Limits{want}, made)
	require.Equal(t, map[time.Duration]int{2 * time.Second: 2}, told)
	h := traces[0].Header
	require.Equal(t, want, harness.Limits{Client: h.ClientTimeout, Declared: h.TimeoutDeclared, Patience: h.Patience})
	require.Zero(t, traces[1].Header.Patience)
}
