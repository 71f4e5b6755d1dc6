package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	hold(t, append(tellings,
		telling{name: "to a client that asks for no stream", check: "parallel/streamed-uses", caseID: "two-cities", tell: wants(twoUses()),
			verdict: report.NotApplicable, message: "the client does not ask the model for a stream"}))
}

func TestToolUsesHaveIDsOfTheirOwn(t *testing.T) {
	hold(t, []telling{
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
	hold(t, []telling{
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

func TestResultsReachTheModel(t *testing.T) {
	const check, all = "parallel/results-reach-model", "all 2 results reached the model"
	told := func(edit func([]turn) []turn) func(*story) { return goesOn(twoUses(), weatherResults, edit) }
	many := func(edit func([]turn) []turn) func(*story) { return goesOn(manyUses(33), texts("mild"), edit) }
	firstOnly := lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] })
	hold(t, []telling{
		{name: "all", check: check, caseID: "two-cities", tell: told(asItIs), verdict: report.Pass, message: all},
		{name: "under ids of the client's own", check: check, caseID: "two-cities", tell: told(renames), verdict: report.Pass, message: all},
		{name: "in a JSON wrapping", check: check, caseID: "two-cities", verdict: report.Pass, message: all,
			tell: told(each("tool_result", func(b map[string]any) {
				b["content"] = []any{server.Text(string(dialect.Marshal(object{"result": b["content"], "ok": true})))}
			}))},
		{name: "many", check: check, caseID: "thirty-three", tell: many(asItIs), verdict: report.Pass, message: "all 33 results reached the model"},
		{name: "the first", check: check, caseID: "two-cities", tell: told(firstOnly), verdict: report.Fail,
			message: "the server sent 2 tool results, and the model was given 1"},
		{name: "32 of many", check: check, caseID: "thirty-three", verdict: report.Fail, message: "the server sent 33 tool results, and the model was given 32",
			tell: many(lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:32] }))},
		{name: "many, of which all but one are empty", check: check, caseID: "thirty-three", verdict: report.Fail, message: "the model never saw the result for call_1",
			tell: many(lastTurn(func(blocks []map[string]any) []map[string]any {
				for _, b := range blocks[1:] {
					b["content"] = []any{}
				}
				return blocks
			}))},
		{name: "one of them empty", check: check, caseID: "two-cities", verdict: report.Fail, message: "the model never saw the result for call_b",
			tell: told(each("tool_result", func(b map[string]any) {
				if b["toolUseId"] == "call_b" {
					b["content"] = []any{}
				}
			}))},
		{name: "both under one id", check: check, caseID: "two-cities", verdict: report.Fail, message: "the model was given two results under the id call_a",
			tell: told(each("tool_result", func(b map[string]any) { b["toolUseId"] = "call_a" }))},
		{name: "as a text of the user's", check: check, caseID: "two-cities", verdict: report.Fail, message: "the server sent 2 tool results, and the model was given 0",
			tell: told(func(messages []turn) []turn {
				return append(messages[:2], turn{Role: "user", Content: server.Text("fifteen degrees, eighteen degrees")})
			})},
		{name: "all, in a request that the model refuses", check: check, caseID: "two-cities", dialects: openAI, verdict: report.Fail,
			message: "the model refused the request with the tool results",
			tell: func(s *story) {
				wants(twoUses())(s)
				more := askingForWeather().After(json.RawMessage(twoUses()), weatherResults)
				s.asks(more).prompt(string(dialect.Marshal(asChat(more))), trace.ModelEnd{Status: 400, Refused: "not in this order"}).refuses(-32603, "no")
			}},
		{name: "to no model that we know", check: check, caseID: "two-cities", verdict: report.NotObserved,
			message: "the model was never asked for sampling request 2: nothing reached the fake model under the case's mark",
			tell: func(s *story) {
				wants(twoUses())(s)
				s.asks(askingForWeather().After(json.RawMessage(twoUses()), weatherResults)).answers(saying("Fine."))
			}},
	})
}

func TestResultsKeepTheirIDs(t *testing.T) {
	const check, own = "parallel/results-order", "every result stands under its own id"
	told := func(edit func([]turn) []turn) func(*story) { return goesOn(twoUses(), weatherResults, edit) }
	swapped := each("tool_result", func(b map[string]any) {
		b["toolUseId"] = map[any]string{"call_a": "call_b", "call_b": "call_a"}[b["toolUseId"]]
	})
	reverseUses := func(messages []turn) []turn {
		slices.Reverse(messages[1].Content.([]map[string]any))
		return messages
	}
	hold(t, []telling{
		{name: "they do", check: check, caseID: "two-cities", tell: told(asItIs), verdict: report.Pass, message: own},
		{name: "in another order", check: check, caseID: "two-cities", verdict: report.Pass, message: own,
			tell: told(lastTurn(func(blocks []map[string]any) []map[string]any { slices.Reverse(blocks); return blocks }))},
		{name: "under ids of the client's own", check: check, caseID: "two-cities", tell: told(renames), verdict: report.Pass, message: own},
		{name: "under its own ids, and the uses in another order", check: check, caseID: "two-cities", verdict: report.Pass, message: own,
			tell: told(func(messages []turn) []turn { return renames(reverseUses(messages)) })},
		{name: "beside uses that lost their arguments, in another order", check: check, caseID: "two-cities", verdict: report.Pass, message: own,
			tell: told(func(messages []turn) []turn {
				return each("tool_use", func(b map[string]any) { b["input"] = object{} })(reverseUses(messages))
			})},
		{name: "under ids of the client's own, beside uses that lost their arguments", check: check, caseID: "two-cities", verdict: report.Pass, message: own,
			tell: told(func(messages []turn) []turn {
				return each("tool_use", func(b map[string]any) { b["input"] = object{} })(renames(messages))
			})},
		{name: "they are swapped", check: check, caseID: "two-cities", tell: told(swapped), verdict: report.Fail,
			message: "the result for call_b was given to the model as the result for call_a"},
		{name: "they are renamed and swapped", check: check, caseID: "two-cities", verdict: report.Fail,
			tell:    told(func(messages []turn) []turn { return renames(swapped(messages)) }),
			message: "the result for own-2 was given to the model as the result for own-1"},
		{name: "one did not arrive", check: check, caseID: "two-cities", verdict: report.NotObserved, message: "not all results reached the model (see parallel/results-reach-model)",
			tell: told(lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] }))},
		{name: "one is empty", check: check, caseID: "two-cities", verdict: report.NotObserved, message: "the result for call_b did not reach the model (see parallel/results-reach-model)",
			tell: told(lastTurn(func(blocks []map[string]any) []map[string]any { blocks[0]["content"] = []any{}; return blocks }))},
	})
}

func TestTheAssistantsTurnIsRestated(t *testing.T) {
	const check, whole = "parallel/uses-restated", "the assistant's turn was restated whole"
	told := func(edit func([]turn) []turn) func(*story) { return goesOn(twoUses(), weatherResults, edit) }
	hold(t, []telling{
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

func TestTheModelSeesThatAToolFailed(t *testing.T) {
	const check, seen, unseen = "parallel/error-result", "the model can tell that the tool failed", "the model cannot tell the failed tool's result from the others"
	uses := wanting([3]string{"call_a", "get_weather", paris}, [3]string{"call_b", "get_weather", london}, [3]string{"call_c", "get_weather", `{"city":"Atlantis"}`})
	told := func(edit func([]turn) []turn) func(*story) { return goesOn(uses, oneFails, edit) }
	unflagged := each("tool_result", func(b map[string]any) { delete(b, "isError") })
	saying := func(text string) func([]turn) []turn {
		return func(messages []turn) []turn {
			return append(unflagged(messages), turn{Role: "user", Content: server.Text(text)})
		}
	}
	// numbering tells with each result which of them it is, and whatever else is to be told.
	numbering := func(more func(b map[string]any) string) func([]turn) []turn {
		n := 0
		return each("tool_result", func(b map[string]any) {
			n++
			b["content"] = append([]any{server.Text(fmt.Sprintf("Result %c%s:", 'A'+n%3, more(b)))}, b["content"].([]any)...)
			delete(b, "isError")
		})
	}
	long := strings.Repeat("a long story, ", 60)
	hold(t, []telling{
		{name: "by a flag, or a word before the text", check: check, caseID: "failing-tool", tell: told(asItIs), verdict: report.Pass, message: seen},
		{name: "by a word at the end of much else", check: check, caseID: "failing-tool", verdict: report.Pass, message: seen,
			tell: told(each("tool_result", func(b map[string]any) {
				end := "Outcome: success"
				if b["isError"] == true {
					end = "Outcome: failure"
				}
				delete(b, "isError")
				b["content"] = append(b["content"].([]any), server.Text(long+end))
			}))},
		{name: "under ids of the client's own", check: check, caseID: "failing-tool", tell: told(renames), verdict: report.Pass, message: seen},
		{name: "in a JSON wrapping of the client's", check: check, caseID: "failing-tool", verdict: report.Pass, message: seen,
			tell: told(each("tool_result", func(b map[string]any) {
				b["content"] = []any{server.Text(string(dialect.Marshal(object{"ok": b["isError"] != true, "result": b["content"]})))}
				delete(b, "isError")
			}))},
		{name: "by a word, where each result says in words what it is for", check: check, caseID: "failing-tool", verdict: report.Pass, message: seen,
			tell: told(numbering(func(b map[string]any) string {
				if b["isError"] == true {
					return " failed"
				}
				return ""
			}))},
		{name: "not where each result says what it is for, and none that it failed", check: check, caseID: "failing-tool", verdict: report.Fail, message: unseen,
			tell: told(numbering(func(map[string]any) string { return "" }))},
		{name: "not where each result says what was asked for", check: check, caseID: "failing-tool", verdict: report.Fail, message: unseen,
			tell: told(each("tool_result", func(b map[string]any) {
				city := map[any]string{"call_a": "Paris", "call_b": "London", "call_c": "Atlantis"}[b["toolUseId"]]
				b["content"] = append([]any{server.Text("get_weather(" + city + "):")}, b["content"].([]any)...)
				delete(b, "isError")
			}))},
		{name: "by a text beside the results", check: check, caseID: "failing-tool", tell: told(saying("Note: the second tool FAILED.")),
			verdict: report.Pass, message: "the model is told beside the results that the tool failed"},
		{name: "not at all", check: check, caseID: "failing-tool", tell: told(unflagged), verdict: report.Fail, message: unseen},
		{name: "not by a text that says nothing of it", check: check, caseID: "failing-tool", tell: told(saying("Go on.")), verdict: report.Fail, message: unseen},
		{name: "not where all are marked", check: check, caseID: "failing-tool", verdict: report.Fail, message: unseen,
			tell: told(each("tool_result", func(b map[string]any) { b["isError"] = true }))},
		{name: "nor where one did not arrive", check: check, caseID: "failing-tool", verdict: report.NotObserved, message: "not all results reached the model, each by itself (see parallel/results-reach-model)",
			tell: told(lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] }))},
	})
}

func TestWhatIsInAResultReachesTheModel(t *testing.T) {
	var tellings []telling
	for _, r := range rich {
		results := r.results
		add := func(name string, tell func(*story), verdict report.Verdict, message string, in []server.Revision, dialects []string) {
			tellings = append(tellings, telling{name: r.id + " " + name, check: "parallel/result-content", caseID: "result-" + r.id, tell: tell,
				verdict: verdict, message: message, in: in, dialects: dialects})
		}
		told := func(edit func([]turn) []turn) func(*story) { return goesOn(twoUses(), results, edit) }
		add("arrives", told(asItIs), report.Pass, "the content reached the model", nil, nil)
		add("is refused", func(s *story) {
			wants(twoUses())(s)
			s.asks(askingForWeather().After(json.RawMessage(twoUses()), results)).refuses(-32603, "no such content")
		}, report.Pass, `the client does not pass this on, and says so: "no such content" (code -32603)`, inA, nil)
		add("is not gone on with", func(s *story) {
			wants(twoUses())(s)
			s.asks(askingForWeather().After(json.RawMessage(twoUses()), results))
		}, report.Pass, "the client does not pass this on, and says so: it did not fulfil the input request", inB, nil)
		add("ends the client", func(s *story) {
			wants(twoUses())(s)
			s.asks(askingForWeather().After(json.RawMessage(twoUses()), results)).ends(trace.Process{Panic: "no such content"})
		}, report.NotObserved, "the model was never asked for sampling request 2: nothing reached the fake model under the case's mark", nil, nil)
		if len(r.markers) > 1 {
			add("is told in part", told(each("tool_result", func(b map[string]any) {
				if blocks := b["content"].([]any); len(blocks) > 1 {
					b["content"] = blocks[:len(blocks)-1]
				}
			})), report.Fail, fmt.Sprintf("a tool result's content never reached the model (%s)", r.id), nil, nil)
		}
		if r.markers != nil {
			add("is blanked", told(each("tool_result", func(b map[string]any) {
				b["content"] = []any{}
				delete(b, "structuredContent")
			})), report.Fail, fmt.Sprintf("a tool result's content never reached the model (%s)", r.id), nil, nil)
		}
		add("is left out", told(lastTurn(func(blocks []map[string]any) []map[string]any {
			if r.markers != nil { // what it held is told elsewhere
				blocks[1]["content"] = append(blocks[1]["content"].([]any), server.Text(strings.Join(r.markers, " ")))
			}
			return blocks[1:]
		})), report.Fail, fmt.Sprintf("a tool result never reached the model (%s)", r.id), nil, nil)
	}
	add := func(name, kind string, verdict report.Verdict, message string, edit func(b map[string]any)) {
		i := slices.IndexFunc(rich, func(r richResult) bool { return r.id == kind })
		tellings = append(tellings, telling{name: name, check: "parallel/result-content", caseID: "result-" + kind, verdict: verdict, message: message,
			tell: goesOn(twoUses(), rich[i].results, each("tool_result", func(b map[string]any) {
				if b["toolUseId"] == "call_a" {
					edit(b)
				}
			}))})
	}
	add("structured content alone, where a text says the same", "structured-and-text", report.Pass, "the content reached the model", func(b map[string]any) { b["content"] = []any{} })
	add("a text alone, where structured content says the same", "structured-and-text", report.Pass, "the content reached the model", func(b map[string]any) { delete(b, "structuredContent") })
	add("structured content as a text", "structured", report.Pass, "the content reached the model", func(b map[string]any) {
		b["content"] = []any{server.Text(string(dialect.Marshal(b["structuredContent"])))}
		delete(b, "structuredContent")
	})
	add("a placeholder for audio", "audio", report.Fail, "a tool result's content never reached the model (audio)", func(b map[string]any) { b["content"] = []any{server.Text("[audio]")} })
	add("one image twice", "images", report.Fail, "a tool result's content never reached the model (images)", func(b map[string]any) {
		b["content"] = []any{server.Text("both maps: " + base64Of(weatherMap) + base64Of(weatherMap))}
	})
	image := func(body map[string]any) func(*story) {
		return goesOn(twoUses(), rich[1].results, each("tool_result", func(b map[string]any) {
			if b["toolUseId"] == "call_a" {
				b["content"] = []any{body}
			}
		}))
	}
	hold(t, append(tellings,
		telling{name: "image in another format", check: "parallel/result-content", caseID: "result-image", dialects: []string{dialect.Native}, verdict: report.Pass,
			message: "the content reached the model", tell: image(object{"type": "image", "mimeType": "image/webp", "data": "AAAA"})},
		telling{name: "image in JSON in a text, its slashes escaped", check: "parallel/result-content", caseID: "result-image", verdict: report.Pass,
			message: "the content reached the model",
			tell:    image(object{"type": "text", "text": `{"image":"` + strings.ReplaceAll(base64Of(weatherMap), "/", `\/`) + `"}`})},
		telling{name: "image as words", check: "parallel/result-content", caseID: "result-image", verdict: report.Fail,
			message: "a tool result's content never reached the model (image)", tell: image(object{"type": "text", "text": "[image]"})},
		telling{name: "image without data", check: "parallel/result-content", caseID: "result-image", verdict: report.Fail,
			message: "a tool result's content never reached the model (image)", tell: image(object{"type": "image", "mimeType": "image/png", "data": ""})}))
}

func TestThirtyThreeToolUsesComeBackOrAreRefused(t *testing.T) {
	const check = "parallel/over-32-calls"
	hold(t, []telling{
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
