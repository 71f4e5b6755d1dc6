// Package gosdk puts clients that are built on the official Go SDK (github.com/modelcontextprotocol/go-sdk) under test, in a line:
//
//	func TestSampling(t *testing.T) {
//		conformance.Run(t, gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
//			return &mcp.ClientOptions{CreateMessageWithToolsHandler: newHost(env).Sample}
//		}))
//	}
//
// The options are those of the client that is shipped; what they need to know of the run, such as where the model is, stands in
// the [harness.Env]. [Client] does the rest: it connects, calls every tool and closes. The revision is negotiated as the shipped client
// negotiates it, with a server that speaks that of the run and no other: versions of the SDK without it are found not to speak it. [AskModel] is
// a sampling handler for those who have none yet, or want to see what the SDK does by itself.
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

// Client returns a go-sdk client with the options as a client under test, run in process. Options is called once for each session,
// and is given its environment: handlers that ask a model do so at env.Model, through env.HTTP. Nil options are those of a
// client without any handler.
func Client(options func(env harness.Env) *mcp.ClientOptions, o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		return Run(ctx, env, options(env))
	}, append([]harness.Option{harness.Named("go-sdk client")}, o...)...)
}

// Run is one session of a go-sdk client with the options: it connects to env.URL, or launches the server, lists the tools, calls those in
// env.Tools, or else all, once each with {}, gets env.Prompts, reads env.Resources, and closes. It is what [Client] runs, and what a program runs that is started as a
// client under test (see [harness.EnvFromProcess]).
//
// Of sampling the client declares what its options imply, and no more than env.Declare asks for. Run returns an error when it could
// not connect or list the tools, when the connection was lost, and when its context ended. A call that fails is no error: how it
// went is for the server to see.
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
	err = callTools(ctx, session, env)
	if err == nil {
		err = useOthers(ctx, session, env)
	}
	return errors.Join(err, closeSession(ctx, session))
}

// transportOf is Streamable HTTP to env.URL, or else the pipe of a server that the client launches itself.
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

// leftOpen is the writing side of a pipe that is closed by its reading side, and only once.
type leftOpen struct{ io.Writer }

func (leftOpen) Close() error { return nil }

// heeding returns the options of a client that sees progress, by which it knows when to give up a call (see [harness.Env.GiveUp]).
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

// call calls a tool, or gives the call up where that is what it is for.
func call(ctx context.Context, session *mcp.ClientSession, env *harness.Env, tool string) error {
	ctx, token, done := env.Call(ctx, tool)
	defer done()
	params := &mcp.CallToolParams{Name: tool}
	if token != "" {
		params.SetProgressToken(token)
	}
	_, err := session.CallTool(ctx, params)
	if err != nil && errors.Is(context.Cause(ctx), harness.ErrGiveUp) {
		return harness.ErrGiveUp
	}
	return err
}

// callTools calls the tools that it is told to, or all that are listed, and tells how each call ended.
func callTools(ctx context.Context, session *mcp.ClientSession, env harness.Env) error {
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
	for _, name := range names {
		err := call(ctx, session, &env, name)
		host.Tell(env, name, err, codeOf(err))
		if ctx.Err() != nil || errors.Is(err, mcp.ErrConnectionClosed) {
			return fmt.Errorf("calling %s: %w", name, err)
		}
	}
	return nil
}

// useOthers gets the prompts and reads the resources that it is told to, and tells how each call ended.
func useOthers(ctx context.Context, session *mcp.ClientSession, env harness.Env) error {
	for _, name := range env.Prompts {
		_, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name})
		host.Tell(env, name, err, codeOf(err))
		if ctx.Err() != nil || errors.Is(err, mcp.ErrConnectionClosed) {
			return fmt.Errorf("getting the prompt %s: %w", name, err)
		}
	}
	for _, uri := range env.Resources {
		_, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		host.Tell(env, uri, err, codeOf(err))
		if ctx.Err() != nil || errors.Is(err, mcp.ErrConnectionClosed) {
			return fmt.Errorf("reading %s: %w", uri, err)
		}
	}
	return nil
}

// codeOf is the code of a JSON-RPC error, 0 for any other.
func codeOf(err error) int {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return int(wire.Code)
	}
	return 0
}

// closeSession closes the session and waits for that, but no longer than ctx: the SDK's Close waits for handlers that still run, and does
// not cancel them (v1.8.0).
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
