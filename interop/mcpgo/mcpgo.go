// Package mcpgo tests clients that are built on mark3labs/mcp-go:
//
//	func TestSampling(t *testing.T) {
//		conformance.Run(t, mcpgo.Client(func(env harness.Env) client.SamplingHandler { return newHost(env) }))
//	}
//
// Use the handler of the client that you ship; [harness.Env] says where the model is. [Client] connects in the
// revision of the run, calls every tool and closes. [AskModel] is a sampling handler for a client without one. What
// depends on this SDK belongs here; what all Go adapters share belongs in package host.
package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

// Client returns an mcp-go client that runs in process. Handler is called for each session. It reaches the model at
// env.Model through env.HTTP. It may return nil for a client that does not sample.
func Client(handler func(env harness.Env) client.SamplingHandler, o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		return Run(ctx, env, handler(env))
	}, append([]harness.Option{harness.Named("mcp-go client")}, o...)...)
}

// Run runs one session: it connects to env.URL in env.Revision, lists the tools, calls those in env.Tools (nil: all)
// gets env.Prompts, reads env.Resources, and closes. It declares env.Declare, and uses the handler only if
// that includes sampling, because the SDK declares it for every client with a handler. Run returns an error if it
// cannot connect or list the tools, or if ctx ends. A failed call is not an error: it is reported to env.Report.
func Run(ctx context.Context, env harness.Env, handler client.SamplingHandler) (err error) {
	var declared mcp.ClientCapabilities
	if len(env.Declare) > 0 {
		if err := json.Unmarshal(env.Declare, &declared); err != nil {
			return fmt.Errorf("invalid capabilities to declare %s, expected a JSON object: %w", env.Declare, err)
		}
	}
	http, err := transport.NewStreamableHTTP(env.URL, transport.WithHTTPBasicClient(env.HTTP))
	if err != nil {
		return err
	}
	options := []client.ClientOption{client.WithClientCapabilities(declared),
		client.WithProtocolVersion(string(env.Revision))}
	if handler != nil && declared.Sampling != nil {
		options = append(options, client.WithSamplingHandler(handler))
	}
	c := client.NewClient(http, options...)
	defer func() { err = errors.Join(err, c.Close()) }()
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			env.Progressed()
		}
	})
	if err := c.Start(ctx); err != nil {
		return fmt.Errorf("connecting to %s: %w", env.URL, err)
	}
	_, err = c.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: string(env.Revision), ClientInfo: mcp.Implementation{Name: "mcp-go client", Version: "1"},
		Capabilities: declared}})
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", env.URL, err)
	}
	return callAll(ctx, c, env)
}

// call calls a tool, and abandons the call if env says so (see [harness.Env.Abandon]).
func call(ctx context.Context, c *client.Client, env *harness.Env, tool string) error {
	ctx, token, done := env.Call(ctx, tool)
	defer done()
	params := mcp.CallToolParams{Name: tool, Arguments: map[string]any{}}
	if arguments := env.Arguments[tool]; arguments != nil {
		params.Arguments = arguments
	}
	if token != "" {
		params.Meta = &mcp.Meta{ProgressToken: token}
	}
	_, err := c.CallTool(ctx, mcp.CallToolRequest{Params: params})
	if err != nil && errors.Is(context.Cause(ctx), harness.ErrAbandon) {
		return harness.ErrAbandon
	}
	return err
}

// callAll makes the calls of the session and reports how each ended. The SDK's errors have no code.
func callAll(ctx context.Context, c *client.Client, env harness.Env) error {
	listed, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("listing the tools: %w", err)
	}
	names := env.Tools
	if names == nil {
		for _, t := range listed.Tools {
			names = append(names, t.Name)
		}
	}
	lost := func(error) error { return ctx.Err() }
	code := func(error) int { return 0 }
	for _, calls := range []host.Calls{
		{Names: names, Call: func(name string) error { return call(ctx, c, &env, name) }},
		{Names: env.Prompts, Call: func(name string) error {
			_, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name}})
			return err
		}},
		{Names: env.Resources, Call: func(uri string) error {
			_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
			return err
		}},
	} {
		if err := calls.Make(env, lost, code); err != nil {
			return err
		}
	}
	return nil
}
