package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// read returns what the model's answer becomes, as JSON.
func read(m *Model, params, answer string) (string, error) {
	p, err := jsonvalue.ReadObject([]byte(params))
	if err != nil {
		return "", err
	}
	x, err := m.exchange(p)
	if err != nil {
		return "", err
	}
	turn, err := x.read(strings.NewReader(answer))
	if err != nil {
		return "", err
	}
	result := turn.result()
	err = settle(p, result)
	return string(jsonvalue.Marshal(result)), err
}

const asked = `{"maxTokens":70,"tools":[{"name":"add"}],"messages":[{"role":"user","content":{"type":"text",` +
	`"text":"?"}}]}`

// events returns a stream of events.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("event: x\ndata: " + d + "\n\n")
	}
	return b.String()
}

// The results that the answers below become.
func said(text, reason string) string {
	return `{"content":{"text":"` + text + `","type":"text"},"model":"m","role":"assistant","stopReason":"` + reason + `"}`
}

func used(reason string, blocks ...string) string {
	return `{"content":[` + strings.Join(blocks, ",") + `],"model":"m","role":"assistant","stopReason":"` + reason + `"}`
}

const (
	text = `{"text":"ab","type":"text"}`
	add  = `{"id":"x","input":{"n":9007199254740993},"name":"add","type":"tool_use"}`
	sub  = `{"id":"y","input":{},"name":"sub","type":"tool_use"}`
)

// answers are what providers answer, streamed unless the dialect ends in " plain", and the results or errors that they
// become.
var answers = []struct{ dialect, answer, want, wrong string }{
	{"native", `{"role":"assistant","n":9007199254740993}`, `{"n":9007199254740993,"role":"assistant"}`, ""},
	{"native", `null`, "", "expected an object, found null"},

	{"openai-chat", events(chunk(`"content":"a"`, ""), chunk(`"content":"b"`, "stop"), "[DONE]"), said("ab", "endTurn"),
		""},
	{"openai-chat", events(chunk(`"content":"ab"`, "length"), "[DONE]"), said("ab", "maxTokens"), ""},
	{"openai-chat", events(chunk(`"refusal":"no"`, "stop"), "[DONE]"), said("no", "refusal"), ""},
	{"openai-chat", events(chunk(``, "stop"), chunk(`"content":"late"`, ""), "[DONE]"), said("late", "endTurn"), ""},
	{"openai-chat", events(chunk(`"tool_calls":[{"index":1,"id":"y","function":{"name":"sub"}}]`, ""),
		chunk(`"tool_calls":[{"index":0,"id":"x","function":{"name":"add","arguments":"{\"n\":90"}}]`, ""),
		chunk(`"tool_calls":[{"index":0,"function":{"arguments":"07199254740993}"}}]`, "tool_calls"), "[DONE]"),
		used("toolUse", add, sub), ""},
	{"openai-chat", events(chunk(`"tool_calls":[{"id":"x","function":{"name":"add","arguments":"{"}}]`, "tool_calls"),
		"[DONE]"), "",
		"the model gave arguments that are not a JSON object (code -32603)"},
	{"openai-chat", events(chunk(`"content":"a"`, "stop")), said("a", "endTurn"), ""},
	{"openai-chat", events(`{"error":{}}`, "[DONE]"), "", errInStream.Error()},
	{"openai-chat plain", `{"model":"m","choices":[{"message":{"content":"ab","tool_calls":[{"id":"y",` +
		`"function":{"name":"sub"}}]}}]}`,
		used("toolUse", text, sub), ""},
	{"openai-chat plain", `{"choices":[]}`, "", "the completion has no choices"},

	{"openai-responses", events(created, item(message(`"text":"a"`)), ended("completed", "")), said("a", "endTurn"), ""},
	{"openai-responses", events(created, item(message(`"text":"a"`)), ended("incomplete", "max_output_tokens")),
		said("a", "maxTokens"), ""},
	{"openai-responses", events(created, item(message(`"text":"a"`)), ended("incomplete", "content_filter")), said("a",
		"content_filter"), ""},
	{"openai-responses", events(created, item(message(`"text":"a"`)), ended("cancelled", "")), said("a", "cancelled"), ""},
	{"openai-responses", events(created, item(message(`"type":"refusal","refusal":"no"`)), ended("completed", "")),
		said("no", "refusal"), ""},
	{"openai-responses", events(created, item(`{"type":"reasoning","content":[{"text":"hm"}]}`),
		item(message(`"text":"ab"`)),
		item(`{"type":"function_call","id":"fc","call_id":"x","name":"add",`+
			`"arguments":"{\"n\":9007199254740993}"}`), ended("completed", "")),
		used("toolUse", text, add), ""},
	{"openai-responses", events(created), "", errCutShort.Error()},
	{"openai-responses", events(created, `{"type":"error"}`), "", errInStream.Error()},
	{"openai-responses", events(created, ended("failed", "")), "", "the provider failed to answer"},
	{"openai-responses", events(created, `{"type":`), "", "unexpected end of JSON input"},
	{"openai-responses plain", `{"status":"completed","model":"m","output":[` + message(`"text":"ab"`) + `]}`, said("ab",
		"endTurn"), ""},

	{"anthropic", events(start, `{"type":"ping"}`, open0, more0, more0, stop0, open1, input1, stop1, end, stop),
		used("toolUse", text2, add), ""},
	{"anthropic", events(`{"type":"ping"}`, start, open0, open1, `{"type":"weather"}`, input1, more0, more0,
		`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}`, stop0, stop1, end, stop),
		used("toolUse", text2, add), ""},
	{"anthropic", events(start, strings.Replace(open1, "1,", "0,", 1), stop0, end, stop), used("toolUse",
		`{"id":"x","input":{},"name":"add","type":"tool_use"}`), ""},
	{"anthropic", events(start, open1, strings.Replace(input1, "}\"", "\"", 1), stop1, end, stop), "",
		"the model gave arguments that are not a JSON object (code -32603)"},
	{"anthropic", events(start, open0, more0, stop0, end), "", errCutShort.Error()},
	{"anthropic", events(start, open0, more0, end, stop), "", errCutShort.Error()},
	{"anthropic", events(open0), "", `expected message_start at the beginning of the stream, found "content_block_start"`},
	{"anthropic", events(start, open0, open0), "", "block 0 begins twice"},
	{"anthropic", events(start, more0), "", "a delta for block 0, which is not open"},
	{"anthropic", events(start, open0, stop0, more0), "", "a delta for block 0, which is not open"},
	{"anthropic", events(start, `{"type":"error"}`), "", errInStream.Error()},
	{"anthropic plain", whole0(`{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text",`+
		`"text":"b"}`, "max_tokens"), said("ab", "maxTokens"), ""},
	{"anthropic plain", whole0(`{"type":"text","text":"ab"}`, "stop_sequence"), said("ab", "stopSequence"), ""},
	{"anthropic plain", whole0(`{"type":"text","text":"ab"}`, "refusal"), said("ab", "refusal"), ""},
	{"anthropic plain", whole0(``, "model_context_window_exceeded"), said("", "model_context_window_exceeded"), ""},
	{"anthropic plain", whole0(`{"type":"text","text":"ab"},`+add, "end_turn"), used("toolUse", text, add), ""},
	{"anthropic plain", `{"type":"error"}`, "", `expected a message, found type "error"`},
	{"anthropic plain", `{`, "", "unexpected EOF"},

	{"gemini", events(part(`{"text":"a"}`, ""), part(`{"text":"hm","thought":true},{"text":"b"}`, "STOP")), said("ab",
		"endTurn"), ""},
	{"gemini", events(part(`{"text":"a"}`, "STOP"), part(`{"text":"b"}`, "")), said("ab", "endTurn"), ""},
	{"gemini", events(part(``, "STOP")), said("", "endTurn"), ""},
	{"gemini", events(part(`{"functionCall":{"id":"y","name":"sub"}}`, "MAX_TOKENS")), used("maxTokens", sub), ""},
	{"gemini", events(part(`{"functionCall":{"id":"y","name":"sub"}},{"text":"ab"}`, "STOP")), used("toolUse", sub,
		text), ""},
	{"gemini", events(part(`{"text":"ab"}`, "SAFETY")), said("ab", "SAFETY"), ""},
	{"gemini", events(part(``, "SAFETY")), "", "the model gave no answer (code -32603)"},
	{"gemini", events(part(``, "MALFORMED_FUNCTION_CALL")), "",
		"the model made a tool call that cannot be read (code -32603)"},
	{"gemini", events(part(`{"functionCall":{"name":"f","args":[]}}`, "STOP")), "",
		"the model gave arguments that are not a JSON object (code -32603)"},
	{"gemini", events(`{"promptFeedback":{"blockReason":"OTHER"}}`), "", "the provider blocked the prompt: OTHER"},
	{"gemini", events(part(`{"text":"a"}`, ""), `{"error":{"code":503}}`), "", errInStream.Error()},
	{"gemini", events(part(`{"text":"a"}`, "")), "", errCutShort.Error()},
	{"gemini plain", part(`{"text":"ab"}`, "STOP"), said("ab", "endTurn"), ""},
	{"gemini plain", part(`{"text":"ab"}`, ""), "", errCutShort.Error()},

	{"openai-chat plain", `{"model":"m","choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text",` +
		`"text":"hm"}]},{"type":"text","text":"ab"}]},"finish_reason":"stop"}]}`, said("ab", "endTurn"), ""},
	{"openai-chat", events(`{"model":"m","choices":[{"delta":{"content":[{"type":"thinking","thinking":[]}]}}]}`,
		`{"choices":[{"delta":{"content":"ab"},"finish_reason":"stop"}]}`), said("ab", "endTurn"), ""},
	{"ollama", line(`{"content":"a","thinking":"hm"}`) + line(`{"content":"b"}`) + last(`{}`, "stop"), said("ab",
		"endTurn"), ""},
	{"ollama", line(`{"content":"ab"}`) + last(`{}`, "length"), said("ab", "maxTokens"), ""},
	{"ollama", last(`{}`, "stop"), said("", "endTurn"), ""},
	{"ollama", line(`{"content":"ab"}`) + line(`{"tool_calls":[{"id":"x","function":{"name":"add",`+
		`"arguments":{"n":9007199254740993}}}]}`) +
		last(`{"tool_calls":[{"id":"y","function":{"name":"sub","arguments":{}}}]}`, "stop"), used("toolUse", text, add,
		sub), ""},
	{"ollama", last(`{"tool_calls":[{"function":{"name":"sub"}},{"function":{"name":"sub"}}]}`, "stop"),
		used("toolUse", strings.Replace(sub, "y", "call_1_1", 1), strings.Replace(sub, "y", "call_1_2", 1)), ""},
	{"ollama", line(`{"content":"a"}`), "", errCutShort.Error()},
	{"ollama", "", "", errCutShort.Error()},
	{"ollama", line(`{"content":"a"}`) + `{"error":"out of memory"}`, "", errInStream.Error()},
	{"ollama", line(`{"content":"a"}`) + `{"mod`, "", "unexpected EOF"},

	{"cohere-chat", events(begun, part0("start", `"type":"thinking","thinking":""`), part0("delta", `"thinking":"hm"`),
		`{"type":"content-end","index":0}`, part0("start", `"type":"text","text":""`), part0("delta", `"text":"a"`),
		part0("delta", `"text":"b"`), `{"type":"citation-start","index":0,"delta":{}}`, over("COMPLETE")),
		ofCohere(said("ab", "endTurn")), ""},
	{"cohere-chat", events(begun, part0("delta", `"text":"ab"`), over("STOP_SEQUENCE")), ofCohere(said("ab",
		"stopSequence")), ""},
	{"cohere-chat", events(begun, `{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"ab"}}}`,
		call0("start", 1, `"id":"y","function":{"name":"sub","arguments":""}`),
		call0("start", 0, `"id":"x","function":{"name":"add","arguments":""}`),
		call0("delta", 0, `"function":{"arguments":"{\"n\":9007"}`),
		call0("delta", 0, `"function":{"arguments":"199254740993}"}`), over("TOOL_CALL")),
		ofCohere(used("toolUse", text, add, sub)), ""},
	{"cohere-chat", events(call0("delta", 0, `"function":{"arguments":"{}"}`)), "",
		"a delta for a tool call that has not begun"},
	{"cohere-chat", events(begun, `{"type":"content-delta","delta":{"message":7}}`), "",
		"json: cannot unmarshal number into Go value of type model.cohereDelta"},
	{"cohere-chat", events(begun, over("ERROR")), "", errInStream.Error()},
	{"cohere-chat", events(begun, part0("delta", `"text":"a"`)), "", errCutShort.Error()},
	{"cohere-chat plain", `{"message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ab"}]},` +
		`"finish_reason":"MAX_TOKENS"}`, ofCohere(said("ab", "maxTokens")), ""},
	{"cohere-chat plain", `{"message":{"tool_plan":"ab","tool_calls":[{"id":"x","function":{"name":"add",` +
		`"arguments":"{\"n\":9007199254740993}"}}]},"finish_reason":"TOOL_CALL"}`,
		ofCohere(used("toolUse", text, add)), ""},
	{"cohere-chat plain", `{"message":{},"finish_reason":"ERROR"}`, "", errInStream.Error()},
	{"cohere-chat plain", `{}`, "", "the answer has no message"},
}

// begun is the first event of Cohere's streams.
const begun = `{"type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_calls":[]}}}`

func part0(event, part string) string {
	return `{"type":"content-` + event + `","index":0,"delta":{"message":{"content":{` + part + `}}}}`
}

func call0(event string, index int, call string) string {
	return fmt.Sprintf(`{"type":"tool-call-%s","index":%d,"delta":{"message":{"tool_calls":{%s}}}}`, event, index, call)
}

func over(reason string) string {
	return `{"type":"message-end","delta":{"finish_reason":"` + reason + `"}}`
}

// ofCohere is a result with the model that was asked: the answer does not name it.
func ofCohere(result string) string {
	return strings.Replace(result, `"model":"m"`, `"model":"command-a-03-2025"`, 1)
}

// Pieces of the answers.
const (
	created = `{"type":"response.created","response":{"status":"in_progress"}}`
	start   = `{"type":"message_start","message":{"model":"m"}}`
	open0   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	more0   = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so"}}`
	stop0   = `{"type":"content_block_stop","index":0}`
	open1   = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x","name":"add",` +
		`"input":{}}}`
	input1 = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta",` +
		`"partial_json":"{\"n\":9007199254740993}"}}`
	stop1 = `{"type":"content_block_stop","index":1}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`
	stop  = `{"type":"message_stop"}`
	text2 = `{"text":"soso","type":"text"}`
)

func chunk(delta, finish string) string {
	return `{"model":"m","choices":[{"delta":{` + delta + `},"finish_reason":"` + finish + `"}]}`
}

func message(part string) string { return `{"type":"message","content":[{` + part + `}]}` }

func item(item string) string { return `{"type":"response.output_item.done","item":` + item + `}` }

func ended(status, reason string) string {
	return `{"type":"response.` + status + `","response":{"model":"m","status":"` + status + `",` +
		`"incomplete_details":{"reason":"` + reason + `"}}}`
}

func whole0(content, reason string) string {
	return `{"type":"message","model":"m","content":[` + content + `],"stop_reason":"` + reason + `"}`
}

func part(parts, finish string) string {
	return `{"modelVersion":"m","candidates":[{"finishReason":"` + finish + `","content":{"parts":[` + parts + `]}}]}`
}

func line(message string) string {
	return `{"model":"m","message":` + message + `,"done":false}` + "\n"
}

func last(message, reason string) string {
	return `{"model":"m","message":` + message + `,"done":true,"done_reason":"` + reason + `"}`
}

func TestAnswersOfEachProviderAreRead(t *testing.T) {
	for _, c := range answers {
		dialect, plain := strings.CutSuffix(c.dialect, " plain")
		got, err := read(New(Options{Dialect: dialect, Plain: plain}), asked, c.answer)
		if c.wrong != "" {
			require.EqualError(t, err, c.wrong, "%s: %s", c.dialect, c.answer)
			continue
		}
		require.NoError(t, err, "%s: %s", c.dialect, c.answer)
		require.Equal(t, c.want, got, "%s: %s", c.dialect, c.answer)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, c := range answers {
		f.Add(c.dialect, c.answer)
	}
	f.Fuzz(func(t *testing.T, dialect, answer string) {
		dialect, plain := strings.CutSuffix(dialect, " plain")
		if got, err := read(New(Options{Dialect: dialect, Plain: plain}), asked,
			answer); err == nil && !json.Valid([]byte(got)) {
			t.Fatalf("invalid JSON: %s", got)
		}
	})
}

func TestGeminiGetsItsSignaturesBack(t *testing.T) {
	const history = `{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"q"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"p1","name":"a","input":{"x":1}},{"type":"tool_use",` +
		`"id":"p2","name":"b","input":{}}]}]}`
	third := Options{Dialect: "gemini", Model: "gemini-3-pro-preview"}
	asking := func(m *Model) string {
		params, err := jsonvalue.ReadObject([]byte(history))
		require.NoError(t, err)
		x, err := m.exchange(params)
		require.NoError(t, err)
		return string(jsonvalue.Marshal(x.body))
	}
	m := New(third)
	_, err := read(m, asked, events(part(`{"functionCall":{"id":"p1","name":"a","args":{"x":1}},`+
		`"thoughtSignature":"c2ln"},{"functionCall":{"id":"p2","name":"b"}}`, "STOP")))
	require.NoError(t, err)
	require.Contains(t, asking(m), `{"functionCall":{"args":{"x":1},"id":"p1","name":"a"},"thoughtSignature":"c2ln"},`+
		`{"functionCall":{"args":{},"id":"p2","name":"b"}}`)
	require.Contains(t, asking(New(third)), noSignature, "of another process")
	require.NotContains(t, asking(New(Options{Dialect: "gemini"})), "thoughtSignature")
}

func TestCallsOfGeminiWithoutIDGetOne(t *testing.T) {
	m := New(Options{Dialect: "gemini"})
	answer := events(part(`{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}`, "STOP"))
	got, err := read(m, asked, answer)
	require.NoError(t, err)
	require.Contains(t, got, `"id":"gemini_call_1"`)
	require.Contains(t, got, `"id":"gemini_call_2"`)
	got, err = read(m, strings.Replace(asked, `"messages":[`,
		`"messages":[{"role":"assistant","content":{"type":"tool_use","id":"gemini_call_3","name":"a","input":{}}},`+
			``, 1), answer)
	require.NoError(t, err)
	require.NotContains(t, got, `"id":"gemini_call_3"`, "the conversation has it")
	require.Contains(t, got, `"id":"gemini_call_5"`)
}
