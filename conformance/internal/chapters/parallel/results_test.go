package parallel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestResultsReachTheModel(t *testing.T) {
	const check, all = "parallel/results-reach-model", "all 2 results reached the model"
	told := func(edit func([]tracetest.Turn) []tracetest.Turn) func(*tracetest.Story) {
		return tracetest.GoesOn(tracetest.TwoUses(), tracetest.WeatherResults, edit)
	}
	many := func(edit func([]tracetest.Turn) []tracetest.Turn) func(*tracetest.Story) {
		return tracetest.GoesOn(manyUses(33), story.Texts("mild"), edit)
	}
	firstOnly := lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] })
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "all", Check: check, CaseID: "two-cities", Steps: told(tracetest.AsItIs), Verdict: report.Pass, Message: all},
		{Name: "under ids of the client's own", Check: check, CaseID: "two-cities", Steps: told(renames), Verdict: report.Pass, Message: all},
		{Name: "in a JSON wrapping", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: all,
			Steps: told(each("tool_result", func(b map[string]any) {
				b["content"] = []any{server.Text(string(dialect.Marshal(story.Object{"result": b["content"], "ok": true})))}
			}))},
		{Name: "many", Check: check, CaseID: "thirty-three", Steps: many(tracetest.AsItIs), Verdict: report.Pass, Message: "all 33 results reached the model"},
		{Name: "the first", Check: check, CaseID: "two-cities", Steps: told(firstOnly), Verdict: report.Fail,
			Message: "the server sent 2 tool results, and the model was given 1"},
		{Name: "32 of many", Check: check, CaseID: "thirty-three", Verdict: report.Fail, Message: "the server sent 33 tool results, and the model was given 32",
			Steps: many(lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:32] }))},
		{Name: "many, of which all but one are empty", Check: check, CaseID: "thirty-three", Verdict: report.Fail, Message: "the model never saw the result for call_1",
			Steps: many(lastTurn(func(blocks []map[string]any) []map[string]any {
				for _, b := range blocks[1:] {
					b["content"] = []any{}
				}
				return blocks
			}))},
		{Name: "one of them empty", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "the model never saw the result for call_b",
			Steps: told(each("tool_result", func(b map[string]any) {
				if b["toolUseId"] == "call_b" {
					b["content"] = []any{}
				}
			}))},
		{Name: "both under one id", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "the model was given two results under the id call_a",
			Steps: told(each("tool_result", func(b map[string]any) { b["toolUseId"] = "call_a" }))},
		{Name: "as a text of the user's", Check: check, CaseID: "two-cities", Verdict: report.Fail, Message: "the server sent 2 tool results, and the model was given 0",
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn {
				return append(messages[:2], tracetest.Turn{Role: "user", Content: server.Text("fifteen degrees, eighteen degrees")})
			})},
		{Name: "all, in a request that the model refuses", Check: check, CaseID: "two-cities", Dialects: tracetest.OpenAI, Verdict: report.Fail,
			Message: "the model refused the request with the tool results",
			Steps: func(s *tracetest.Story) {
				tracetest.Wants(tracetest.TwoUses())(s)
				more := tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), tracetest.WeatherResults)
				s.Asks(more).Prompt(string(dialect.Marshal(tracetest.AsChat(more))), trace.ModelEnd{Status: 400, Refused: "not in this order"}).Refuses(-32603, "no")
			}},
		{Name: "to no model that we know", Check: check, CaseID: "two-cities", Verdict: report.NotObserved,
			Message: "the model received no request for sampling request 2: none had the mark of the case",
			Steps: func(s *tracetest.Story) {
				tracetest.Wants(tracetest.TwoUses())(s)
				s.Asks(tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), tracetest.WeatherResults)).Answers(tracetest.Saying("Fine."))
			}},
	})
}

func TestResultsKeepTheirIDs(t *testing.T) {
	const check, own = "parallel/results-order", "every result stands under its own id"
	told := func(edit func([]tracetest.Turn) []tracetest.Turn) func(*tracetest.Story) {
		return tracetest.GoesOn(tracetest.TwoUses(), tracetest.WeatherResults, edit)
	}
	swapped := each("tool_result", func(b map[string]any) {
		b["toolUseId"] = map[any]string{"call_a": "call_b", "call_b": "call_a"}[b["toolUseId"]]
	})
	reverseUses := func(messages []tracetest.Turn) []tracetest.Turn {
		slices.Reverse(messages[1].Content.([]map[string]any))
		return messages
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "they do", Check: check, CaseID: "two-cities", Steps: told(tracetest.AsItIs), Verdict: report.Pass, Message: own},
		{Name: "in another order", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: own,
			Steps: told(lastTurn(func(blocks []map[string]any) []map[string]any { slices.Reverse(blocks); return blocks }))},
		{Name: "under ids of the client's own", Check: check, CaseID: "two-cities", Steps: told(renames), Verdict: report.Pass, Message: own},
		{Name: "under its own ids, and the uses in another order", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: own,
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn { return renames(reverseUses(messages)) })},
		{Name: "beside uses that lost their arguments, in another order", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: own,
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn {
				return each("tool_use", func(b map[string]any) { b["input"] = story.Object{} })(reverseUses(messages))
			})},
		{Name: "under ids of the client's own, beside uses that lost their arguments", Check: check, CaseID: "two-cities", Verdict: report.Pass, Message: own,
			Steps: told(func(messages []tracetest.Turn) []tracetest.Turn {
				return each("tool_use", func(b map[string]any) { b["input"] = story.Object{} })(renames(messages))
			})},
		{Name: "they are swapped", Check: check, CaseID: "two-cities", Steps: told(swapped), Verdict: report.Fail,
			Message: "the result for call_b was given to the model as the result for call_a"},
		{Name: "they are renamed and swapped", Check: check, CaseID: "two-cities", Verdict: report.Fail,
			Steps:   told(func(messages []tracetest.Turn) []tracetest.Turn { return renames(swapped(messages)) }),
			Message: "the result for own-2 was given to the model as the result for own-1"},
		{Name: "one did not arrive", Check: check, CaseID: "two-cities", Verdict: report.NotObserved, Message: "not all results reached the model (see parallel/results-reach-model)",
			Steps: told(lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] }))},
		{Name: "one is empty", Check: check, CaseID: "two-cities", Verdict: report.NotObserved, Message: "the result for call_b did not reach the model (see parallel/results-reach-model)",
			Steps: told(lastTurn(func(blocks []map[string]any) []map[string]any { blocks[0]["content"] = []any{}; return blocks }))},
	})
}

func TestTheModelSeesThatAToolFailed(t *testing.T) {
	const check, seen, unseen = "parallel/error-result", "the model can tell that the tool failed", "the model cannot tell the failed tool's result from the others"
	uses := tracetest.Wanting([3]string{"call_a", "get_weather", tracetest.Paris}, [3]string{"call_b", "get_weather", tracetest.London}, [3]string{"call_c", "get_weather", `{"city":"Atlantis"}`})
	told := func(edit func([]tracetest.Turn) []tracetest.Turn) func(*tracetest.Story) {
		return tracetest.GoesOn(uses, tracetest.OneFails, edit)
	}
	unflagged := each("tool_result", func(b map[string]any) { delete(b, "isError") })
	saying := func(text string) func([]tracetest.Turn) []tracetest.Turn {
		return func(messages []tracetest.Turn) []tracetest.Turn {
			return append(unflagged(messages), tracetest.Turn{Role: "user", Content: server.Text(text)})
		}
	}
	// numbering tells with each result which of them it is, and whatever else is to be told.
	numbering := func(more func(b map[string]any) string) func([]tracetest.Turn) []tracetest.Turn {
		n := 0
		return each("tool_result", func(b map[string]any) {
			n++
			b["content"] = append([]any{server.Text(fmt.Sprintf("Result %c%s:", 'A'+n%3, more(b)))}, b["content"].([]any)...)
			delete(b, "isError")
		})
	}
	long := strings.Repeat("a long story, ", 60)
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "by a flag, or a word before the text", Check: check, CaseID: "failing-tool", Steps: told(tracetest.AsItIs), Verdict: report.Pass, Message: seen},
		{Name: "by a word at the end of much else", Check: check, CaseID: "failing-tool", Verdict: report.Pass, Message: seen,
			Steps: told(each("tool_result", func(b map[string]any) {
				end := "Outcome: success"
				if b["isError"] == true {
					end = "Outcome: failure"
				}
				delete(b, "isError")
				b["content"] = append(b["content"].([]any), server.Text(long+end))
			}))},
		{Name: "under ids of the client's own", Check: check, CaseID: "failing-tool", Steps: told(renames), Verdict: report.Pass, Message: seen},
		{Name: "in a JSON wrapping of the client's", Check: check, CaseID: "failing-tool", Verdict: report.Pass, Message: seen,
			Steps: told(each("tool_result", func(b map[string]any) {
				b["content"] = []any{server.Text(string(dialect.Marshal(story.Object{"ok": b["isError"] != true, "result": b["content"]})))}
				delete(b, "isError")
			}))},
		{Name: "by a word, where each result says in words what it is for", Check: check, CaseID: "failing-tool", Verdict: report.Pass, Message: seen,
			Steps: told(numbering(func(b map[string]any) string {
				if b["isError"] == true {
					return " failed"
				}
				return ""
			}))},
		{Name: "not where each result says what it is for, and none that it failed", Check: check, CaseID: "failing-tool", Verdict: report.Fail, Message: unseen,
			Steps: told(numbering(func(map[string]any) string { return "" }))},
		{Name: "not where each result says what was asked for", Check: check, CaseID: "failing-tool", Verdict: report.Fail, Message: unseen,
			Steps: told(each("tool_result", func(b map[string]any) {
				city := map[any]string{"call_a": "Paris", "call_b": "London", "call_c": "Atlantis"}[b["toolUseId"]]
				b["content"] = append([]any{server.Text("get_weather(" + city + "):")}, b["content"].([]any)...)
				delete(b, "isError")
			}))},
		{Name: "by a text beside the results", Check: check, CaseID: "failing-tool", Steps: told(saying("Note: the second tool FAILED.")),
			Verdict: report.Pass, Message: "the model is told beside the results that the tool failed"},
		{Name: "not at all", Check: check, CaseID: "failing-tool", Steps: told(unflagged), Verdict: report.Fail, Message: unseen},
		{Name: "not by a text that says nothing of it", Check: check, CaseID: "failing-tool", Steps: told(saying("Go on.")), Verdict: report.Fail, Message: unseen},
		{Name: "not where all are marked", Check: check, CaseID: "failing-tool", Verdict: report.Fail, Message: unseen,
			Steps: told(each("tool_result", func(b map[string]any) { b["isError"] = true }))},
		{Name: "nor where one did not arrive", Check: check, CaseID: "failing-tool", Verdict: report.NotObserved, Message: "not all results reached the model, each by itself (see parallel/results-reach-model)",
			Steps: told(lastTurn(func(blocks []map[string]any) []map[string]any { return blocks[:1] }))},
	})
}

func TestWhatIsInAResultReachesTheModel(t *testing.T) {
	var tellings []tracetest.Test
	for _, r := range rich {
		results := r.results
		add := func(name string, tell func(*tracetest.Story), verdict report.Verdict, message string, in []server.Revision, dialects []string) {
			tellings = append(tellings, tracetest.Test{Name: r.id + " " + name, Check: "parallel/result-content", CaseID: "result-" + r.id, Steps: tell,
				Verdict: verdict, Message: message, In: in, Dialects: dialects})
		}
		told := func(edit func([]tracetest.Turn) []tracetest.Turn) func(*tracetest.Story) {
			return tracetest.GoesOn(tracetest.TwoUses(), results, edit)
		}
		add("arrives", told(tracetest.AsItIs), report.Pass, "the content reached the model", nil, nil)
		add("is refused", func(s *tracetest.Story) {
			tracetest.Wants(tracetest.TwoUses())(s)
			s.Asks(tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), results)).Refuses(-32603, "no such content")
		}, report.Pass, `the client does not pass this on, and says so: "no such content" (code -32603)`, tracetest.InA, nil)
		add("is not gone on with", func(s *tracetest.Story) {
			tracetest.Wants(tracetest.TwoUses())(s)
			s.Asks(tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), results))
		}, report.Pass, "the client does not pass this on, and says so: it did not fulfil the input request", tracetest.InB, nil)
		add("ends the client", func(s *tracetest.Story) {
			tracetest.Wants(tracetest.TwoUses())(s)
			s.Asks(tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), results)).Ends(trace.Process{Panic: "no such content"})
		}, report.NotObserved, "the model received no request for sampling request 2: none had the mark of the case", nil, nil)
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
		tellings = append(tellings, tracetest.Test{Name: name, Check: "parallel/result-content", CaseID: "result-" + kind, Verdict: verdict, Message: message,
			Steps: tracetest.GoesOn(tracetest.TwoUses(), rich[i].results, each("tool_result", func(b map[string]any) {
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
		b["content"] = []any{server.Text("both maps: " + story.Base64Of(story.WeatherMap) + story.Base64Of(story.WeatherMap))}
	})
	image := func(body map[string]any) func(*tracetest.Story) {
		return tracetest.GoesOn(tracetest.TwoUses(), rich[1].results, each("tool_result", func(b map[string]any) {
			if b["toolUseId"] == "call_a" {
				b["content"] = []any{body}
			}
		}))
	}
	tracetest.Run(t, catalogue, append(tellings,
		tracetest.Test{Name: "image in another format", Check: "parallel/result-content", CaseID: "result-image", Dialects: []string{dialect.Native}, Verdict: report.Pass,
			Message: "the content reached the model", Steps: image(story.Object{"type": "image", "mimeType": "image/webp", "data": "AAAA"})},
		tracetest.Test{Name: "image in JSON in a text, its slashes escaped", Check: "parallel/result-content", CaseID: "result-image", Verdict: report.Pass,
			Message: "the content reached the model",
			Steps:   image(story.Object{"type": "text", "text": `{"image":"` + strings.ReplaceAll(story.Base64Of(story.WeatherMap), "/", `\/`) + `"}`})},
		tracetest.Test{Name: "image as words", Check: "parallel/result-content", CaseID: "result-image", Verdict: report.Fail,
			Message: "a tool result's content never reached the model (image)", Steps: image(story.Object{"type": "text", "text": "[image]"})},
		tracetest.Test{Name: "image without data", Check: "parallel/result-content", CaseID: "result-image", Verdict: report.Fail,
			Message: "a tool result's content never reached the model (image)", Steps: image(story.Object{"type": "image", "mimeType": "image/png", "data": ""})}))
}
