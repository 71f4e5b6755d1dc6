package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// Every provider has its own form of tool calls.
func TestToolCallsAreReadFromEveryDialect(t *testing.T) {
	type calls = []evidence.ModelCall
	one := calls{{ID: "a", Name: "t"}}
	for name, c := range map[string]struct {
		answer string
		want   calls
	}{
		"OpenAI": {`{"choices":[{"message":{"content":null,"tool_calls":[` +
			`{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}},` +
			`{"id":"b","type":"function","function":{"name":"u","arguments":"{}"}}]}}]}`,
			calls{{ID: "a", Name: "t"}, {ID: "b", Name: "u"}}},
		"OpenAI, streamed": {
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t"}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}` + "\n\n" +
				"data: [DONE]\n\n", one},
		"OpenAI responses, streamed": {"event: response.output_item.added\n" +
			`data: {"item":{"type":"function_call","id":"fc","call_id":"a","name":"t"}}` + "\n\n" +
			"event: response.completed\n" +
			`data: {"response":{"output":[{"type":"function_call","id":"fc","call_id":"a","name":"t"}]}}` + "\n\n", one},
		"Anthropic": {`{"content":[{"type":"text","text":"functionCall"},` +
			`{"type":"tool_use","id":"a","name":"t","input":{"function":{"name":"no"}}}]}`, one},
		"Anthropic, streamed": {"event: content_block_start\n" +
			`data: {"content_block":{"type":"tool_use","id":"a","name":"t","input":{}}}` + "\n\n", one},
		"Gemini 2, streamed": {`data: {"candidates":[{"content":{"parts":[` +
			`{"functionCall":{"name":"t","args":{}}},{"functionCall":{"name":"t"}}]}}]}` + "\r\n\r\n",
			calls{{Name: "t"}, {Name: "t"}}},
		"Gemini 3": {`{"candidates":[{"content":{"parts":[` +
			`{"functionCall":{"name":"t","args":{},"id":"a"},"thoughtSignature":"c2Vh"}]}}]}`, calls{{"a", "t", "c2Vh"}}},
		"Gemini, streamed as an array": {`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t"}}]}}]}` + "\n,\n" +
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"u"}}]}}]}]`, calls{{Name: "t"}, {Name: "u"}}},
		"Ollama, streamed": {`{"message":{"tool_calls":[{"function":{"name":"t","arguments":{}}}]},"done":false}` + "\n" +
			`{"message":{"content":""},"done":true}` + "\n", calls{{Name: "t"}}},
		"native":           {`{"content":[{"type":"tool_use","id":"a","name":"t","input":{}}]}`, one},
		"a text":           {`{"content":{"type":"text","text":"functionCall"}}`, nil},
		"nothing":          {"", nil},
		"invalid JSON":     {"data: {\"choices\":[\n\n{", nil},
		"unexpected types": {`{"content":7,"message":null,"choices":{"delta":[[]]},"functionCall":"x","function":3}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, (&evidence.Exchange{Answer: []byte(c.answer)}).Calls())
		})
	}
}

func FuzzCalls(f *testing.F) {
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t"}}]}}]}` + "\n\n"))
	f.Add([]byte(`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t"}}]}}]}]`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, c := range (&evidence.Exchange{Answer: answer}).Calls() {
			require.NotEmpty(t, c.Name)
		}
	})
}
