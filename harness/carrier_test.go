package harness_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// carried are a tool, a prompt and a resource.
func carried() []harness.Case {
	done := func(*server.Session) (any, error) { return "done", nil }
	return []harness.Case{
		{ID: "s/tool", Handler: done},
		{ID: "s/prompt", Carrier: server.PromptsGet, Handler: done},
		{ID: "s/resource", Carrier: server.ResourcesRead, Handler: done},
	}
}

func TestAClientIsToldOfPromptsAndResources(t *testing.T) {
	var told harness.Env
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		told = env
		return reference.Client(reference.Config{})(ctx, env)
	})
	var traces []*trace.Trace
	r := harness.Runner{Client: client, Revision: server.V20260728}
	require.NoError(t, r.Run(t.Context(), carried(), func(tr *trace.Trace) { traces = append(traces, tr) }))
	require.Equal(t, []string{"s-prompt"}, told.Prompts)
	require.Equal(t, []string{"mcp-conform:/s-resource"}, told.Resources)
	require.Len(t, traces, 1)
	require.Equal(t, "resources/read", traces[0].Header.Cases[2].Carrier)
	outcomes := map[string]bool{}
	for _, e := range traces[0].Events {
		if e.Mark != nil && e.Mark.Name == trace.MarkOutcome {
			outcomes[e.Case] = true
		}
	}
	require.Equal(t, map[string]bool{"s/tool": true, "s/prompt": true, "s/resource": true}, outcomes)
}

func TestWhatAClientMakesNothingOfIsNotPlayedAgain(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.Prompts, env.Resources = nil, nil
		return reference.Client(reference.Config{})(ctx, env)
	})
	var traces []*trace.Trace
	r := harness.Runner{Client: client, Revision: server.V20260728}
	require.NoError(t, r.Run(t.Context(), carried(), func(tr *trace.Trace) { traces = append(traces, tr) }))
	require.Len(t, traces, 1)
	require.Empty(t, again(traces[0]))
}
