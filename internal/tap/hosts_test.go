package tap_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

type object = map[string]any

// sampler answers a sampling request with the help of the model behind the tap.
type sampler func(ctx context.Context, ask *model.Model, params object) (object, error)

// host is a client that is correct, or not, in a way of its own.
type host struct {
	name   string
	fails  string // the always rule
	tools  []server.Tool
	rules  []*llm.Rule
	sample sampler
	// noModel leaves the model's wire untapped.
	noModel bool
	// own are questions that the host asks the model before the first call and after each one.
	own []string
	// undeclared leaves out sampling.tools.
	undeclared bool
}

func plain(ctx context.Context, ask *model.Model, params object) (object, error) {
	return ask.Sample(ctx, params)
}

// failures plays a session of a host through a tap, and returns the ids of the checks that fail or warn.
func (h host) failures(t *testing.T, revision server.Revision) []string {
	t.Helper()
	srv := server.NewWith(t, server.Options{}, h.tools...)
	fake := llm.New(t, h.rules...)
	fake.AllowRefusals()
	r := tap.New(trace.Header{Tapped: true})
	base, modelEnded := serve(t, fake.BaseURLs()[dialect.OpenAIChat], true, r.Model(http.DefaultTransport))
	if h.noModel {
		base = fake.BaseURLs()[dialect.OpenAIChat]
	}
	ask := model.New(model.Options{Dialect: dialect.OpenAIChat, Key: "sk-example", URL: base})
	sample := h.sample
	if sample == nil {
		sample = plain
	}
	options := client.Options{Revision: revision, HTTP: &http.Client{},
		Sampling: func(ctx context.Context, params object) (object, error) { return sample(ctx, ask, params) }}
	if h.undeclared {
		options.Capabilities = []byte(`{"sampling":{}}`)
	}
	options.URL, _ = serve(t, srv.URL, false, r.RoundTripper(http.DefaultTransport))
	c, err := client.Connect(t.Context(), options)
	require.NoError(t, err)
	asks := func() {
		for _, text := range h.own {
			_, err := ask.Sample(t.Context(), question(text))
			require.NoError(t, err)
		}
	}
	asks()
	for _, tool := range h.tools {
		_, _ = c.CallTool(t.Context(), tool.Name, nil) // without an answer it may fail
		asks()
	}
	require.NoError(t, c.Close())
	require.NoError(t, srv.Close())
	modelEnded()
	results, err := conformance.Judge(r.Traces()...)
	require.NoError(t, err)
	var ids []string
	for _, r := range results.Results {
		if r.Verdict != report.Pass && r.Verdict != report.Info {
			t.Logf("%s %s: %s", r.Verdict, r.ID(), r.Message)
			ids = append(ids, r.ID())
		}
	}
	return ids
}

func question(text string) object {
	return object{
		"messages":  []any{object{"role": "user", "content": object{"type": "text", "text": text}}},
		"maxTokens": 100,
	}
}

// asking is a tool that asks a question and returns the answer.
func asking(name, text string) server.Tool {
	return server.Tool{Name: name, Handler: func(s *server.Session) (any, error) {
		answer, err := server.As[server.Answer](s.Sample(s.Ask(text)))
		if err != nil {
			return "no answer", nil
		}
		return answer.Text(), nil
	}}
}

func hostile(name string, params func(*server.Session) *server.CreateMessageParams) server.Tool {
	return server.Tool{Name: name, Handler: func(s *server.Session) (any, error) {
		_, err := s.Sample(params(s), server.Hostile())
		return fmt.Sprint(err), nil
	}}
}

func says(text, reply string) *llm.Rule {
	return llm.When(llm.LastUser(text)).Reply(llm.Text(reply)).Optional()
}
