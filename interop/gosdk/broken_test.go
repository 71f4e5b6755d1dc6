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

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this package is about for as long as the protocol has it.

// broken is the correct client with something done to a request before the model is asked, or to its answer.
func broken(request func(*mcp.CreateMessageWithToolsParams), answer func(*mcp.CreateMessageWithToolsResult)) harness.Client {
	return gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		ask := gosdk.AskModel(env)
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: func(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			if request != nil {
				request(req.Params)
			}
			result, err := ask(ctx, req)
			if err == nil && answer != nil {
				answer(result)
			}
			return result, err
		}}
	})
}

// handling is a client with a handler that never asks a model.
func handling(handler func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error)) harness.Client {
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

// unanswered is the table of a client that was asked and answered nothing with a result.
var unanswered = slices.Concat(
	expect.Fails("no request was answered with a result", "client/sampled", "basic/answered"),
	expect.In(server.V20251125, expect.Passes("an error is a response all the same", "basic/answers-once", "basic/id-echoed")),
	expect.In(server.V20260728, expect.Unsupported("nothing shows that the client went on", "tool-use/unoffered-tool")),
	expect.NotSeen("there is no result to judge", "basic/*", "tool-use/*", "parallel/*"),
)

// hanging is the table of a client that does not get beyond its first call.
var hanging = slices.Concat(
	expect.Fails("no request was answered, and the client had to be ended", "client/sampled", "client/ends-cleanly", "basic/answered"),
	expect.NotSeen("the first call was still open at the end", "basic/*", "tool-use/*", "parallel/*"),
)

func TestBrokenClients(t *testing.T) {
	for _, c := range []struct {
		name   string
		client harness.Client
		table  []expect.Row
	}{
		{"drops the second tool result", broken(func(p *mcp.CreateMessageWithToolsParams) {
			for _, m := range p.Messages {
				m.Content = firstOf[*mcp.ToolResultContent](m.Content)
			}
		}, nil), slices.Concat(trusting,
			expect.Fails("the model gets one result of two, or of 33", "parallel/results-reach-model"),
			expect.NotSeen("the result that they are about is the one that was dropped", "parallel/results-order", "parallel/error-result"))},

		{"returns the first tool use only", broken(nil, func(r *mcp.CreateMessageWithToolsResult) {
			r.Content = firstOf[*mcp.ToolUseContent](r.Content)
		}), slices.Concat(trusting,
			expect.Fails("the server gets one tool use of two, or of 33", "parallel/all-uses", "parallel/over-32-calls"),
			expect.NotSeen("they take two tool uses, or two results", "parallel/unique-ids", "parallel/error-result"))},

		{"says endTurn beside a tool use", broken(nil, func(r *mcp.CreateMessageWithToolsResult) {
			if r.StopReason == "toolUse" {
				r.StopReason = "endTurn"
			}
		}), slices.Concat(trusting, expect.Fails("that is not why it stopped", "tool-use/stop-reason-tooluse"))},

		{"answers as the user", broken(nil, func(r *mcp.CreateMessageWithToolsResult) { r.Role = "user" }),
			slices.Concat(trusting, expect.Fails("the answer is the assistant's", "basic/role-assistant"))},

		{"refuses everything", handling(func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return nil, errors.New("no model today")
		}), unanswered},

		// The SDK cancels the handler in the second era, and in the first neither when the call ends nor when the session is closed.
		{"never answers", handling(func(ctx context.Context, _ *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), hanging},
		{"never answers, whatever happens", handling(func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			select {}
		}), hanging},

		{"declares no sampling", gosdk.Client(func(harness.Env) *mcp.ClientOptions { return nil }), slices.Concat(
			expect.Fails("a client under test has to declare sampling", "client/sampled"),
			expect.NotApplicable("nothing may be asked of the client", "basic/*", "tool-use/*", "parallel/*"))},

		{"declares sampling without tools", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			options := asking(env)
			options.Capabilities = &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}
			return options
		}), slices.Concat(expect.Fails("the handler's: it returns whatever the model says", "tool-use/no-tools-no-use"), undeclaredTools)},

		{"declares tools and has the handler that knows none", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			options := plain(env)
			options.Capabilities = &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}}
			return options
		}), slices.Concat(
			expect.Fails("the SDK's: it drops the tools for the older handler, and says nothing", "tool-use/tools-reach-model"),
			expect.Passes("no tools at all are no foreign ones, and forbid the model to use any", "tool-use/only-these-tools", "tool-use/choice-none"),
			expect.Fails("the same: none of 64 tools reaches the model", "tool-use/many-tools"),
			expect.Fails("the SDK cannot read a tool use for the older handler", "tool-use/stop-beside-calls"),
			expect.Passes("an error is what is due, or a way to refuse", "tool-use/choice-none-*", "tool-use/required-unmet", "tool-use/no-tools-no-use",
				"tool-use/bad-arguments", "tool-use/unoffered-tool", "parallel/over-32-calls"),
			expect.NotApplicable("ours: the native dialect has no streams", "parallel/late-delta"),
			expect.NotSeen("the SDK cannot read a tool use for the older handler, which then returns an error", "tool-use/*", "parallel/*"))},

		{"declares sampling and has no handler", gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
			return &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}}}
		}), unanswered},

		{"returns early", harness.InProcess(func(ctx context.Context, env harness.Env) error {
			session, err := connected(ctx, env)
			if err != nil {
				return err
			}
			return session.Close()
		}), expect.NotSeen("no tool was called", "client/sampled", "basic/*", "tool-use/*", "parallel/*")},

		{"returns early and leaves its session open", harness.InProcess(func(ctx context.Context, env harness.Env) error {
			_, err := connected(ctx, env)
			return err
		}), slices.Concat(
			expect.Fails("goroutines of the session are left behind", "client/ends-cleanly"),
			expect.NotSeen("no tool was called", "client/sampled", "basic/*", "tool-use/*", "parallel/*"))},

		{"exits in the middle", process("exits in the middle"), slices.Concat(
			expect.Fails("the request was never answered", "client/sampled", "basic/answered"),
			expect.Unsupported("nothing shows that the client went on", "tool-use/unoffered-tool"),
			expect.NotSeen("the process was gone by then", "basic/*", "tool-use/*", "parallel/*"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: c.client, Only: judged}, c.table)
		})
	}
}

// connected is a session in which nothing has been done yet.
func connected(ctx context.Context, env harness.Env) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "early"}, asking(env))
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: env.URL, HTTPClient: env.HTTP},
		&mcp.ClientSessionOptions{ProtocolVersion: string(env.Revision)})
}
