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

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this package is about for as long as the protocol has it.

// programs are the clients that the test binary turns into when it is started as one.
var programs = map[string]func(harness.Env) *mcp.ClientOptions{
	"asking": asking,
	"exits in the middle": func(env harness.Env) *mcp.ClientOptions {
		options := asking(env)
		options.CreateMessageWithToolsHandler = func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			os.Exit(0) // a success, as far as its caller can tell
			return nil, nil
		}
		return options
	},
}

// process is the test binary, started as a client in a process of its own.
func process(program string) harness.Client {
	return harness.Command(os.Args[0], program, "{url}")
}

// TestMain turns the binary into a client where the harness has started it as one: no test of ours has that variable set.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // or under -race each of those clients sleeps for a second before it exits
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
