package chapters_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestTheServerGetsItsToolNamesBack(t *testing.T) {
	ask := tracetest.Asking("How is the weather in Oslo right now?", tooluse.Dotted)
	use := func(name string) string { return tracetest.Wanting([3]string{"call_1", name, `{"city":"Oslo"}`}) }
	// mapped is a client that gives the model one name in the first request and another one in the history, and returns
	// a third one to the server.
	mapped := func(returned, inHistory string, end trace.ModelEnd) steps {
		return func(s *session) {
			first := string(jsonvalue.Marshal(tracetest.AsChat(ask)))
			s.Asks(ask).Prompt(strings.ReplaceAll(first, tooluse.Dotted.Name, "weather_now"), trace.ModelEnd{Status: 200}).
				Answers(use(returned))
			next := ask.After(json.RawMessage(use(returned)), story.Texts("windy"))
			body := strings.ReplaceAll(string(jsonvalue.Marshal(tracetest.AsChat(next))), tooluse.Dotted.Name, inHistory)
			s.Asks(next).Prompt(body, end)
			if end.Refused == "" {
				s.Answers(tracetest.Saying("It is windy."))
			} else {
				s.Refuses(-32603, "failed")
			}
		}
	}
	ok, refusal := trace.ModelEnd{Status: 200}, trace.ModelEnd{Status: 400, Refused: "weather.now is no name"}
	toolUseJudges(t, "tool-names", "odd-names",
		openAI(passes("mapped and mapped back", mapped("weather.now", "weather_now", ok))),
		openAI(fails("not mapped back", mapped("weather_now", "weather_now", ok), "found one of weather_now")),
		legacy(openAI(fails("not mapped in the history", mapped("weather.now", "weather.now", refusal),
			"names that the model accepts"))),
		passes("not mapped", tracetest.Asked(ask, use("weather.now"))),
		fails("dropped", tracetest.Asked(ask, tracetest.Saying("I cannot tell.")), "found none"),
		legacy(passes("refused", func(s *session) {
			s.Asks(ask).Prompts(ask).Refuses(-32603, "refused").OtherwiseAnswers()
		}, `"refused" (code -32603)`)),
		inapplicable("never offered", func(s *session) {
			s.Asks(ask).Prompts(tracetest.Asking("How is the weather in Oslo right now?")).
				Answers(tracetest.Saying("I cannot tell."))
		}, "the model was not offered weather.now"),
		unobserved("no result", func(s *session) { s.Asks(ask).Prompts(ask) }, "no response to request 1"))
}
