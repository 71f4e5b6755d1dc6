package tap_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
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
	// dialect is that of the model; "" for OpenAI's chat.
	dialect string
	// late begins to tap when the client has connected.
	late bool
	// clients is how many clients talk at once; 0 for one.
	clients int
	// negotiates asks the server which revision it speaks.
	negotiates bool
	// parallel calls all tools at once.
	parallel bool
	// gaveUp abandons each call as soon as the model is asked.
	gaveUp bool
}

func plain(ctx context.Context, ask *model.Model, params object) (object, error) {
	return ask.Sample(ctx, params)
}

// transports are those over which a host is tried.
var transports = []string{"http", trace.Stdio}

// failures plays a session of a host through a tap, and returns the ids of the checks that fail or warn.
func (h host) failures(t *testing.T, transport string, revision server.Revision) []string {
	t.Helper()
	speaks, asked := server.Options{}, revision
	if h.negotiates {
		speaks.Revisions, asked = []server.Revision{revision}, ""
	}
	srv := server.NewWith(t, speaks, h.tools...)
	fake := llm.New(t, h.rules...)
	fake.AllowRefusals()
	header := trace.Header{Tapped: true}
	if transport == trace.Stdio {
		header.Transport = trace.Stdio
	}
	r := tap.New(header)
	spoken := cmp.Or(h.dialect, dialect.OpenAIChat)
	base, modelEnded := serve(t, fake.BaseURLs()[spoken], true, r.Model(http.DefaultTransport))
	if h.noModel {
		base = fake.BaseURLs()[spoken]
	}
	ask := model.New(model.Options{Dialect: spoken, Key: "sk-example", URL: base})
	var front late
	front.to.Store(&http.DefaultTransport)
	recorded := r.RoundTripper(http.DefaultTransport)
	if !h.late {
		front.to.Store(&recorded)
	}
	var at string
	if transport != trace.Stdio {
		at, _ = serve(t, srv.URL, false, &front)
	}
	var talking sync.WaitGroup
	for range max(1, h.clients) {
		options := client.Options{Revision: asked, HTTP: &http.Client{}, URL: at}
		if transport == trace.Stdio {
			options = client.Options{Revision: asked, Conn: lines(t, srv, r)}
		}
		talking.Go(func() {
			h.talk(t, options, ask, func() { front.to.Store(&recorded) })
		})
	}
	talking.Wait()
	require.NoError(t, srv.Close())
	modelEnded()
	traces := r.Traces()
	if !h.late {
		for _, one := range traces {
			require.Equal(t, string(revision), one.Header.Revision)
		}
	}
	ids := failed(t, traces)
	if h.fails == "" { // without bodies, less is judged, and nobody is accused either
		silent := r.Traces()
		for _, one := range silent {
			tap.Scrub(one, nil)
			tap.WithoutBodies(one)
			tap.Number(one)
		}
		ids = append(ids, failed(t, silent)...)
	}
	return ids
}

// late is a transport that may be changed.
type late struct {
	to atomic.Pointer[http.RoundTripper]
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) { return (*l.to.Load()).RoundTrip(r) }

// talk is what one client says. It calls connected when it has connected.
func (h host) talk(t *testing.T, options client.Options, ask *model.Model, connected func()) {
	sample := h.sample
	if sample == nil {
		sample = plain
	}
	var abandon context.CancelFunc
	options.Sampling = func(ctx context.Context, params object) (object, error) {
		if h.gaveUp {
			abandon()
			return nil, context.Canceled
		}
		return sample(ctx, ask, params)
	}
	if h.undeclared {
		options.Capabilities = []byte(`{"sampling":{}}`)
	}
	c, err := client.Connect(t.Context(), options)
	if !assert.NoError(t, err) {
		return
	}
	connected()
	asks := func() {
		for _, text := range h.own {
			_, err := ask.Sample(t.Context(), question(text))
			assert.NoError(t, err)
		}
	}
	asks()
	var calling sync.WaitGroup
	for _, tool := range h.tools {
		if h.parallel {
			calling.Go(func() { _, _ = c.CallTool(t.Context(), tool.Name, nil) })
			continue
		}
		var ctx context.Context
		ctx, abandon = context.WithCancel(t.Context())
		_, _ = c.CallTool(ctx, tool.Name, nil) // without an answer it may fail
		abandon()
		asks()
	}
	calling.Wait()
	assert.NoError(t, c.Close())
}

// failed returns the ids of the checks that fail or warn.
func failed(t *testing.T, traces []*trace.Trace) []string {
	t.Helper()
	results, err := conformance.Judge(traces...)
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
