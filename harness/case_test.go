package harness

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestMarkDependsOnTheIDAlone(t *testing.T) {
	seen := map[string]string{}
	for i := range 2000 {
		id := fmt.Sprintf("scenario-%d/case-%d", i%7, i)
		c, other := Case{ID: id}, Case{ID: id, Isolated: true}
		mark := c.Mark()
		require.Regexp(t, `^mk[a-z2-7]{8}$`, mark)
		require.Equal(t, mark, other.Mark())
		require.Empty(t, seen[mark], "%s and %s have the same mark", id, seen[mark])
		seen[mark] = id
	}
}

func TestToolDerivesFromTheID(t *testing.T) {
	require.Equal(t, "parallel-two-cities", (&Case{ID: "parallel/two-cities"}).Tool())
	require.Equal(t, "other", (&Case{ID: "parallel/two-cities", Name: "other"}).Tool())
}

func TestCasesWithDifferentSettingsDoNotShareASession(t *testing.T) {
	cases := []Case{{ID: "a"}, {ID: "b", Declare: []byte(`{}`)}, {ID: "c", Declare: []byte(defaultDeclare)},
		{ID: "d", Declare: []byte(`{}`)}, {ID: "e", Isolated: true}, {ID: "f", Decision: Decline},
		{ID: "g", Decision: Approve}, {ID: "h", Hostile: true},
		{ID: "i", Wait: 1}, {ID: "j", Isolated: true, Stdio: true}}
	for stdio, want := range map[bool][][]string{
		true:  {{"a", "c", "g"}, {"b", "d"}, {"e"}, {"f"}, {"h"}, {"i"}, {"j"}},
		false: {{"a", "c", "g", "j"}, {"b", "d"}, {"e"}, {"f"}, {"h"}, {"i"}},
	} {
		var got [][]string
		for _, b := range batches(cases, stdio) {
			var ids []string
			for _, c := range b.cases {
				ids = append(ids, c.ID)
			}
			got = append(got, ids)
		}
		require.Equal(t, want, got, "stdio: %v", stdio)
	}
}

func TestMakeRunsForEachSession(t *testing.T) {
	var events []string
	staged := Case{ID: "s/staged", Abandon: true, Barrier: true, Make: func(l Limits) Stage {
		events = append(events, "made for "+l.Client.String())
		return Stage{Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("?")) },
			Rules:   []*llm.Rule{llm.When().Reply(llm.Text("So."))},
			Settled: func(context.Context) { events = append(events, "settled") }}
	}}
	var abandoned []string
	client := InProcess(func(ctx context.Context, env Env) error {
		abandoned = env.Abandon
		return nil
	})
	r := &Runner{Client: client, Revision: server.V20251125}
	_, err := r.session(t.Context(), []Case{staged}, func(*trace.Event) {})
	require.NoError(t, err)
	require.Equal(t, []string{"s-staged"}, abandoned)
	require.Equal(t, []string{"made for 1m0s"}, events, "no client reached the barrier")

	all := stages(withBarrier([]Case{staged}), Limits{}, false)
	require.Nil(t, all[0].Rules, "the model has a source")
	require.NotNil(t, all[1].Handler)
}
