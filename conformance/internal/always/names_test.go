package always_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestStopReasonsAreWrittenAsInMCP(t *testing.T) {
	stopped := func(word string) steps {
		return tracetest.Asked(asked, tracetest.With(answer, "stopReason", fmt.Sprintf("%q", word)))
	}
	for _, word := range []string{"endTurn", "maxTokens", "done", "stop", "length", "tool_calls"} {
		judges(t, "stop-reason-word", "basic/question", passes(word, stopped(word)))
	}
	for _, word := range []string{"end_turn", "MAX_TOKENS", "tool_use", "stop_sequence"} {
		judges(t, "stop-reason-word", "basic/question", tracetest.Warns(word, stopped(word), word))
	}
	ended := func(finish, word string) steps {
		return func(s *session) {
			s.Asks(asked).Prompts(asked).Says(completion(`{"role":"assistant","content":"It means ebb."}`, finish)).
				Answers(tracetest.With(answer, "stopReason", fmt.Sprintf("%q", word)))
		}
	}
	twice := func(s *session) {
		s.Asks(asked)
		for range 2 {
			s.Prompts(asked).Says(completion(`{"role":"assistant","content":"It means ebb."}`, "stop"))
		}
		s.Answers(tracetest.With(answer, "stopReason", `"stop"`))
	}
	judges(t, "stop-reason-word", "basic/question",
		openAI(tracetest.Warns("the provider's word for an end", ended("stop", "stop"), "endTurn, found stop")),
		openAI(tracetest.Warns("the provider's word for a limit", ended("length", "LENGTH"), "maxTokens, found LENGTH")),
		openAI(passes("another word", ended("stop", "length"))),
		openAI(passes("a word that MCP lacks", ended("content_filter", "content_filter"))),
		openAI(passes("a word that other checks judge", ended("tool_calls", "tool_calls"))),
		openAI(passes("the word of another reply", func(s *session) {
			ended("stop", "endTurn")(s)
			ended("length", "stop")(s)
		})),
		openAI(passes("a reply of several", twice)))
}

func TestToolUsesOfTwoTurnsHaveDifferentIDs(t *testing.T) {
	ask := tracetest.Asking(story.Question, story.GetWeather)
	use := func(id string) string { return tracetest.Wanting([3]string{id, "get_weather", `{"city":"Paris"}`}) }
	turns := func(first, second, model string) steps {
		return func(s *session) {
			s.Asks(ask).Answers(use(first))
			later := ask.After([]byte(use(first)), story.Texts("sunny"))
			s.Asks(later)
			if model != "" {
				s.Prompt(string(story.JSON(later)), trace.ModelEnd{Status: 200}).Says(use(model))
			}
			s.Answers(use(second))
		}
	}
	judges(t, "fresh-ids", "basic/question",
		passes("different ids", turns("call_1", "call_2", "")),
		passes("they differ in case", turns("call_a", "call_A", "")),
		fails("the same id", turns("call_0", "call_0", ""), "call_0 in both"),
		inNative(passes("the same id from the model", turns("call_0", "call_0", "call_0"))),
		inapplicable("one turn", tracetest.Asked(ask, use("call_0"))),
	)
}

func TestTheServerRunsTheTools(t *testing.T) {
	calls := func(tool string) steps {
		return func(s *session) {
			s.Frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":55,"method":"tools/call","params":{%s`+
				`"name":%q}}`, s.Meta(), tool))
		}
	}
	asks := tracetest.Asked(tracetest.Asking(story.Question, story.GetWeather), answer)
	judges(t, "not-executed", "basic/question",
		passes("the client calls no tool", asks),
		passes("the client calls another tool", inOrder(asks, calls("mine"))),
		passes("the client calls the tool before it is offered", inOrder(calls("get_weather"), asks)),
		fails("the client calls the tool", inOrder(asks, calls("get_weather")), "get_weather"),
		inapplicable("no tools", tracetest.Asked(asked, answer)),
	)
}
