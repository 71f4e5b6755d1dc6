// Command client is a client on mark3labs/mcp-go in a process of its own, to be put under test:
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
	strict := flag.Bool("strict", false, "refuse what a good host refuses: undeclared tools, and histories that the specification forbids")
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
