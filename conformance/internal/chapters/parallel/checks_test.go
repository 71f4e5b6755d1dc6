package parallel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const ()

// uses of the weather in n cities.
func manyUses(n int) string {
	var list [][3]string
	for i, city := range cities(n) {
		list = append(list, [3]string{fmt.Sprintf("call_%d", i), "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
	}
	return tracetest.Wanting(list...)
}

// streaming is the first round of a client that asks for a stream, where the dialect has one.
func streaming(result string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		body := string(dialect.Marshal(tracetest.AsChat(tracetest.AskingForWeather())))
		s.Asks(tracetest.AskingForWeather()).Prompt(tracetest.With(body, "stream", "true"), trace.ModelEnd{Status: 200, Stream: true})
		if result != "" {
			s.Answers(result)
		}
	}
}

// each edits every block of a type.
func each(kind string, edit func(block map[string]any)) func([]tracetest.Turn) []tracetest.Turn {
	return func(messages []tracetest.Turn) []tracetest.Turn {
		for _, m := range messages {
			blocks, _ := m.Content.([]map[string]any)
			for _, b := range blocks {
				if b["type"] == kind {
					edit(b)
				}
			}
		}
		return messages
	}
}

// lastTurn edits the blocks of the last message.
func lastTurn(edit func(blocks []map[string]any) []map[string]any) func([]tracetest.Turn) []tracetest.Turn {
	return func(messages []tracetest.Turn) []tracetest.Turn {
		last := &messages[len(messages)-1]
		last.Content = edit(last.Content.([]map[string]any))
		return messages
	}
}

// renames gives every use an id of the client's own, and each result with it.
func renames(messages []tracetest.Turn) []tracetest.Turn {
	ids := map[any]string{}
	each("tool_use", func(b map[string]any) {
		ids[b["id"]] = fmt.Sprintf("own-%d", len(ids)+1)
		b["id"] = ids[b["id"]]
	})(messages)
	return each("tool_result", func(b map[string]any) { b["toolUseId"] = ids[b["toolUseId"]] })(messages)
}

func TestAllToolUsesComeBack(t *testing.T) {
	const all = "all 2 tool uses came back, in the model's order"
	checks := map[string]func(result string) func(*tracetest.Story){"parallel/all-uses": tracetest.Wants, "parallel/streamed-uses": streaming}
	var tellings []tracetest.Test
	for check, tell := range checks {
		add := func(name, result string, verdict report.Verdict, message string) {
			tellings = append(tellings, tracetest.Test{Name: name, Check: check, CaseID: "two-cities", Steps: tell(result), Verdict: verdict, Message: message, Dialects: tracetest.OpenAI})
		}
		add("all", tracetest.TwoUses(), report.Pass, all)
		add("beside a text", tracetest.With(tracetest.TwoUses(), "content", `[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"a","name":"get_weather","input":`+tracetest.Paris+`},{"type":"tool_use","id":"b","name":"get_weather","input":`+tracetest.London+`}]`), report.Pass, all)
		add("the first", tracetest.Wanting([3]string{"call_a", "get_weather", tracetest.Paris}), report.Fail, "the model asked for 2 tools at once, and the answer has 1 tool uses")
		add("none", tracetest.Saying("Let me see."), report.Fail, "the model asked for 2 tools at once, and the answer has 0 tool uses")
		add("in reverse", tracetest.Wanting([3]string{"call_b", "get_weather", tracetest.London}, [3]string{"call_a", "get_weather", tracetest.Paris}), report.Fail, "tool use 1 is not the model's: want get_weather for Paris")
		add("one twice", tracetest.Wanting([3]string{"call_a", "get_weather", tracetest.Paris}, [3]string{"call_b", "get_weather", tracetest.Paris}), report.Fail, "tool use 2 is not the model's: want get_weather for London")
		add("one of another tool", tracetest.Wanting([3]string{"call_a", "get_weather", tracetest.Paris}, [3]string{"call_b", "weather", tracetest.London}), report.Fail, "tool use 2 is not the model's: want get_weather for London")
		add("nowhere that can be read", tracetest.Without(tracetest.TwoUses(), "content"), report.NotObserved, "the content of the result cannot be decoded (see basic/has-content)")
	}
	tracetest.Run(t, catalogue, append(tellings,
		tracetest.Test{Name: "to a client that asks for no stream", Check: "parallel/streamed-uses", CaseID: "two-cities", Steps: tracetest.Wants(tracetest.TwoUses()),
			Verdict: report.NotApplicable, Message: "the client does not ask the model for a stream"}))
}

func TestToolUsesHaveIDsOfTheirOwn(t *testing.T) {
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "they do", Check: "parallel/unique-ids", CaseID: "two-cities", Steps: tracetest.Wants(tracetest.TwoUses()), Verdict: report.Pass, Message: "2 tool uses have 2 ids"},
		{Name: "many do", Check: "parallel/unique-ids", CaseID: "thirty-three", Steps: tracetest.Wants(manyUses(33)), Verdict: report.Pass, Message: "33 tool uses have 33 ids"},
		{Name: "they share one", Check: "parallel/unique-ids", CaseID: "two-cities", Verdict: report.Fail, Message: "two tool uses of one turn have the id call_1",
			Steps: tracetest.Wants(tracetest.Wanting([3]string{"call_1", "get_weather", tracetest.Paris}, [3]string{"call_1", "get_weather", tracetest.London}))},
		{Name: "they have none", Check: "parallel/unique-ids", CaseID: "two-cities", Verdict: report.Fail, Message: "two tool uses of one turn have the id (no id)",
			Steps: tracetest.Wants(tracetest.Wanting([3]string{"", "get_weather", tracetest.Paris}, [3]string{"", "get_weather", tracetest.London}))},
		{Name: "there is one only", Check: "parallel/unique-ids", CaseID: "two-cities", Verdict: report.NotObserved,
			Message: "the answer has 1 tool uses, and it takes two to compare ids (see parallel/all-uses)", Steps: tracetest.Wants(tracetest.Wanting([3]string{"call_1", "get_weather", tracetest.Paris}))},
	})
}

func TestALateFragmentIsNotLost(t *testing.T) {
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it came", Check: "parallel/late-delta", CaseID: "late-fragment", Steps: streaming(tracetest.TwoUses()), Dialects: tracetest.OpenAI, Verdict: report.Pass, Message: "the late fragment was not lost"},
		{Name: "it is lost", Check: "parallel/late-delta", CaseID: "late-fragment", Dialects: tracetest.OpenAI, Verdict: report.Fail,
			Steps:   streaming(tracetest.Wanting([3]string{"call_a", "get_weather", tracetest.Paris}, [3]string{"call_b", "get_weather", "{}"})),
			Message: "the arguments of the last tool call came with the finish reason, and were lost"},
		{Name: "the client gave up", Check: "parallel/late-delta", CaseID: "late-fragment", Steps: streaming(""), Dialects: tracetest.OpenAI, Verdict: report.Fail,
			Message: "the client made no answer of a stream whose last fragment is late: no response to request 1"},
		{Name: "the model had none for the client", Check: "parallel/late-delta", CaseID: "late-fragment", Dialects: tracetest.OpenAI, Verdict: report.NotObserved,
			Message: "the model had no such stream for the client: no response to request 1; the model refused its request: no rule matches",
			Steps: func(s *tracetest.Story) {
				body := string(dialect.Marshal(tracetest.AsChat(tracetest.AskingForWeather())))
				s.Asks(tracetest.AskingForWeather()).Prompt(tracetest.With(body, "stream", "true"), trace.ModelEnd{Status: 404, Miss: "no rule matches"})
			}},
		{Name: "no model was asked", Check: "parallel/late-delta", CaseID: "late-fragment", Verdict: report.NotObserved,
			Message: "the model received no request for sampling request 1: none had the mark of the case",
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.AskingForWeather()).Answers(tracetest.TwoUses()) }},
		{Name: "there is no stream", Check: "parallel/late-delta", CaseID: "late-fragment", Steps: tracetest.Wants(tracetest.TwoUses()), Verdict: report.NotApplicable,
			Message: "the client does not ask the model for a stream"},
		{Name: "the stream has no place for it", Check: "parallel/late-delta", CaseID: "late-fragment", Dialects: []string{dialect.Anthropic}, Verdict: report.NotApplicable,
			Message: "a stream of anthropic has no place for a late fragment",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.AskingForWeather()).Prompt(`{"stream":true,"messages":[{"role":"user","content":"What is the weather like there?"}]}`, trace.ModelEnd{Status: 200}).Answers(tracetest.TwoUses())
			}},
		{Name: "nowhere that can be read", Check: "parallel/late-delta", CaseID: "late-fragment", Steps: streaming(tracetest.Without(tracetest.TwoUses(), "content")), Dialects: tracetest.OpenAI,
			Verdict: report.NotObserved, Message: "the content of the result cannot be decoded (see basic/has-content)"},
	})
}

func TestTheAssistantsTurnIsRestated(t *testing.T) {
	const check, whole = "parallel/uses-restated", "the assistant's turn was restated whole"
	told := func(edit func([]tracetest.Turn) []tracetest.Turn) func(*tracetest.Story) {
		return tracetest.GoesOn(tracetest.TwoUses(), tracetest.WeatherResults, edit)
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "whole", Check: check, CaseID: "two-cities", Steps: told(tracetest.AsItIs), Verdict: report.Pass, Message: whole},
		{Name: "under ids of the client's own", Check: check, CaseID: "two-cities", Steps: told(renames), Verdict: report.Pass, Message: whole},
		{Name: "in another order", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: whole,
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn {
				slices.Reverse(messages[1].Content.([]map[string]any))
				return messages
			})},
		{Name: "in two turns, each with its result", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: whole,
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn {
				uses, results := messages[1].Content.([]map[string]any), messages[2].Content.([]map[string]any)
				return []tracetest.Turn{messages[0], {Role: "assistant", Content: uses[:1]}, {Role: "user", Content: results[1:]},
					{Role: "assistant", Content: uses[1:]}, {Role: "user", Content: results[:1]}}
			})},
		{Name: "without arguments", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "tool use 1 of the assistant's turn was given back to the model changed",
			Steps: told(each("tool_use", func(b map[string]any) { b["input"] = story.Object{} }))},
		{Name: "under another name", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "tool use 1 of the assistant's turn was given back to the model changed",
			Steps: told(each("tool_use", func(b map[string]any) { b["name"] = "tool" }))},
		{Name: "one of two", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "the assistant's turn had 2 tool uses, and the model was given 1 of them back",
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn {
				messages[1].Content = messages[1].Content.([]map[string]any)[:1]
				return messages
			})},
		{Name: "not at all", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "the assistant's turn had 2 tool uses, and the model was given 0 of them back",
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn { return append(messages[:1], messages[2:]...) })},
	})
}

func TestThirtyThreeToolUsesComeBackOrAreRefused(t *testing.T) {
	const check = "parallel/over-32-calls"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "all", Check: check, CaseID: "thirty-three", Steps: tracetest.Wants(manyUses(33)), Verdict: report.Pass, Message: "all 33 tool uses came back"},
		{Name: "all but one", Check: check, CaseID: "thirty-three", Steps: tracetest.Wants(manyUses(32)), Verdict: report.Fail,
			Message: "the model asked for 33 tools at once, and the answer has 32 tool uses and no error"},
		{Name: "an error", Check: check, CaseID: "thirty-three", In: tracetest.InA, Verdict: report.Pass,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.AskingForWeather()).Refuses(-32603, "too many tools").Calls().Asks(tracetest.AskingForWeather()).Answers(tracetest.TwoUses())
			},
			Message: `the client refuses so many, and says so: "too many tools" (code -32603)`},
		{Name: "an error, from a client that answers with nothing else", Check: check, CaseID: "thirty-three", In: tracetest.InA, Verdict: report.NotObserved,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.AskingForWeather()).Refuses(-32603, "no") },
			Message: `no result for sampling request 1: error response to request 1: "no" (code -32603)`},
		{Name: "nothing, from a client that answers nothing", Check: check, CaseID: "thirty-three", Verdict: report.NotObserved,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.AskingForWeather()) },
			Message: "no result for sampling request 1: no response to request 1"},
	})
}
