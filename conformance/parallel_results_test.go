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

func TestResultsReachTheModel(t *testing.T) {
	const check, all = "parallel/results-reach-model", "all 2 results reached the model"
	told := func(edit func([]turn) []turn) func(*story) { return goesOn(twoUses(), weatherResults, edit) }
	many := func(edit func([]turn) []turn) func(*story) { return goesOn(manyUses(33), texts("mild"), edit) }
	firstOnly := lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] })
	hold(t, catalogue, []telling{
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
	hold(t, catalogue, []telling{
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
	hold(t, catalogue, []telling{
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
	hold(t, catalogue, append(tellings,
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
