// Command client is a client on mark3labs/mcp-go as a process:
//
//	mcp-conform run -- client [--strict]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
	"github.com/mcp-conform/mcp-conform/interop/mcpgo"
)

func main() {
	strict := flag.Bool("strict", false, "refuse undeclared tools and invalid histories")
	flag.Parse()
	env, err := harness.EnvFromProcess(flag.Args(), os.Getenv)
	if err == nil {
		err = mcpgo.Run(context.Background(), env, mcpgo.Handler(host.Host{Env: env, Strict: *strict}))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
