package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	paris  = `{"city":"Paris"}`
	london = `{"city":"London"}`
)

func askingForWeather() *server.CreateMessageParams {
	return asking("What is the weather like there?", getWeather)
}

// twoUses are the model's two calls.
func twoUses() string {
	return wanting([3]string{"call_a", "get_weather", paris}, [3]string{"call_b", "get_weather", london})
}

// uses of the weather in n cities.
func manyUses(n int) string {
	var list [][3]string
	for i, city := range cities(n) {
		list = append(list, [3]string{fmt.Sprintf("call_%d", i), "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
	}
	return wanting(list...)
}

// wants is the first round, with the client's answer.
func wants(result string) func(*story) {
	return func(s *story) { s.asks(askingForWeather()).prompts(askingForWeather()).answers(result) }
}

// streaming is the first round of a client that asks for a stream, where the dialect has one.
func streaming(result string) func(*story) {
	return func(s *story) {
		body := string(dialect.Marshal(asChat(askingForWeather())))
		s.asks(askingForWeather()).prompt(with(body, "stream", "true"), trace.ModelEnd{Status: 200, Stream: true})
		if result != "" {
			s.answers(result)
		}
	}
}

// turn is a message of the history.
type turn = server.SamplingMessage

// goesOn is both rounds: the server sends results, and the model is given what the edit makes of the history.
func goesOn(result string, results func([]server.ToolUseContent) []server.ToolResultContent, edit func(messages []turn) []turn) func(*story) {
	return func(s *story) {
		wants(result)(s)
		next := askingForWeather().After(json.RawMessage(result), results)
		changed := *next
		changed.Messages = edit(copyOf(next.Messages))
		s.asks(next).prompts(&changed).answers(saying("That is the weather."))
	}
}

// copyOf makes each message's content blocks that can be changed.
func copyOf(messages []turn) []turn {
	copied := slices.Clone(messages)
	for i, m := range copied {
		var blocks []map[string]any
		if json.Unmarshal(dialect.Marshal(m.Content), &blocks) == nil {
			copied[i].Content = blocks
		}
	}
	return copied
}

func asItIs(messages []turn) []turn { return messages }

// each edits every block of a type.
func each(kind string, edit func(block map[string]any)) func([]turn) []turn {
	return func(messages []turn) []turn {
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
func lastTurn(edit func(blocks []map[string]any) []map[string]any) func([]turn) []turn {
	return func(messages []turn) []turn {
		last := &messages[len(messages)-1]
		last.Content = edit(last.Content.([]map[string]any))
		return messages
	}
}

// renames gives every use an id of the client's own, and each result with it.
func renames(messages []turn) []turn {
	ids := map[any]string{}
	each("tool_use", func(b map[string]any) {
		ids[b["id"]] = fmt.Sprintf("own-%d", len(ids)+1)
		b["id"] = ids[b["id"]]
	})(messages)
	return each("tool_result", func(b map[string]any) { b["toolUseId"] = ids[b["toolUseId"]] })(messages)
}

var weatherResults = reversed(texts("eighteen degrees", "fifteen degrees"))

func TestAllToolUsesComeBack(t *testing.T) {
	const all = "all 2 tool uses came back, in the model's order"
	checks := map[string]func(result string) func(*story){"parallel/all-uses": wants, "parallel/streamed-uses": streaming}
	var tellings []telling
	for check, tell := range checks {
		add := func(name, result string, verdict report.Verdict, message string) {
			tellings = append(tellings, telling{name: name, check: check, caseID: "two-cities", tell: tell(result), verdict: verdict, message: message, dialects: openAI})
		}
		add("all", twoUses(), report.Pass, all)
		add("beside a text", with(twoUses(), "content", `[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"a","name":"get_weather","input":`+paris+`},{"type":"tool_use","id":"b","name":"get_weather","input":`+london+`}]`), report.Pass, all)
		add("the first", wanting([3]string{"call_a", "get_weather", paris}), report.Fail, "the model asked for 2 tools at once, and the answer has 1 tool uses")
		add("none", saying("Let me see."), report.Fail, "the model asked for 2 tools at once, and the answer has 0 tool uses")
		add("in reverse", wanting([3]string{"call_b", "get_weather", london}, [3]string{"call_a", "get_weather", paris}), report.Fail, "tool use 1 is not the model's: want get_weather for Paris")
		add("one twice", wanting([3]string{"call_a", "get_weather", paris}, [3]string{"call_b", "get_weather", paris}), report.Fail, "tool use 2 is not the model's: want get_weather for London")
		add("one of another tool", wanting([3]string{"call_a", "get_weather", paris}, [3]string{"call_b", "weather", london}), report.Fail, "tool use 2 is not the model's: want get_weather for London")
		add("nowhere that can be read", without(twoUses(), "content"), report.NotObserved, "the answer's content cannot be read (see basic/has-content)")
	}
	hold(t, catalogue, append(tellings,
		telling{name: "to a client that asks for no stream", check: "parallel/streamed-uses", caseID: "two-cities", tell: wants(twoUses()),
			verdict: report.NotApplicable, message: "the client does not ask the model for a stream"}))
}

func TestToolUsesHaveIDsOfTheirOwn(t *testing.T) {
	hold(t, catalogue, []telling{
		{name: "they do", check: "parallel/unique-ids", caseID: "two-cities", tell: wants(twoUses()), verdict: report.Pass, message: "2 tool uses have 2 ids"},
		{name: "many do", check: "parallel/unique-ids", caseID: "thirty-three", tell: wants(manyUses(33)), verdict: report.Pass, message: "33 tool uses have 33 ids"},
		{name: "they share one", check: "parallel/unique-ids", caseID: "two-cities", verdict: report.Fail, message: "two tool uses of one turn have the id call_1",
			tell: wants(wanting([3]string{"call_1", "get_weather", paris}, [3]string{"call_1", "get_weather", london}))},
		{name: "they have none", check: "parallel/unique-ids", caseID: "two-cities", verdict: report.Fail, message: "two tool uses of one turn have the id (no id)",
			tell: wants(wanting([3]string{"", "get_weather", paris}, [3]string{"", "get_weather", london}))},
		{name: "there is one only", check: "parallel/unique-ids", caseID: "two-cities", verdict: report.NotObserved,
			message: "the answer has 1 tool uses, and it takes two to compare ids (see parallel/all-uses)", tell: wants(wanting([3]string{"call_1", "get_weather", paris}))},
	})
}

func TestALateFragmentIsNotLost(t *testing.T) {
	hold(t, catalogue, []telling{
		{name: "it came", check: "parallel/late-delta", caseID: "late-fragment", tell: streaming(twoUses()), dialects: openAI, verdict: report.Pass, message: "the late fragment was not lost"},
		{name: "it is lost", check: "parallel/late-delta", caseID: "late-fragment", dialects: openAI, verdict: report.Fail,
			tell:    streaming(wanting([3]string{"call_a", "get_weather", paris}, [3]string{"call_b", "get_weather", "{}"})),
			message: "the arguments of the last tool call came with the finish reason, and were lost"},
		{name: "the client gave up", check: "parallel/late-delta", caseID: "late-fragment", tell: streaming(""), dialects: openAI, verdict: report.Fail,
			message: "the client made no answer of a stream whose last fragment is late: no answer came for request 1"},
		{name: "the model had none for the client", check: "parallel/late-delta", caseID: "late-fragment", dialects: openAI, verdict: report.NotObserved,
			message: "the model had no such stream for the client: no answer came for request 1; the model had refused what it was asked: no rule matches",
			tell: func(s *story) {
				body := string(dialect.Marshal(asChat(askingForWeather())))
				s.asks(askingForWeather()).prompt(with(body, "stream", "true"), trace.ModelEnd{Status: 404, Miss: "no rule matches"})
			}},
		{name: "no model was asked", check: "parallel/late-delta", caseID: "late-fragment", verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark",
			tell:    func(s *story) { s.asks(askingForWeather()).answers(twoUses()) }},
		{name: "there is no stream", check: "parallel/late-delta", caseID: "late-fragment", tell: wants(twoUses()), verdict: report.NotApplicable,
			message: "the client does not ask the model for a stream"},
		{name: "the stream has no place for it", check: "parallel/late-delta", caseID: "late-fragment", dialects: []string{dialect.Anthropic}, verdict: report.NotApplicable,
			message: "a stream of anthropic has no place for a late fragment",
			tell: func(s *story) {
				s.asks(askingForWeather()).prompt(`{"stream":true,"messages":[{"role":"user","content":"What is the weather like there?"}]}`, trace.ModelEnd{Status: 200}).answers(twoUses())
			}},
		{name: "nowhere that can be read", check: "parallel/late-delta", caseID: "late-fragment", tell: streaming(without(twoUses(), "content")), dialects: openAI,
			verdict: report.NotObserved, message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestTheAssistantsTurnIsRestated(t *testing.T) {
	const check, whole = "parallel/uses-restated", "the assistant's turn was restated whole"
	told := func(edit func([]turn) []turn) func(*story) { return goesOn(twoUses(), weatherResults, edit) }
	hold(t, catalogue, []telling{
		{name: "whole", check: check, caseID: "two-cities", tell: told(asItIs), verdict: report.Pass, message: whole},
		{name: "under ids of the client's own", check: check, caseID: "two-cities", tell: told(renames), verdict: report.Pass, message: whole},
		{name: "in another order", check: check, caseID: "two-cities", verdict: report.Pass, message: whole,
			tell: told(func(messages []turn) []turn { slices.Reverse(messages[1].Content.([]map[string]any)); return messages })},
		{name: "in two turns, each with its result", check: check, caseID: "two-cities", verdict: report.Pass, message: whole,
			tell: told(func(messages []turn) []turn {
				uses, results := messages[1].Content.([]map[string]any), messages[2].Content.([]map[string]any)
				return []turn{messages[0], {Role: "assistant", Content: uses[:1]}, {Role: "user", Content: results[1:]},
					{Role: "assistant", Content: uses[1:]}, {Role: "user", Content: results[:1]}}
			})},
		{name: "without arguments", check: check, caseID: "two-cities", verdict: report.Fail, message: "tool use 1 of the assistant's turn was given back to the model changed",
			tell: told(each("tool_use", func(b map[string]any) { b["input"] = object{} }))},
		{name: "under another name", check: check, caseID: "two-cities", verdict: report.Fail, message: "tool use 1 of the assistant's turn was given back to the model changed",
			tell: told(each("tool_use", func(b map[string]any) { b["name"] = "tool" }))},
		{name: "one of two", check: check, caseID: "two-cities", verdict: report.Fail, message: "the assistant's turn had 2 tool uses, and the model was given 1 of them back",
			tell: told(func(messages []turn) []turn {
				messages[1].Content = messages[1].Content.([]map[string]any)[:1]
				return messages
			})},
		{name: "not at all", check: check, caseID: "two-cities", verdict: report.Fail, message: "the assistant's turn had 2 tool uses, and the model was given 0 of them back",
			tell: told(func(messages []turn) []turn { return append(messages[:1], messages[2:]...) })},
	})
}

func TestThirtyThreeToolUsesComeBackOrAreRefused(t *testing.T) {
	const check = "parallel/over-32-calls"
	hold(t, catalogue, []telling{
		{name: "all", check: check, caseID: "thirty-three", tell: wants(manyUses(33)), verdict: report.Pass, message: "all 33 tool uses came back"},
		{name: "all but one", check: check, caseID: "thirty-three", tell: wants(manyUses(32)), verdict: report.Fail,
			message: "the model asked for 33 tools at once, and the answer has 32 tool uses and no error"},
		{name: "an error", check: check, caseID: "thirty-three", in: inA, verdict: report.Pass,
			tell: func(s *story) {
				s.asks(askingForWeather()).refuses(-32603, "too many tools").calls().asks(askingForWeather()).answers(twoUses())
			},
			message: `the client refuses so many, and says so: "too many tools" (code -32603)`},
		{name: "an error, from a client that answers with nothing else", check: check, caseID: "thirty-three", in: inA, verdict: report.NotObserved,
			tell:    func(s *story) { s.asks(askingForWeather()).refuses(-32603, "no") },
			message: `sampling request 1 was not answered: request 1 was answered by the error "no" (code -32603)`},
		{name: "nothing, from a client that answers nothing", check: check, caseID: "thirty-three", verdict: report.NotObserved,
			tell:    func(s *story) { s.asks(askingForWeather()) },
			message: "sampling request 1 was not answered: no answer came for request 1"},
	})
}
