// Package mcpgo puts clients that are built on mark3labs/mcp-go under test, in a line:
//
//	func TestSampling(t *testing.T) {
//		conformance.Run(t, mcpgo.Client(func(env harness.Env) client.SamplingHandler { return newHost(env) }))
//	}
//
// The handler is that of the client that is shipped; what it needs to know of the run, such as where the model is, stands in the
// [harness.Env]. [Client] does the rest: it connects in the revision of the run, calls every tool and closes. [AskModel] is a sampling
// handler for those who have none yet, or want to see what the SDK does by itself.
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

// Client returns an mcp-go client with the handler as a client under test, run in process. Handler is called once for each session,
// and is given its environment: it asks the model at env.Model, through env.HTTP. It may return nil for a client that does not sample.
func Client(handler func(env harness.Env) client.SamplingHandler, o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		return Run(ctx, env, handler(env))
	}, append([]harness.Option{harness.Named("mcp-go client")}, o...)...)
}

// Run is one session of an mcp-go client with the handler: it connects to env.URL in env.Revision, lists the tools, calls those in
// env.Tools, or else all, once each with {}, gets env.Prompts, reads env.Resources, and closes. It declares what env.Declare asks for, and has the handler only where that is
// sampling: the SDK declares it for whoever has one. Run returns an error when it could not connect or list the tools, and when its
// context ended. A call that fails is no error: how it went is for the server to see.
func Run(ctx context.Context, env harness.Env, handler client.SamplingHandler) (err error) {
	var declared mcp.ClientCapabilities
	if len(env.Declare) > 0 {
		if err := json.Unmarshal(env.Declare, &declared); err != nil {
			return fmt.Errorf("the capabilities to declare are %s, want those of MCP as a JSON object: %w", env.Declare, err)
		}
	}
	http, err := transport.NewStreamableHTTP(env.URL, transport.WithHTTPBasicClient(env.HTTP))
	if err != nil {
		return err
	}
	options := []client.ClientOption{client.WithClientCapabilities(declared), client.WithProtocolVersion(string(env.Revision))}
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
		ProtocolVersion: string(env.Revision), ClientInfo: mcp.Implementation{Name: "mcp-go client", Version: "1"}, Capabilities: declared}})
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", env.URL, err)
	}
	if err := callTools(ctx, c, env); err != nil {
		return err
	}
	return useOthers(ctx, c, env)
}

// call calls a tool, or gives the call up where that is what it is for (see [harness.Env.GiveUp]).
func call(ctx context.Context, c *client.Client, env *harness.Env, tool string) error {
	ctx, token, done := env.Call(ctx, tool)
	defer done()
	params := mcp.CallToolParams{Name: tool, Arguments: map[string]any{}}
	if token != "" {
		params.Meta = &mcp.Meta{ProgressToken: token}
	}
	_, err := c.CallTool(ctx, mcp.CallToolRequest{Params: params})
	if err != nil && errors.Is(context.Cause(ctx), harness.ErrGiveUp) {
		return harness.ErrGiveUp
	}
	return err
}

// callTools calls the tools that it is told to, or all that are listed, and tells how each call ended.
func callTools(ctx context.Context, c *client.Client, env harness.Env) error {
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
	for _, name := range names {
		err := call(ctx, c, &env, name)
		host.Tell(env, name, err, 0) // the SDK's errors have no code
		if ctx.Err() != nil {
			return fmt.Errorf("calling %s: %w", name, ctx.Err())
		}
	}
	return nil
}

// useOthers gets the prompts and reads the resources that it is told to, and tells how each call ended.
func useOthers(ctx context.Context, c *client.Client, env harness.Env) error {
	for _, name := range env.Prompts {
		_, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name}})
		host.Tell(env, name, err, 0)
		if ctx.Err() != nil {
			return fmt.Errorf("getting the prompt %s: %w", name, ctx.Err())
		}
	}
	for _, uri := range env.Resources {
		_, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
		host.Tell(env, uri, err, 0)
		if ctx.Err() != nil {
			return fmt.Errorf("reading %s: %w", uri, ctx.Err())
		}
	}
	return nil
}
