package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// other are scenarios that a sample of a host leaves out: it plays them as any client does.
var other = []string{"balance", "basic", "cancel", "loop", "malformed", "provider-errors", "time", "transport"}

// hosted judges a host in process; with a selection, only in the older era.
func hosted(t *testing.T, run func(context.Context, harness.Env) error, only ...string) (*report.Results,
	[]*trace.Trace) {
	suite := conformance.Suite{Client: harness.InProcess(run, harness.Agent()), Only: only, Seed: 1, Explore: -1,
		Skip:   append(sample(expensive...), "malformed/long-string"),
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	if only != nil {
		suite.Revisions = []server.Revision{server.V20251125}
	} else {
		suite.Skip = append(suite.Skip, sample(other...)...)
	}
	rs, traces, err := suite.Run(t.Context())
	require.NoError(t, err)
	return rs, traces
}

// bad returns the IDs of the checks that a run does not pass.
func bad(rs *report.Results) []string {
	var ids []string
	for i := range rs.Results {
		if r := &rs.Results[i]; (r.Failed(true) || r.Verdict == report.HarnessError) && !slices.Contains(ids, r.ID()) {
			ids = append(ids, r.ID())
		}
	}
	return ids
}

func TestAHostThatIsRightPassesEveryCheck(t *testing.T) {
	rs, _ := hosted(t, reference.Host(reference.Config{}))
	require.Empty(t, bad(rs))
	passed := 250
	if !sharedtest.Whole() {
		passed = 100
	}
	require.Greater(t, rs.Summary[report.Pass], passed)
}

func TestAHostThatIsRightPassesInEveryDialect(t *testing.T) {
	for _, config := range []reference.Config{{Dialect: dialect.Anthropic}, {Dialect: dialect.Gemini, Plain: true},
		{Dialect: dialect.OpenAIResponses}, {Dialect: dialect.Ollama}} {
		rs, traces := hosted(t, reference.Host(config), "parallel")
		require.Empty(t, bad(rs), config)
		turns := 0
		for _, tr := range traces {
			for _, e := range tr.Events {
				if e.Request != nil && e.Request.Host {
					require.Empty(t, e.Case)
					require.Equal(t, config.Dialect, e.Request.Dialect)
					turns++
				}
			}
		}
		require.Greater(t, turns, 5)
	}
}

func TestAHostWithFewTurnsIsStartedAsOftenAsItNeeds(t *testing.T) {
	whole, one := hosted(t, reference.Host(reference.Config{}), "tool-use")
	limited, some := hosted(t, reference.Host(reference.Config{Turns: 6}), "tool-use")
	require.Empty(t, bad(limited))
	require.Equal(t, whole.Summary, limited.Summary)
	require.Greater(t, len(some), 2*len(one))
	require.Less(t, len(some), 8, "tools that are left share a start")
}

// Hosts ask their model more than the tools need: before the task, beside it, and after it.
func TestWhatAHostAsksBesideItsTaskIsNotJudged(t *testing.T) {
	rs, traces := hosted(t, func(ctx context.Context, env harness.Env) error {
		asker := model.New(model.Options{URL: env.Model[dialect.OpenAIChat], Key: env.Key, HTTP: env.HTTP})
		beside := func(text string) error {
			_, err := asker.Sample(ctx, map[string]any{"maxTokens": 10, "messages": []any{map[string]any{"role": "user",
				"content": map[string]any{"type": "text", "text": text}}}})
			return err
		}
		if err := errors.Join(beside("hi"), beside("A title for: "+env.Prompt)); err != nil {
			return err
		}
		return errors.Join(reference.Host(reference.Config{})(ctx, env), beside("Any other wishes?"))
	}, "consent", "malformed/null-message")
	for i := range rs.Results {
		r := &rs.Results[i]
		require.False(t, r.Failed(true), "%s %s %s: %s", r.Scenario, r.Check, r.Verdict, r.Message)
	}
	require.Len(t, rs.Notes, 1)
	require.Contains(t, rs.Notes[0], fmt.Sprintf("%d model requests belong to no sample", 2*len(traces)))
}

// sampling edits the params of each sample of a host. own returns what the host asks its model next.
func sampling(edit func(own func() map[string]any, params map[string]any)) reference.Config {
	return reference.Config{EditHost: func(own func() map[string]any, o *client.Options) {
		next := o.Sampling
		o.Sampling = func(ctx context.Context, params map[string]any) (map[string]any, error) {
			edit(own, params)
			return next(ctx, params)
		}
	}}
}

// over returns the messages of a host's own conversation before its open tool use.
func over(own map[string]any) []any {
	messages := own["messages"].([]any)
	return messages[:len(messages)-1]
}

// joined returns the items of two lists.
func joined(a, b any) []any {
	first, _ := a.([]any)
	second, _ := b.([]any)
	return slices.Concat(first, second)
}

func TestTheMistakesOfHostsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		config reference.Config
		want   []string
	}{
		"offers its own tools": {sampling(func(own func() map[string]any, params map[string]any) {
			params["tools"] = joined(params["tools"], own()["tools"])
		}), []string{"always/model-was-given"}},
		"leaks its own history": {sampling(func(own func() map[string]any, params map[string]any) {
			params["messages"] = joined(over(own()), params["messages"])
		}), []string{"always/model-was-given"}},
		"replaces the server's system prompt": {sampling(func(own func() map[string]any, params map[string]any) {
			params["systemPrompt"] = own()["systemPrompt"]
		}), nil},
		"answers the wrong conversation": {sampling(func(own func() map[string]any, params map[string]any) {
			params["messages"], params["tools"] = over(own()), own()["tools"]
		}), []string{"client/sampled"}},
		"blocks its own turn while it samples": {reference.Config{
			EditHost: func(_ func() map[string]any, o *client.Options) {
				o.Sampling = func(ctx context.Context, _ map[string]any) (map[string]any, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
			}}, []string{"client/sampled"}},
		"skips the approval": {reference.Config{Edit: func(_ *harness.Env, o *client.Options, _ *model.Options) {
			o.Consent = nil
		}}, []string{"consent/declined"}},
	} {
		t.Run(name, func(t *testing.T) {
			rs, _ := hosted(t, reference.Host(c.config), "basic/question", "consent/request", "parallel")
			if c.want == nil {
				require.Empty(t, bad(rs))
			}
			require.Subset(t, bad(rs), c.want)
		})
	}
}

func TestDeclaredFeaturesDecideWhatIsPlayed(t *testing.T) {
	judged := func(features ...string) (results map[string]report.Result, cases int) {
		client := harness.InProcess(reference.Host(reference.Config{}), harness.Agent(), harness.Has(features...))
		suite := conformance.Suite{Client: client, Only: []string{"cancel", "declare", "mrtr/prompts-and-resources"},
			Revisions: []server.Revision{server.V20260728}, Seed: 1, Explore: -1,
			Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
		rs, traces, err := suite.Run(t.Context())
		require.NoError(t, err)
		results = map[string]report.Result{}
		for _, r := range rs.Results {
			results[r.ID()] = r
		}
		for _, tr := range traces {
			if tr.Events[0].Process != nil {
				cases += len(tr.Header.Cases)
			}
		}
		return results, cases
	}
	without, all := judged()
	with, some := judged(harness.FixedCapabilities, harness.NeverAbandons, harness.ToolsOnly)
	require.Greater(t, all, some)
	for id, flag := range map[string]string{"cancel/no-retry": harness.NeverAbandons,
		"mrtr/prompts-and-resources": harness.ToolsOnly, "declare/undeclared-sampling-refused": harness.FixedCapabilities} {
		require.Equal(t, report.NotApplicable, with[id].Verdict, id)
		require.Contains(t, with[id].Message, "--has "+flag)
		if flag != harness.FixedCapabilities {
			require.Equal(t, report.Unsupported, without[id].Verdict, id)
			require.Contains(t, without[id].Message, "--has "+flag)
		}
	}
	require.Equal(t, report.Pass, without["declare/undeclared-sampling-refused"].Verdict, "this host can be told")
	require.Equal(t, report.Pass, with["declare/undeclared-tools-refused"].Verdict, "it may declare sampling alone")
}

// The mistakes of a host's model are played for hosts alone, and a host that ends its task too early is told so.
func TestTheMistakesOfAHostsModelArePlayedForHosts(t *testing.T) {
	rs, traces := hosted(t, reference.Host(reference.Config{Turns: 1}), "host-loop/unknown-tool-told")
	require.Empty(t, bad(rs))
	require.Len(t, traces, 1)
	told := func(rs *report.Results) *report.Result {
		i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "host-loop/unknown-tool-told" })
		return &rs.Results[i]
	}
	require.Equal(t, report.Unsupported, told(rs).Verdict)
	require.Contains(t, told(rs).Message, "with turn 1 of its model, before the mistake: allow it more turns")

	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})), Explore: -1,
		Only: []string{"basic/question", "host-loop"}, Revisions: []server.Revision{server.V20251125},
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, bad(rs))
	require.Equal(t, report.NotApplicable, told(rs).Verdict)
	require.Contains(t, told(rs).Message, "not a host with a model of its own ({prompt} in the command, or --agent)")
}

func TestARunInWhichNothingCouldBePlayedFails(t *testing.T) {
	client := harness.InProcess(reference.Host(reference.Config{}), harness.Agent(), harness.Has(harness.NeverAbandons))
	suite := conformance.Suite{Client: client, Only: []string{"cancel/call-while-working"}, Explore: -1,
		Revisions: []server.Revision{server.V20260728}}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.True(t, rs.Failed(false))
	require.Contains(t, rs.Results[0].Message, "no case was played: ")
}
