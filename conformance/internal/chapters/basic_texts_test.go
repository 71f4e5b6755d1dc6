package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

const system = "You are a helpful assistant."

func TestTheSystemPromptIsReported(t *testing.T) {
	becomes := func(prompt string) steps {
		return basicPrompts(func(p *server.CreateMessageParams) { p.SystemPrompt = prompt })
	}
	basicJudges(t, "system-prompt", "question",
		informs("the same", tracetest.Right, "passed on unchanged"),
		informs("more", becomes("You speak for a host. "+system), "with more text"),
		informs("another", becomes("You speak for a host."), "changed or replaced"),
		informs("none", becomes(""), "omitted"),
		informs("a message", basicPrompts(func(p *server.CreateMessageParams) {
			p.Messages = append([]server.SamplingMessage{basic.Text("user", p.SystemPrompt)}, p.Messages...)
			p.SystemPrompt = ""
		}), "as a message"),
	)
}
