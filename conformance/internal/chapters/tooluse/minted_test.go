package tooluse

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestCallsAreReadFromEveryWire(t *testing.T) {
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
		"native":           {airports("a"), []evidence.ModelCall{{ID: "a", Name: "list_airports"}}},
		"a text":           {tracetest.Saying("functionCall"), nil},
		"nothing":          {"", nil},
		"what is no JSON":  {"data: {\"choices\":[\n\n{", nil},
		"what is odd":      {`{"content":7,"message":null,"choices":{"delta":[[]]},"functionCall":"x","function":3}`, nil},
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

// Answers of a model that wants the airports listed, with what it gives or does not give.
const (
	withoutID = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{}}}]}}]}`
	withID    = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{},"id":"a"}}]}}]}`
	signed    = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{},"id":"a"},"thoughtSignature":"c2VhbA=="}]}}]}`
)

// twoTurns are the client's answers to two turns of a model that says the same in both.
func twoTurns(t *testing.T, model string, answers ...string) *evidence.Case {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "tool-use/two-turns")
	turnsOf(answers[0], answers[1])(s)
	ev := evidence.Decode(s.Trace).Case("tool-use/two-turns")
	for _, r := range ev.Rounds {
		for _, x := range r.Model {
			x.Answer = []byte(model)
		}
	}
	return ev
}

func TestIDsAreMintedWhereTheProviderGivesNone(t *testing.T) {
	for name, c := range map[string]struct {
		model, first, second string
		verdict              report.Verdict
		message              string
	}{
		"at random":             {withoutID, airports("7f3a"), airports("91cc"), report.Pass, "the client minted 2 ids for 2 tool uses"},
		"by turn and name":      {withoutID, airports("list_airports-1"), airports("list_airports-2"), report.Pass, "the client minted 2 ids for 2 tool uses"},
		"by a counter":          {withoutID, airports("0"), airports("1"), report.Pass, "the client minted 2 ids for 2 tool uses"},
		"by name":               {withoutID, airports("list_airports"), airports("list_airports"), check.Failed, "the model gave its calls no ids, and the client minted list_airports for two of them"},
		"not at all":            {withoutID, airports(""), "", check.Failed, "the model gave the call of list_airports no id, and the client minted none"},
		"once, and then not":    {withoutID, airports("a"), airports(""), check.Failed, "the model gave the call of list_airports no id, and the client minted none"},
		"in one turn":           {withoutID, airports("a"), "", report.NotObserved, "it takes two tool uses to compare ids, and 1 came back (see tool-use/tool-use-block)"},
		"by the provider":       {withID, airports("a"), airports("b"), report.NotApplicable, "the model gives its tool calls ids"},
		"for what was not said": {`{}`, airports("a"), airports("b"), report.NotObserved, "what the model called cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			v := idMinted.Judge(twoTurns(t, c.model, c.first, c.second))
			require.Equal(t, c.message, v.Message)
			require.Equal(t, c.verdict, v.Kind)
		})
	}
}

func TestThoughtSignaturesSurvive(t *testing.T) {
	for name, c := range map[string]struct {
		model, restated string
		verdict         report.Verdict
		message         string
	}{
		"they do":                         {signed, "c2VhbA==", report.Pass, "the signatures came back"},
		"they are lost":                   {signed, "", check.Failed, "the call of list_airports came back to the model without its signature"},
		"they are changed":                {signed, "c2VhbB==", check.Failed, "the call of list_airports came back to the model without its signature"},
		"they are replaced":               {signed, anySignature, report.Warn, "the call of list_airports came back to the model with a placeholder for its signature"},
		"there are none":                  {withID, "", report.NotApplicable, "the model puts no signatures on its tool calls"},
		"there are none, and one is sent": {withID, anySignature, report.NotApplicable, "the model puts no signatures on its tool calls"},
		"nothing was said":                {`{}`, "", report.NotObserved, "what the model called cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			ev := twoTurns(t, c.model, airports("a"), airports("b"))
			request := ev.Rounds[1].Model[0].Request
			request.Messages = append(request.Messages, dialect.Message{Role: dialect.Assistant, Content: []dialect.Block{
				{Type: dialect.ToolUse, ID: "a", Name: "list_airports", Signature: c.restated}}})
			v := thoughtSignature.Judge(ev)
			require.Equal(t, c.message, v.Message)
			require.Equal(t, c.verdict, v.Kind)
		})
	}
}
