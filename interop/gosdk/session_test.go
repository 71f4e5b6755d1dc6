package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// echoing is a client that returns the last message without a model.
func echoing(harness.Env) *mcp.ClientOptions {
	return &mcp.ClientOptions{CreateMessageWithToolsHandler: func(_ context.Context, req *sampleRequest) (*sampleResult,
		error) {
		last := req.Params.Messages[len(req.Params.Messages)-1]
		return &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "echo", Content: last.Content,
			StopReason: "endTurn"}, nil
	}}
}

// startServer starts a fake server, which must report no problems at the end of the test.
func startServer(t *testing.T, o server.Options, tools ...server.Tool) *server.Server {
	t.Helper()
	srv, err := server.Start(o, tools...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, srv.Close())
		require.Empty(t, srv.Problems())
	})
	return srv
}

func env(srv *server.Server, revision server.Revision) harness.Env {
	return harness.Env{URL: srv.URL, HTTP: http.DefaultClient, Revision: revision}
}

// The SDK's client works with our server in every response mode.
func TestSessionInEveryResponseMode(t *testing.T) {
	modes := map[string]server.ResponseMode{"auto": server.Auto, "SSE": server.SSE, "JSON": server.JSON}
	for mode, responses := range modes {
		for _, revision := range server.AllRevisions() {
			t.Run(fmt.Sprintf("%s/%s", mode, revision), func(t *testing.T) {
				var answers []server.Response
				srv := startServer(t, server.Options{ResponseMode: responses},
					server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
						answers = append(s.SampleAll(s.Ask("one"), s.Ask("two")), s.SampleAll(s.Ask("three"))...)
						return "done", nil
					}})
				require.NoError(t, gosdk.Run(t.Context(), env(srv, revision), echoing(harness.Env{})))
				require.Len(t, answers, 3)
				for i, want := range []string{"one", "two", "three"} {
					require.NoError(t, answers[i].Err)
					var result struct{ Content struct{ Text string } }
					require.NoError(t, json.Unmarshal(answers[i].Result, &result))
					require.Equal(t, want, result.Content.Text)
				}
			})
		}
	}
}

// A server offers one revision, and the client uses it.
func TestRevisionIsNegotiated(t *testing.T) {
	for _, revision := range server.AllRevisions() {
		var got server.Revision
		srv := startServer(t, server.Options{Revisions: []server.Revision{revision}},
			server.Tool{Name: "see", Handler: func(s *server.Session) (any, error) {
				got = s.Revision()
				return nil, nil
			}})
		require.NoError(t, gosdk.Run(t.Context(), env(srv, revision), nil))
		require.Equal(t, revision, got)
	}
}

func TestDeclaresNoMoreThanRequested(t *testing.T) {
	handler := echoing(harness.Env{}).CreateMessageWithToolsHandler
	both := func(sampling *mcp.SamplingCapabilities) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: handler,
			Capabilities: &mcp.ClientCapabilities{Sampling: sampling}}
	}
	for _, c := range []struct {
		asked           string
		options         *mcp.ClientOptions
		sampling, tools bool
	}{
		{``, echoing(harness.Env{}), true, true},
		{`{"sampling":{"tools":{}}}`, echoing(harness.Env{}), true, true},
		{`{"sampling":{}}`, echoing(harness.Env{}), true, false},
		{`{}`, echoing(harness.Env{}), false, false},
		{`{"sampling":{}}`, both(&mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}), true, false},
		{`{}`, both(&mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}), false, false},
		{`{"sampling":{"tools":{}}}`, both(&mcp.SamplingCapabilities{}), true, false},
		{`{"sampling":{"tools":{}}}`, nil, false, false},
		{`{"sampling":{}}`, nil, false, false},
	} {
		for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
			t.Run(fmt.Sprintf("%s/%s", c.asked, revision), func(t *testing.T) {
				seen := map[string]bool{}
				srv := startServer(t, server.Options{Revisions: []server.Revision{revision}},
					server.Tool{Name: "see", Handler: func(s *server.Session) (any, error) {
						seen = map[string]bool{"roots": s.Declares("roots"), "sampling": s.Declares("sampling"),
							"tools": s.Declares("sampling", "tools")}
						return nil, nil
					}})
				told := env(srv, revision)
				told.Declare = json.RawMessage(c.asked)
				require.NoError(t, gosdk.Run(t.Context(), told, c.options))
				roots := c.options == nil || c.options.Capabilities == nil // the SDK's default
				require.Equal(t, map[string]bool{"roots": roots, "sampling": c.sampling, "tools": c.tools}, seen)
			})
		}
	}
}

func TestCallsTheGivenTools(t *testing.T) {
	var called []string
	note := func(s *server.Session) (any, error) {
		called = append(called, string(s.Call().Arguments))
		return nil, errors.New("a failure of the tool")
	}
	srv := startServer(t, server.Options{}, server.Tool{Name: "a", Handler: note}, server.Tool{Name: "b", Handler: note})
	told := env(srv, server.V20251125)
	told.Tools = []string{"b", "no such tool", "b"}
	require.NoError(t, gosdk.Run(t.Context(), told, nil))
	require.Equal(t, []string{"{}", "{}"}, called)
}

func TestRunReturnsConnectionErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := startServer(t, server.Options{}, server.Tool{Name: "cancel", Handler: func(s *server.Session) (any, error) {
		cancel()
		<-s.Context().Done()
		return nil, s.Context().Err()
	}})
	told := env(srv, server.V20251125)
	err := gosdk.Run(ctx, told, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "calling cancel")

	told.URL += "/elsewhere"
	require.ErrorContains(t, gosdk.Run(t.Context(), told, nil), "connecting to "+told.URL)

	told.Declare = json.RawMessage(`[]`)
	require.ErrorContains(t, gosdk.Run(t.Context(), told, nil), "invalid capabilities to declare []")
}

func TestReportsHowEachCallEnded(t *testing.T) {
	srv := startServer(t, server.Options{}, server.Tool{Name: "well", Handler: func(*server.Session) (any,
		error) {
		return nil, nil
	}})
	told := env(srv, server.V20251125)
	told.Tools = []string{"well", "no-such-tool"}
	var outcomes []harness.Outcome
	told.Report = func(o harness.Outcome) { outcomes = append(outcomes, o) }
	require.NoError(t, gosdk.Run(t.Context(), told, nil))
	require.Len(t, outcomes, 2)
	require.Equal(t, harness.Outcome{Tool: "well", Ended: harness.Completed}, outcomes[0])
	require.Equal(t, "no-such-tool", outcomes[1].Tool)
	require.Equal(t, harness.Failed, outcomes[1].Ended)
	require.Equal(t, -32602, outcomes[1].Error.Code)
	require.Contains(t, outcomes[1].Error.Message, "unknown tool")
}
