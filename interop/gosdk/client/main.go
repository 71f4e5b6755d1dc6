// Command client is a client on the official Go SDK in a process of its own, to be put under test:
//
//	mcp-conform run -- client [--strict]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
	"github.com/mcp-conform/mcp-conform/interop/host"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, and what this is about for as long as the protocol has it.

func main() {
	strict := flag.Bool("strict", false, "refuse what a good host refuses: undeclared tools, and histories that the specification forbids")
	flag.Parse()
	env, err := harness.EnvFromProcess(flag.Args(), os.Getenv)
	if err == nil {
		err = gosdk.Run(context.Background(), env, &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.Handler(host.Host{Env: env, Strict: *strict})})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
