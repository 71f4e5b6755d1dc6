package basic

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The model answers with nothing.
var empty = harness.Case{
	ID:      "basic/empty",
	Handler: asks("Say nothing at all."),
	Script:  func(string) []*llm.Rule { return []*llm.Rule{llm.When().Reply()} },
	Barrier: true,
}
