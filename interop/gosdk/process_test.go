package gosdk_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// programs are the clients that the test binary can run as.
var programs = map[string]func(harness.Env) *mcp.ClientOptions{
	"asking": asking,
	"exits in the middle": func(env harness.Env) *mcp.ClientOptions {
		options := asking(env)
		options.CreateMessageWithToolsHandler = func(
			context.Context, *mcp.CreateMessageWithToolsRequest,
		) (*mcp.CreateMessageWithToolsResult, error) {
			os.Exit(0) // looks like success
			return nil, nil
		}
		return options
	},
}

// process is the test binary as a client.
func process(program string) harness.Client {
	return harness.Command(os.Args[0], program, "{url}")
}

// TestMain runs a client if the harness has started the test binary, which sets this variable.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // with -race each client would sleep for a second at exit
		os.Exit(m.Run())
	}
	env, err := harness.EnvFromProcess(os.Args[1:], os.Getenv)
	if err == nil {
		err = gosdk.Run(context.Background(), env, programs[os.Args[1]](env))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
