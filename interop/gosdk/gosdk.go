// Package gosdk tests clients that are built on the official Go SDK (github.com/modelcontextprotocol/go-sdk):
//
//	func TestSampling(t *testing.T) {
//		conformance.Run(t, gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
//			return &mcp.ClientOptions{CreateMessageWithToolsHandler: newHost(env).Sample}
//		}))
//	}
//
// Use the options of the client that you ship; [harness.Env] says where the model is. [Client] connects, calls every
// tool and closes. The SDK negotiates the revision with a server that offers only the revision of the run. [AskModel]
// is a sampling handler for a client without one. What depends on this SDK belongs here; what all Go adapters share
// belongs in package host.
package gosdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

// Client returns a go-sdk client that runs in process. Options is called for each session. Handlers reach the model at
// env.Model through env.HTTP. Nil options make a client without handlers.
func Client(options func(env harness.Env) *mcp.ClientOptions, o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		return Run(ctx, env, options(env))
	}, append([]harness.Option{harness.Named("go-sdk client")}, o...)...)
}

// Run runs one session: it connects to env.URL or launches the server, lists the tools, calls those in env.Tools (nil:
// all), gets env.Prompts, reads env.Resources, and closes. A client in a process of its own calls it with the
// environment of [harness.EnvFromProcess].
//
// The client declares no more of sampling than env.Declare asks for. Run returns an error if it cannot connect or list
// the tools, if the connection is lost, or if ctx ends. A failed call is not an error: it is reported to env.Report.
func Run(ctx context.Context, env harness.Env, options *mcp.ClientOptions) error {
	options, err := declaring(env.Declare, options)
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk client", Version: "1"}, heeding(&env, options))
	transport, err := transportOf(ctx, env)
	if err != nil {
		return err
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", cmp.Or(env.URL, "the server"), err)
	}
	return errors.Join(callAll(ctx, session, env), closeSession(ctx, session))
}

// transportOf returns Streamable HTTP to env.URL, or the pipe of a launched server.
func transportOf(ctx context.Context, env harness.Env) (mcp.Transport, error) {
	if env.Launch == nil {
		return &mcp.StreamableClientTransport{Endpoint: env.URL, HTTPClient: env.HTTP}, nil
	}
	pipe, err := env.Launch(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("launching the server: %w", err)
	}
	return &mcp.IOTransport{Reader: pipe, Writer: leftOpen{pipe}}, nil
}

// leftOpen is the writing side of a pipe, which its reading side closes.
type leftOpen struct{ io.Writer }

func (leftOpen) Close() error { return nil }

// heeding adds a handler that reports progress, the signal to abandon a call (see [harness.Env.Abandon]).
func heeding(env *harness.Env, options *mcp.ClientOptions) *mcp.ClientOptions {
	own := options.ProgressNotificationHandler
	options.ProgressNotificationHandler = func(ctx context.Context, n *mcp.ProgressNotificationClientRequest) {
		env.Progressed()
		if own != nil {
			own(ctx, n)
		}
	}
	return options
}

// call calls a tool, and abandons the call if env says so.
func call(ctx context.Context, session *mcp.ClientSession, env *harness.Env, tool string) error {
	ctx, token, done := env.Call(ctx, tool)
	defer done()
	params := &mcp.CallToolParams{Name: tool}
	if arguments := env.Arguments[tool]; arguments != nil {
		params.Arguments = arguments
	}
	if token != "" {
		params.SetProgressToken(token)
	}
	_, err := session.CallTool(ctx, params)
	if err != nil && errors.Is(context.Cause(ctx), harness.ErrAbandon) {
		return harness.ErrAbandon
	}
	return err
}

// callAll makes the calls of the session and reports how each ended.
func callAll(ctx context.Context, session *mcp.ClientSession, env harness.Env) error {
	var listed []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the tools: %w", err)
		}
		listed = append(listed, tool.Name)
	}
	names := env.Tools
	if names == nil {
		names = listed
	}
	lost := func(err error) error {
		if errors.Is(err, mcp.ErrConnectionClosed) {
			return err
		}
		return ctx.Err()
	}
	for _, calls := range []host.Calls{
		{Names: names, Call: func(name string) error { return call(ctx, session, &env, name) }},
		{Names: env.Prompts, Call: func(name string) error {
			_, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name})
			return err
		}},
		{Names: env.Resources, Call: func(uri string) error {
			_, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
			return err
		}},
	} {
		if err := calls.Make(env, lost, codeOf); err != nil {
			return err
		}
	}
	return nil
}

// codeOf returns the code of a JSON-RPC error, or 0.
func codeOf(err error) int {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return int(wire.Code)
	}
	return 0
}

// closeSession closes the session, or returns when ctx ends: the SDK's Close waits for running handlers without
// cancelling them (v1.8.0).
func closeSession(ctx context.Context, session *mcp.ClientSession) error {
	closed := make(chan error, 1)
	go func() { closed <- session.Close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("closing the session: %w", ctx.Err())
	}
}
