package parallel

import (
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestResultsReachTheModel(t *testing.T) {
	thirtyThree := func(edit edit) steps { return tracetest.GoesOn(many(33), story.Texts("mild"), edit) }
	judges(t, "results-reach-model", "two-cities",
		passes("both", continues(tracetest.AsItIs)),
		passes("under ids of the client", continues(renamed)),
		passes("inside JSON", continues(eachResult(func(b block) {
			asText(b, string(dialect.Marshal(story.Object{"result": b["content"], "ok": true})))
		}))),
		fails("the first", continues(onlyFirst), "expected 2 tool results in the model request, found 1"),
		fails("one empty", continues(resultFor("call_b", emptied)), "the text of the result for call_b"),
		fails("both under one id", continues(eachResult(func(b block) { b["toolUseId"] = "call_a" })),
			"expected 1 result for call_a in the model request, found 2"),
		fails("as a text of the user", continues(func(messages []tracetest.Turn) []tracetest.Turn {
			return append(messages[:2], tracetest.Turn{Role: "user", Content: server.Text("fifteen degrees, eighteen degrees")})
		}), "found 0"),
		openAI(fails("in a request that the model refuses", func(s *session) {
			more := string(dialect.Marshal(tracetest.AsChat(asked.After([]byte(two), tracetest.WeatherResults))))
			second(s, tracetest.WeatherResults).
				Prompt(more, trace.ModelEnd{Status: 400, Refused: "not in this order"}).Refuses(-32603, "no")
		}, "the model refused it")),
		unobserved("no model request",
			func(s *session) { second(s, tracetest.WeatherResults).Answers(tracetest.Saying("Fine.")) },
			"the model received no request for sampling request 2"))
	judges(t, "results-reach-model", "thirty-three",
		passes("all", thirtyThree(tracetest.AsItIs)),
		fails("32 of 33", thirtyThree(lastTurn(func(blocks []block) []block { return blocks[:32] })), "found 32"),
		fails("all but one empty", thirtyThree(lastTurn(func(blocks []block) []block {
			for _, b := range blocks[1:] {
				emptied(b)
			}
			return blocks
		})), "the result for call_1,"))
}

func TestResultsKeepTheIDsOfTheirToolUses(t *testing.T) {
	swapped := eachResult(func(b block) {
		b["toolUseId"] = map[any]string{"call_a": "call_b", "call_b": "call_a"}[b["toolUseId"]]
	})
	judges(t, "results-order", "two-cities",
		passes("the server's ids", continues(tracetest.AsItIs)),
		passes("results in another order", continues(lastTurn(func(blocks []block) []block {
			slices.Reverse(blocks)
			return blocks
		}))),
		passes("the client's ids", continues(renamed)),
		passes("the client's ids, uses in another order", continues(then(usesReversed, renamed))),
		passes("uses without arguments, in another order", continues(then(usesReversed, withoutArguments))),
		passes("the client's ids, uses without arguments", continues(then(renamed, withoutArguments))),
		fails("swapped", continues(swapped), "expected the result for call_b under its id, found it under call_a"),
		fails("renamed and swapped", continues(then(swapped, renamed)), "for own-2 under its id, found it under own-1"),
		unobserved("one result", continues(onlyFirst), "see parallel/results-reach-model"),
		unobserved("one empty result", continues(resultFor("call_b", emptied)), "the result for call_b"))
}

func TestToolUsesReachTheModelAgain(t *testing.T) {
	judges(t, "uses-restated", "two-cities",
		passes("both", continues(tracetest.AsItIs)),
		passes("under ids of the client", continues(renamed)),
		passes("in another order", continues(usesReversed)),
		passes("in two turns, each with its result", continues(func(messages []tracetest.Turn) []tracetest.Turn {
			uses, results := messages[1].Content.([]block), messages[2].Content.([]block)
			return []tracetest.Turn{messages[0], {Role: "assistant", Content: uses[:1]}, {Role: "user", Content: results[1:]},
				{Role: "assistant", Content: uses[1:]}, {Role: "user", Content: results[:1]}}
		})),
		fails("no arguments", continues(withoutArguments), "expected tool use 1 unchanged"),
		fails("another name", continues(each("tool_use", func(b block) { b["name"] = "tool" })), "tool use 1"),
		fails("one of two", continues(func(messages []tracetest.Turn) []tracetest.Turn {
			messages[1].Content = messages[1].Content.([]block)[:1]
			return messages
		}), "expected 2 earlier tool uses in the model request, found 1"),
		fails("none", continues(func(messages []tracetest.Turn) []tracetest.Turn {
			return append(messages[:1], messages[2:]...)
		}), "found 0"))
}
