package gosdk_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

type (
	sampleRequest = mcp.CreateMessageWithToolsRequest
	sampleParams  = mcp.CreateMessageWithToolsParams
	sampleResult  = mcp.CreateMessageWithToolsResult
)

// broken is the correct client with an edit of the request before the model is asked, or of its answer.
func broken(request func(*sampleParams), answer func(*sampleResult)) harness.Client {
	return gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		ask := gosdk.AskModel(env)
		return &mcp.ClientOptions{
			CreateMessageWithToolsHandler: func(ctx context.Context, req *sampleRequest) (*sampleResult,
				error) {
				if request != nil {
					request(req.Params)
				}
				result, err := ask(ctx, req)
				if err == nil && answer != nil {
					answer(result)
				}
				return result, err
			},
		}
	})
}

// handling is a client with a handler that never asks a model.
func handling(handler func(context.Context, *sampleRequest) (*sampleResult, error)) harness.Client {
	return gosdk.Client(func(harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: handler}
	})
}

// firstOf keeps the first block of type T and what is of other types.
func firstOf[T mcp.Content](content []mcp.Content) []mcp.Content {
	seen := false
	return slices.DeleteFunc(content, func(c mcp.Content) bool {
		_, is := c.(T)
		drop := is && seen
		seen = seen || is
		return drop
	})
}

// failing returns the checks that a client fails or warns on, without those that wait for another.
func failing(t *testing.T, s conformance.Suite) []string {
	t.Helper()
	s.Seed, s.Parallel = 1, 2
	s.Bubble = func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	rs, _, err := s.Run(t.Context())
	require.NoError(t, err)
	ids := []string{}
	for i := range rs.Results {
		r := &rs.Results[i]
		require.NotEqual(t, report.HarnessError, r.Verdict, r.Message)
		if r.Failed(true) && r.Prerequisite == "" {
			ids = append(ids, r.ID())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// The checks that a client fails for its bug, and for what the SDK and the handlers here do.
const (
	trusting = "tool-use/choice-none-filtered" // the handler returns every answer of the model
	rounded  = "always/model-was-given"        // go-sdk v1.8.0 decodes the numbers of a history as float64
)

func TestBrokenClients(t *testing.T) {
	for _, c := range []struct {
		name   string
		client harness.Client
		fails  []string
	}{
		{"drops the second tool result", broken(func(p *sampleParams) {
			for _, m := range p.Messages {
				m.Content = firstOf[*mcp.ToolResultContent](m.Content)
			}
		}, nil), []string{"always/model-was-given", "parallel/results-reach-model", trusting}},

		{"returns the first tool use only", broken(nil, func(r *sampleResult) {
			r.Content = firstOf[*mcp.ToolUseContent](r.Content)
		}), []string{rounded, "always/server-was-given", trusting}},

		{"says endTurn beside a tool use", broken(nil, func(r *sampleResult) {
			if r.StopReason == "toolUse" {
				r.StopReason = "endTurn"
			}
		}), []string{rounded, "always/server-was-given", trusting}},

		{"answers as the user", broken(nil, func(r *sampleResult) { r.Role = "user" }),
			[]string{rounded, "always/role-assistant", trusting}},

		{"refuses everything", handling(func(context.Context, *sampleRequest) (*sampleResult, error) {
			return nil, errors.New("no model today")
		}), []string{"client/sampled"}},

		// The SDK cancels the handler in 2026-07-28 only.
		{"never answers", handling(func(ctx context.Context, _ *sampleRequest) (*sampleResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), []string{"client/ends-cleanly", "client/sampled"}},
		{"never answers or ends", handling(func(context.Context, *sampleRequest) (*sampleResult, error) {
			select {}
		}), []string{"client/ends-cleanly", "client/sampled"}},

		{"declares no sampling", gosdk.Client(func(harness.Env) *mcp.ClientOptions { return nil }),
			[]string{"client/sampled"}},

		{"declares sampling without tools", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			options := asking(env)
			options.Capabilities = &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}
			return options
		}), []string{}},

		{"declares tools with the older handler", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			options := plain(env)
			sampling := &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}
			options.Capabilities = &mcp.ClientCapabilities{Sampling: sampling}
			return options
		}), []string{"always/answered", "always/model-was-given", "parallel/results-reach-model",
			"tool-use/stop-beside-calls", "tool-use/stop-reason-tooluse"}}, // for the older handler, the SDK drops the tools

		{"declares sampling without a handler", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			sampling := &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}
			return &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{Sampling: sampling}}
		}), []string{"client/sampled"}},

		{"returns early", harness.InProcess(func(ctx context.Context, env harness.Env) error {
			session, err := connected(ctx, env)
			if err != nil {
				return err
			}
			return session.Close()
		}), []string{"client/sampled"}},

		{"returns early with an open session", harness.InProcess(func(ctx context.Context, env harness.Env) error {
			_, err := connected(ctx, env)
			return err
		}), []string{"client/ends-cleanly", "client/sampled"}},

		{"exits in the middle", process("exits in the middle"), []string{"client/sampled"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.fails, failing(t, conformance.Suite{Client: c.client,
				Only: []string{"basic/question", "basic/truncated", "tool-use", "parallel"}}))
		})
	}
}

// connected returns a new session.
func connected(ctx context.Context, env harness.Env) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "early", Version: "1"}, asking(env))
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: env.URL, HTTPClient: env.HTTP},
		&mcp.ClientSessionOptions{ProtocolVersion: string(env.Revision)})
}
