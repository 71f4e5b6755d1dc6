package parallel

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAllToolUsesReachTheServer(t *testing.T) {
	uses := func(second [3]string) string { return tracetest.Wanting(paris, second) }
	beside := `[{"type":"text","text":"Let me see."},` +
		`{"type":"tool_use","id":"a","name":"get_weather","input":{"city":"Paris"}},` +
		`{"type":"tool_use","id":"b","name":"get_weather","input":{"city":"London"}}]`
	for check, answers := range map[string]func(string) steps{"all-uses": tracetest.Wants, "streamed-uses": streaming} {
		judges(t, check, "two-cities",
			openAI(passes("both", answers(two))),
			openAI(passes("beside a text", answers(tracetest.With(two, "content", beside)))),
			openAI(fails("the first", answers(tracetest.Wanting(paris)), "expected 2 tool uses in the result, found 1")),
			openAI(fails("none", answers(tracetest.Saying("Let me see.")), "found 0")),
			openAI(fails("in reverse order",
				answers(tracetest.Wanting([3]string{"call_b", "get_weather", tracetest.London}, paris)),
				"expected get_weather for Paris as tool use 1")),
			openAI(fails("the first twice", answers(uses([3]string{"call_b", "get_weather", tracetest.Paris})),
				`for London as tool use 2, found get_weather for "Paris"`)),
			openAI(fails("another tool", answers(uses([3]string{"call_b", "weather", tracetest.London})), "found weather")),
			openAI(unobserved("no content", answers(tracetest.Without(two, "content")), tracetest.NoContent)))
	}
	judges(t, "streamed-uses", "two-cities",
		inapplicable("the client asks for no stream", tracetest.Wants(two)))
}

func TestToolUsesHaveUniqueIDs(t *testing.T) {
	uses := func(id string) steps {
		return tracetest.Wants(tracetest.Wanting([3]string{id, "get_weather", "{}"}, [3]string{id, "get_weather", "{}"}))
	}
	judges(t, "unique-ids", "two-cities",
		passes("two ids", tracetest.Wants(two), "2 tool uses have 2 ids"),
		fails("the same id", uses("call_1"), "found call_1 twice"),
		fails("no ids", uses(""), "found (no id) twice"),
		unobserved("one tool use", tracetest.Wants(tracetest.Wanting(paris)), "the result has 1 tool uses"))
	judges(t, "unique-ids", "thirty-three",
		passes("33 ids", tracetest.Wants(many(33)), "33 tool uses have 33 ids"))
}

func TestThirtyThreeToolUsesReachTheServerOrAreRefused(t *testing.T) {
	judges(t, "over-32-calls", "thirty-three",
		passes("all", tracetest.Wants(many(33))),
		fails("32 of 33", tracetest.Wants(many(32)), "expected 33 tool uses in the result, found 32: City 33"),
		legacy(passes("the client returns an error", func(s *session) {
			s.Asks(asked).Refuses(-32603, "too many tools").Calls().Asks(asked).Answers(two)
		}, `33 tool uses: "too many tools" (code -32603)`)),
		legacy(unobserved("the client refuses everything",
			func(s *session) { s.Asks(asked).Refuses(-32603, "no") }, `"no" (code -32603)`)),
		unobserved("no result", func(s *session) { s.Asks(asked) }, tracetest.NoAnswer))
}

func TestALateFragmentReachesTheServer(t *testing.T) {
	judges(t, "late-delta", "late-fragment",
		openAI(passes("all arguments", streaming(two))),
		openAI(fails("the late arguments are lost",
			streaming(tracetest.Wanting(paris, [3]string{"call_b", "get_weather", "{}"})), "late arguments")),
		openAI(fails("no result", streaming(""), "no response to request 1")),
		openAI(unobserved("the model had no stream",
			streams("", trace.ModelEnd{Status: 404, Unmatched: "no rule matches"}), "no rule matches")),
		unobserved("no model request", func(s *session) { s.Asks(asked).Answers(two) },
			"the model received no request for sampling request 1"),
		inapplicable("the client asks for no stream", tracetest.Wants(two)),
		test{Name: "the dialect allows no late fragment", Dialects: []string{dialect.Anthropic},
			Verdict: report.NotApplicable, Message: "anthropic", Steps: func(s *session) {
				const body = `{"stream":true,"messages":[{"role":"user","content":"What is the weather like there?"}]}`
				s.Asks(asked).Prompt(body, trace.ModelEnd{Status: 200}).Answers(two)
			}},
		openAI(unobserved("no content", streaming(tracetest.Without(two, "content")), tracetest.NoContent)))
}
