package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// Every provider has its own form of tool calls.
func TestToolCallsAreReadFromEveryDialect(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   []evidence.ModelCall
	}{
		"OpenAI": {`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"u","arguments":"{}"}}]}}]}`,
			[]evidence.ModelCall{{ID: "a", Name: "t"}, {ID: "b", Name: "u"}}},
		"OpenAI, streamed": {"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"\"}}]}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n\n", []evidence.ModelCall{{ID: "a", Name: "t"}}},
		"OpenAI responses, streamed": {"event: response.output_item.added\ndata: {\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"a\",\"name\":\"t\"}}\n\n" +
			"event: response.completed\ndata: {\"response\":{\"output\":[{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"a\",\"name\":\"t\"}]}}\n\n", []evidence.ModelCall{{ID: "a", Name: "t"}}},
		"Anthropic":           {`{"content":[{"type":"text","text":"functionCall"},{"type":"tool_use","id":"a","name":"t","input":{"function":{"name":"no"}}}]}`, []evidence.ModelCall{{ID: "a", Name: "t"}}},
		"Anthropic, streamed": {"event: content_block_start\ndata: {\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"t\",\"input\":{}}}\n\n", []evidence.ModelCall{{ID: "a", Name: "t"}}},
		"Gemini 2, streamed": {"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"t\",\"args\":{}}},{\"functionCall\":{\"name\":\"t\"}}]}}]}\r\n\r\n",
			[]evidence.ModelCall{{Name: "t"}, {Name: "t"}}},
		"Gemini 3": {`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{},"id":"a"},"thoughtSignature":"c2Vh"}]}}]}`, []evidence.ModelCall{{"a", "t", "c2Vh"}}},
		"Gemini, streamed as an array": {"[{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"t\"}}]}}]}\n,\n{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"u\"}}]}}]}]",
			[]evidence.ModelCall{{Name: "t"}, {Name: "u"}}},
		"Ollama, streamed": {"{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"t\",\"arguments\":{}}}]},\"done\":false}\n{\"message\":{\"content\":\"\"},\"done\":true}\n", []evidence.ModelCall{{Name: "t"}}},
		"native":           {`{"content":[{"type":"tool_use","id":"a","name":"list_airports","input":{}}]}`, []evidence.ModelCall{{ID: "a", Name: "list_airports"}}},
		"a text":           {`{"content":{"type":"text","text":"functionCall"}}`, nil},
		"nothing":          {"", nil},
		"invalid JSON":  {"data: {\"choices\":[\n\n{", nil},
		"unexpected types":      {`{"content":7,"message":null,"choices":{"delta":[[]]},"functionCall":"x","function":3}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, (&evidence.Exchange{Answer: []byte(c.answer)}).Calls())
		})
	}
}

func FuzzCalls(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\"}}]}}]}\n\n"))
	f.Add([]byte(`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t"}}]}}]}]`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, c := range (&evidence.Exchange{Answer: answer}).Calls() {
			require.NotEmpty(t, c.Name)
		}
	})
}
