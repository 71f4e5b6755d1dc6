package gosdk_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
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

// unanswered is the table of a client that was asked and returned no result.
var unanswered = slices.Concat(
	expect.Fails("client: no request got a result", "client/sampled", "basic/answered"),
	expect.In(server.V20251125, expect.Passes("fine: an error is a response", "always/one-response", "always/envelope")),
	expect.In(
		server.V20260728,
		expect.Unsupported("fine: no sign that the client continued", "tool-use/unoffered-tool"),
	),
	expect.NotSeen("client: there is no result", "basic/*", "tool-use/*", "parallel/*"),
)

// hanging is the table of a client that hangs in its first call.
var hanging = slices.Concat(
	expect.Fails("client: no response, and the client was killed", "client/sampled", "client/ends-cleanly",
		"basic/answered"),
	expect.NotSeen("client: the first call did not end", "basic/*", "tool-use/*", "parallel/*"),
)

func TestBrokenClients(t *testing.T) {
	for _, c := range []struct {
		name   string
		client harness.Client
		table  []expect.Row
	}{
		{"drops the second tool result", broken(func(p *sampleParams) {
			for _, m := range p.Messages {
				m.Content = firstOf[*mcp.ToolResultContent](m.Content)
			}
		}, nil), slices.Concat(trusting,
			expect.Fails("client: the model gets one result of two, or of 33", "parallel/results-reach-model",
				"always/model-was-given"))},

		{"returns the first tool use only", broken(nil, func(r *sampleResult) {
			r.Content = firstOf[*mcp.ToolUseContent](r.Content)
		}), slices.Concat(trusting, rounded,
			expect.Fails("client: the server gets one tool use of two, or of 33", "always/server-was-given"))},

		{"says endTurn beside a tool use", broken(nil, func(r *sampleResult) {
			if r.StopReason == "toolUse" {
				r.StopReason = "endTurn"
			}
		}), slices.Concat(trusting, rounded, expect.Fails("client: wrong stop reason", "always/server-was-given"))},

		{"answers as the user", broken(nil, func(r *sampleResult) { r.Role = "user" }),
			slices.Concat(trusting, rounded, expect.Fails("client: wrong role", "always/role-assistant"))},

		{"refuses everything", handling(func(context.Context, *sampleRequest) (*sampleResult, error) {
			return nil, errors.New("no model today")
		}), unanswered},

		// The SDK cancels the handler in 2026-07-28 only.
		{"never answers", handling(func(ctx context.Context, _ *sampleRequest) (*sampleResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), hanging},
		{"never answers or ends", handling(func(context.Context, *sampleRequest) (*sampleResult, error) {
			select {}
		}), hanging},

		{"declares no sampling", gosdk.Client(func(harness.Env) *mcp.ClientOptions { return nil }), slices.Concat(
			expect.Fails("client: a client under test must declare sampling", "client/sampled"),
			expect.NotApplicable("client: it cannot be asked", "basic/*", "tool-use/*", "parallel/*"))},

		{"declares sampling without tools", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			options := asking(env)
			options.Capabilities = &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}
			return options
		}), undeclaredTools},

		{"declares tools with the older handler", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			options := plain(env)
			sampling := &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}
			options.Capabilities = &mcp.ClientCapabilities{Sampling: sampling}
			return options
		}), slices.Concat(
			expect.Fails("SDK: it silently drops the tools for the older handler", "always/model-was-given",
				"tool-use/many-tools"),
			expect.Passes("fine: there are no tools to judge", "tool-use/tools-accepted", "tool-use/choice-accepted"),
			expect.Fails("SDK: it cannot decode a tool use for the older handler", "tool-use/stop-beside-calls",
				"always/answered"),
			expect.NotApplicable("fine: no tools are offered", "tool-use/choice-none-filtered"),
			expect.Passes("fine: an error is accepted", "tool-use/choice-none-*", "tool-use/bad-arguments",
				"tool-use/unoffered-tool"),
			expect.NotApplicable("fine: the native dialect has no streams", "parallel/late-delta"),
			expect.NotSeen("SDK: for the older handler a tool use is an error", "tool-use/*", "parallel/*"))},

		{"declares sampling without a handler", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			sampling := &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}
			return &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{Sampling: sampling}}
		}), unanswered},

		{"returns early", harness.InProcess(func(ctx context.Context, env harness.Env) error {
			session, err := connected(ctx, env)
			if err != nil {
				return err
			}
			return session.Close()
		}), expect.NotSeen("client: it called no tool", "client/sampled", "basic/*", "tool-use/*", "parallel/*")},

		{"returns early with an open session", harness.InProcess(func(ctx context.Context, env harness.Env) error {
			_, err := connected(ctx, env)
			return err
		}), slices.Concat(
			expect.Fails("client: it leaks goroutines of the session", "client/ends-cleanly"),
			expect.NotSeen("client: it called no tool", "client/sampled", "basic/*", "tool-use/*", "parallel/*"))},

		{"exits in the middle", process("exits in the middle"), slices.Concat(
			expect.Fails("client: no response", "client/sampled", "basic/answered"),
			expect.Unsupported("fine: no sign that the client continued", "tool-use/unoffered-tool"),
			expect.NotSeen("client: the process had ended", "basic/*", "tool-use/*", "parallel/*"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: c.client, Only: judged}, c.table)
		})
	}
}

// connected returns a new session.
func connected(ctx context.Context, env harness.Env) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "early", Version: "1"}, asking(env))
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: env.URL, HTTPClient: env.HTTP},
		&mcp.ClientSessionOptions{ProtocolVersion: string(env.Revision)})
}
