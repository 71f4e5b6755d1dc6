// Command client is a client on the official Go SDK as a process:
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

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

func main() {
	strict := flag.Bool("strict", false, "refuse undeclared tools and invalid histories")
	flag.Parse()
	env, err := harness.EnvFromProcess(flag.Args(), os.Getenv)
	if err == nil {
		h := gosdk.Handler(host.Host{Env: env, Strict: *strict})
		err = gosdk.Run(context.Background(), env, &mcp.ClientOptions{CreateMessageWithToolsHandler: h})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
