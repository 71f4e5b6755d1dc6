package model

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

const gemini2, gemini3 = "gemini-2.5-flash", "gemini-3-pro-preview"

func geminiModel(name string) *Model { return New(Options{Dialect: "gemini", Model: name}) }

// asGemini converts a sampling request.
func asGemini(t *testing.T, m *Model, params string) string {
	t.Helper()
	p, err := mcpjson.Object([]byte(params))
	require.NoError(t, err)
	body, err := m.geminiBody(p, m.options.Model)
	require.NoError(t, err)
	return string(mcpjson.Marshal(body))
}

// heard reads the answer to a request.
func heard(t *testing.T, m *Model, params, answer string) (string, error) {
	t.Helper()
	p, err := mcpjson.Object([]byte(params))
	require.NoError(t, err)
	a, err := readGemini(strings.NewReader(answer))
	if err != nil {
		return "", err
	}
	turn, err := m.geminiTurn(a, p)
	if err != nil {
		return "", err
	}
	result := turn.result()
	err = settled(result)
	return string(mcpjson.Marshal(result)), err
}

func TestEveryPartOfARequestIsConvertedForGemini(t *testing.T) {
	const params = `{"maxTokens":50,"systemPrompt":"be brief","temperature":0.5,"stopSequences":["END"],"toolChoice":{"mode":"required"},
		"tools":[{"name":"look","description":"looks","inputSchema":{"type":"object","additionalProperties":false}}],
		"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"AA=="},{"type":"audio","mimeType":"audio/wav","data":"AQ=="}]},
			{"role":"assistant","content":{"type":"text","text":"so"}},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{"at":9007199254740993}},{"type":"tool_use","id":"gemini_call_x_2","name":"look","input":{}}]},
			{"role":"user","content":[
				{"type":"tool_result","toolUseId":"gemini_call_x_2","isError":true,"content":[]},
				{"type":"tool_result","toolUseId":"a","content":[{"type":"text","text":"one"},{"type":"image","mimeType":"image/png","data":"AA=="},{"type":"text","text":"two"}]}]}]}`
	const (
		head = `"systemInstruction":{"parts":[{"text":"be brief"}]},"generationConfig":{"maxOutputTokens":50,"temperature":0.5,"stopSequences":["END"]},
			"tools":[{"functionDeclarations":[{"name":"look","description":"looks","parametersJsonSchema":{"type":"object","additionalProperties":false}}]}],
			"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`
		asked = `{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"inlineData":{"mimeType":"audio/wav","data":"AQ=="}}]}`
		image = `{"inlineData":{"mimeType":"image/png","data":"AA=="}}`
		said  = `"response":{"output":"one\n(image of the tool follows)\ntwo"}`
		other = `{"functionResponse":{"name":"look","response":{"error":"the tool failed"}}}`
	)
	require.JSONEq(t, `{`+head+`,"contents":[`+asked+`,
		{"role":"model","parts":[{"text":"so"},{"functionCall":{"id":"a","name":"look","args":{"at":9007199254740993}}},{"functionCall":{"name":"look","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"look",`+said+`}},`+other+`,`+image+`]}]}`, asGemini(t, geminiModel(gemini2), params))
	require.JSONEq(t, `{`+head+`,"contents":[`+asked+`,
		{"role":"model","parts":[{"text":"so"},{"functionCall":{"id":"a","name":"look","args":{"at":9007199254740993}},"thoughtSignature":"skip_thought_signature_validator"},
			{"functionCall":{"name":"look","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"look",`+said+`,"parts":[`+image+`]}},`+other+`]}]}`, asGemini(t, geminiModel(gemini3), params))
}

func TestToolChoicesAreConvertedForGemini(t *testing.T) {
	for choice, want := range map[string]string{`{}`: "AUTO", `{"mode":"auto"}`: "AUTO", `{"mode":"required"}`: "ANY", `{"mode":"none"}`: "NONE"} {
		body := asGemini(t, geminiModel(gemini2), `{"maxTokens":1,"messages":[],"tools":[{"name":"a","inputSchema":{}}],"toolChoice":`+choice+`}`)
		require.Contains(t, body, `"toolConfig":{"functionCallingConfig":{"mode":"`+want+`"}}`)
	}
	require.NotContains(t, asGemini(t, geminiModel(gemini2), `{"maxTokens":1,"messages":[],"toolChoice":{"mode":"none"}}`), "toolConfig", "without tools there is nothing to choose")
}

func TestGeminiGetsItsSignaturesBack(t *testing.T) {
	m := geminiModel(gemini3)
	result, err := heard(t, m, `{"messages":[]}`, `{"responseId":"r1","modelVersion":"gemini-3","candidates":[{"finishReason":"STOP","content":{"parts":[
		{"functionCall":{"id":"p1","name":"a","args":{"x":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"p2","name":"b"}}]}}]}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"role":"assistant","model":"gemini-3","stopReason":"toolUse","content":[
		{"type":"tool_use","id":"p1","name":"a","input":{"x":1}},{"type":"tool_use","id":"p2","name":"b","input":{}}]}`, result)
	history := `{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"q"}},{"role":"assistant","content":[
		{"type":"tool_use","id":"p1","name":"a","input":{"x":1}},{"type":"tool_use","id":"p2","name":"b","input":{}}]}]}`
	require.Contains(t, asGemini(t, m, history), `{"functionCall":{"args":{"x":1},"id":"p1","name":"a"},"thoughtSignature":"c2ln"},{"functionCall":{"args":{},"id":"p2","name":"b"}}`)
	require.Contains(t, asGemini(t, geminiModel(gemini3), history), noSignature, "of another process")
	require.NotContains(t, asGemini(t, geminiModel(gemini2), history), "thoughtSignature")
}

func TestCallsOfGeminiWithoutIDGetOne(t *testing.T) {
	m := geminiModel(gemini2)
	const calls = `"candidates":[{"finishReason":"STOP","content":{"parts":[{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}]}}]}`
	ids := func(params, answer string) []string {
		result, err := heard(t, m, params, answer)
		require.NoError(t, err)
		var got struct{ Content []struct{ ID string } }
		require.NoError(t, json.Unmarshal([]byte(result), &got))
		return []string{got.Content[0].ID, got.Content[1].ID}
	}
	require.Equal(t, []string{"gemini_call_1", "gemini_call_2"}, ids(`{"messages":[]}`, `{`+calls))
	taken := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"gemini_call_3"}]}]}`
	require.Equal(t, []string{"gemini_call_4", "gemini_call_5"}, ids(taken, `{`+calls), "the conversation has the third")
}

func TestAnswersOfGeminiAreRead(t *testing.T) {
	const text, call = `{"text":"a"},{"text":"b"}`, `{"functionCall":{"id":"1","name":"f"}}`
	answer := func(finish, parts string) string {
		return `{"modelVersion":"m","candidates":[{"finishReason":"` + finish + `","content":{"parts":[` + parts + `]}}]}`
	}
	for _, c := range []struct{ answer, reason, content, err string }{
		{answer("STOP", text), "endTurn", `{"type":"text","text":"ab"}`, ""},
		{answer("STOP", ""), "endTurn", `{"type":"text","text":""}`, ""},
		{answer("STOP", `{"text":"hm","thought":true},`+text), "endTurn", `{"type":"text","text":"ab"}`, ""},
		{answer("MAX_TOKENS", text), "maxTokens", `{"type":"text","text":"ab"}`, ""},
		{answer("MAX_TOKENS", call), "maxTokens", `[{"type":"tool_use","id":"1","name":"f","input":{}}]`, ""},
		{answer("STOP", call+`,`+text), "toolUse", `[{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"text","text":"ab"}]`, ""},
		{answer("SAFETY", text), "SAFETY", `{"type":"text","text":"ab"}`, ""},
		{answer("SAFETY", ""), "", "", "the model gave no answer (code -32603)"},
		{answer("MALFORMED_FUNCTION_CALL", ""), "", "", "the model made a tool call that cannot be read (code -32603)"},
		{answer("STOP", `{"functionCall":{"name":"f","args":[]}}`), "", "", "the model gave arguments that are not a JSON object (code -32603)"},
		{`{"promptFeedback":{"blockReason":"OTHER"}}`, "", "", "the provider blocked the prompt: OTHER"},
		{`{"error":{"code":503}}`, "", "", "the provider reported an error in its answer"},
	} {
		result, err := heard(t, geminiModel(gemini2), `{"messages":[]}`, c.answer)
		if c.err != "" {
			require.EqualError(t, err, c.err, c.answer)
			continue
		}
		require.NoError(t, err, c.answer)
		require.JSONEq(t, `{"role":"assistant","model":"m","stopReason":"`+c.reason+`","content":`+c.content+`}`, result, c.answer)
	}
}

func TestIncompleteAnswersOfGeminiAreErrors(t *testing.T) {
	const piece = `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`
	for name, c := range map[string]struct {
		plain        bool
		status       int
		answer, want string
	}{
		"a stream cut short":         {false, 200, "data: " + piece + "\r\n\r\n", "the answer ended before it was complete"},
		"a chunk cut short":          {false, 200, "data: " + piece[:20] + "\r\n\r\n", "unexpected end of JSON input"},
		"an error in mid-stream":     {false, 200, "data: " + piece + "\r\n\r\ndata: {\"error\":{\"code\":503}}\r\n\r\n", "the provider reported an error in its answer"},
		"a plain answer cut short":   {true, 200, piece[:20], "unexpected EOF"},
		"a plain answer without end": {true, 200, piece, "the answer ended before it was complete"},
		"an error":                   {true, 400, `{"error":{"code":400,"message":"m"}}`, `HTTP 400: {"error":{"code":400,"message":"m"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer) // the client may be gone
			}))
			defer srv.Close()
			m := New(Options{Dialect: "gemini", URL: srv.URL, HTTP: srv.Client(), Plain: c.plain})
			_, err := m.Sample(t.Context(), map[string]any{"maxTokens": 1, "messages": []any{}})
			require.EqualError(t, err, c.want)
		})
	}
}
