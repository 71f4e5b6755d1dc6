package tooluse

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server offers tools after a conversation without them, with parameters that most providers take.
var afterTalk = story.Once("tool-use/after-talk", func(s *server.Session) any {
	ask := s.Ask("And how is the weather?", story.GetWeather, simpleFlight)
	ask.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Text("I want to go to Oslo.")},
		{Role: "assistant", Content: server.Text("Oslo is beautiful.")}}, ask.Messages...)
	ask.Temperature, ask.StopSequences = new(float64), []string{"END", "\n\nHuman:"}
	*ask.Temperature = 0.5
	return ask
}, llm.When().Reply(story.Calls([]string{"Oslo"})...))

// The server offers many tools, of which the last has a long description. The model uses that one. A client may refuse
// more than 64.
var (
	sixtyFourTools = usesLast("tool-use/sixty-four-tools", 64, &server.ToolChoice{Mode: dialect.ChoiceRequired})
	sixtyFiveTools = usesLast("tool-use/sixty-five-tools", 65, nil)
	manyTools      = usesLast("tool-use/many-tools", 60, &server.ToolChoice{Mode: dialect.ChoiceRequired})
)

func usesLast(id string, n int, choice *server.ToolChoice) harness.Case {
	offered := Numbered(n)
	offered[n-1].Description += ". " + strings.Repeat("Ask for the number first. ", 12) + "Then use it."
	return story.Once(id, func(s *server.Session) any {
		ask := s.Ask("Use the last tool.", offered...)
		ask.ToolChoice = choice
		return ask
	},
		llm.When().ReplyFunc(ToolUse{offered[n-1].Name, `{"value":1}`}.call()))
}

// Numbered returns n tools that differ in their number.
func Numbered(n int) []server.Tool {
	list := make([]server.Tool, n)
	for i := range list {
		list[i] = server.Tool{Name: fmt.Sprintf("tool_%02d", i+1), Description: fmt.Sprintf("Tool number %d", i+1),
			InputSchema: story.Object{"type": "object", "properties": story.Object{"value": story.Object{"type": "integer"}}}}
	}
	return list
}
