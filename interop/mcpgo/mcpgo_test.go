package mcpgo_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/interop/mcpgo"
)

func TestX(t *testing.T) {
	conformance.Run(t, mcpgo.Client(mcpgo.AskModel))
}
