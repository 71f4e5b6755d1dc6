package conformance_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/reference"
)

func TestReferencePasses(t *testing.T) {
	for name, config := range map[string]reference.Config{
		"openai streamed": {},
		"openai plain":    {Plain: true},
		"native":          {Dialect: dialect.Native},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, harness.InProcess(reference.Client(config)), conformance.In(conformance.Known()...), conformance.Strict())
		})
	}
}
