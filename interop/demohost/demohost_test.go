package main

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// TestMain runs the host if a test has started the test binary with a prompt.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--prompt") {
		main()
		return
	}
	os.Exit(m.Run())
}

// known is what anybody who starts this host knows of it.
var known = []string{harness.FixedCapabilities, harness.NeverAbandons, harness.ToolsOnly, harness.OneModel}

// inProcess is the host in process, after edit has changed it; nil changes nothing.
func inProcess(provider string, edit func(*host)) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		c := config{Servers: map[string]serverConfig{"conform": {URL: env.URL}}}
		c.Provider.Name, c.Provider.APIKey, c.Provider.BaseURL = provider, env.Key, env.Model[dialect.OpenAIChat]
		if provider == "anthropic" {
			c.Provider.BaseURL = env.Model[dialect.Anthropic]
		}
		h, err := newHost(&c, env.HTTP)
		if err != nil {
			return err
		}
		h.approve = func(string) bool { return env.Decision != harness.Decline }
		if env.Decision == harness.Decline { // --answer says so in a process
			env.Announce(harness.Decisions)
		}
		if edit != nil {
			edit(h)
		}
		return h.work(ctx, env.Prompt)
	}, harness.Agent(), harness.Has(known...))
}

// judged judges the host on some scenarios, after edit has changed it.
func judged(t *testing.T, edit func(*host), only ...string) []string {
	suite := conformance.Suite{Client: inProcess("openai", edit), Only: only, Seed: 1,
		Revisions: []server.Revision{server.V20251125},
		Bubble:    func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	return failed(t, rs)
}

// failed returns the IDs of the checks that fail.
func failed(t *testing.T, rs *report.Results) []string {
	ids := []string{}
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Failed(false) || r.Verdict == report.HarnessError {
			t.Logf("%s %s %s: %s", r.Revision, r.ID(), r.Verdict, r.Message)
			ids = append(ids, r.ID())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// The baseline has the faults of go-sdk v1.8.0 that the host cannot correct.
func TestTheHostHasOnlyTheFaultsOfItsSDK(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			conformance.Run(t, inProcess(provider, nil), conformance.Skip("malformed"),
				conformance.KnownIn("mcp-conform-baseline.yaml"))
		})
	}
}

// sampling changes what the host asks its model for a sample.
func sampling(edit func(own, r *request)) func(*host) {
	return func(h *host) {
		h.answer = func(ctx context.Context, r *request) (*answer, error) {
			edit(h.conversation(), r)
			return h.ask(ctx, r)
		}
	}
}

func TestTheMistakesOfTheHostAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*host)
		want string // "" for what is allowed
	}{
		"offers its own tools": {sampling(func(own, r *request) { r.Tools = append(r.Tools, own.Tools...) }),
			"always/model-was-given"},
		"leaks its own history": {sampling(func(own, r *request) {
			r.Messages = slices.Concat(own.Messages, r.Messages)
		}), "always/model-was-given"},
		"answers the wrong conversation":      {sampling(func(own, r *request) { *r = *own }), "client/sampled"},
		"replaces the server's system prompt": {sampling(func(own, r *request) { r.SystemPrompt = own.SystemPrompt }), ""},
		"skips the approval": {func(h *host) { h.approve = func(string) bool { return true } },
			"consent/no-model-call"},
		"blocks its own turn while it samples": {func(h *host) {
			turn := make(chan struct{}) // never free
			h.answer = func(ctx context.Context, _ *request) (*answer, error) {
				select {
				case <-turn:
				case <-ctx.Done():
				}
				return nil, ctx.Err()
			}
		}, "client/sampled"},
	} {
		t.Run(name, func(t *testing.T) {
			found := judged(t, c.edit, "basic/question", "parallel/two-cities", "consent/request")
			if c.want == "" {
				require.Empty(t, found)
				return
			}
			require.Contains(t, found, c.want)
		})
	}
}

func TestTheHostPassesAsAProgramWithAConfigurationFile(t *testing.T) {
	client := harness.Command(os.Args[0], "--config", "{config}", "--prompt", "{prompt}")
	client.Has = known
	client.Setup = harness.Setup{
		Templates: []harness.Template{{Text: `{"mcpServers": {"conform": {"url": "{url}"}}, "askBeforeSampling": true,
			"provider": {"name": "anthropic", "baseUrl": "{model:anthropic}", "apiKey": "{key}"}}`}},
		Answers: []harness.Answer{{Pattern: regexp.MustCompile(`Allow .*\?`), Text: "y", Declines: "n"}},
	}
	suite := conformance.Suite{Client: client, Revisions: []server.Revision{server.V20251125}, Seed: 1,
		Only: []string{"basic", "tool-use", "parallel", "loop", "balance", "consent", "host-loop"}, Parallel: 2}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, failed(t, rs))
	require.Greater(t, rs.Summary[report.Pass], 60)
	for _, r := range rs.Results { // Anthropic sends arguments as an object
		require.True(t, r.Scenario != "host-loop" || r.Verdict == report.Pass || r.Check == "bad-json-told", r.Message)
	}
}
