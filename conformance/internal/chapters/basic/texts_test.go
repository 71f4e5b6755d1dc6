package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

const system = "You are a helpful assistant."

func TestTheSystemPromptIsReported(t *testing.T) {
	becomes := func(prompt string) steps {
		return prompts(func(p *server.CreateMessageParams) { p.SystemPrompt = prompt })
	}
	judges(t, "system-prompt", "question",
		informs("the same", tracetest.Right, "passed on unchanged"),
		informs("more", becomes("You speak for a host. "+system), "with more text"),
		informs("another", becomes("You speak for a host."), "changed or replaced"),
		informs("none", becomes(""), "omitted"),
		informs("a message", prompts(func(p *server.CreateMessageParams) {
			p.Messages = append([]server.SamplingMessage{text("user", p.SystemPrompt)}, p.Messages...)
			p.SystemPrompt = ""
		}), "as a message"),
	)
}
