package model

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var update = flag.Bool("update", false, "write testdata")

// written returns the body of the request that asks the model.
func written(o Options, params string) (map[string]any, error) {
	p, err := jsonvalue.ReadObject([]byte(params))
	if err != nil {
		return nil, err
	}
	x, err := New(o).exchange(p)
	if err != nil {
		return nil, err
	}
	return x.body, nil
}

// One request with everything, and what each provider gets of it: testdata/NAME.json.
func TestRequestsAreConvertedForEachProvider(t *testing.T) {
	request, err := os.ReadFile(filepath.Join("testdata", "request.json"))
	require.NoError(t, err)
	for name, o := range map[string]Options{
		"openai-chat": {}, "openai-responses": {Dialect: "openai-responses"}, "anthropic": {Dialect: "anthropic"},
		"gemini-2": {Dialect: "gemini"}, "gemini-3": {Dialect: "gemini", Model: "gemini-3-pro-preview"},
		"ollama": {Dialect: "ollama"}, "cohere-chat": {Dialect: "cohere-chat"},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := written(o, string(request))
			require.NoError(t, err)
			var got bytes.Buffer
			require.NoError(t, json.Indent(&got, append(jsonvalue.Marshal(body), '\n'), "", "  "))
			file := filepath.Join("testdata", name+".json")
			if *update {
				require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got.String(), "go test ./fakes/client/model -update writes it")
		})
	}
	body, err := written(Options{Dialect: "native"}, string(request))
	require.NoError(t, err)
	require.JSONEq(t, string(request), string(jsonvalue.Marshal(body)))
}

func TestPartsOfRequestsAreConverted(t *testing.T) {
	const (
		tools  = `"tools":[{"name":"a","inputSchema":{"type":"object"}}],`
		uses   = `{"role":"assistant","content":{"type":"tool_use","id":"u","name":"a","input":{}}},`
		result = `{"role":"user","content":{"type":"tool_result","toolUseId":"u","content":[`
	)
	for _, c := range []struct{ dialect, params, member, want string }{
		{"openai-chat", `"messages":[]`, "stream_options", `{"include_usage":true}`},
		{"openai-chat", tools + `"toolChoice":{}`, "tool_choice", `"auto"`},
		{"openai-chat", `"toolChoice":{"mode":"required"}`, "tool_choice", `null`},
		{"openai-chat", `"modelPreferences":{"intelligencePriority":1}`, "model", `"gpt-4.1"`},
		{"openai-chat", `"modelPreferences":{"costPriority":0.9,"intelligencePriority":0.1}`, "model", `"gpt-4o-mini"`},
		{"openai-chat", `"modelPreferences":{"hints":[{"name":"claude"},{"name":"4.1"}],"costPriority":1}`, "model",
			`"gpt-4.1"`},
		{"openai-chat", `"messages":[` + uses + result + `{"type":"audio","data":"aGk=","mimeType":"audio/x-wav"}]}}]`,
			"messages",
			`[{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"a"},"id":"u","type":"function"}]},` +
				`{"content":"(audio of the tool follows)","role":"tool","tool_call_id":"u"},` +
				`{"content":[{"input_audio":{"data":"aGk=","format":"wav"},"type":"input_audio"}],"role":"user"}]`},
		{"openai-responses", `"messages":[` + uses + result + `{"type":"audio","data":"aGk=","mimeType":"audio/mpeg"}]}}]`,
			"input",
			`[{"arguments":"{}","call_id":"u","name":"a","type":"function_call"},` +
				`{"call_id":"u","output":"(audio of the tool follows)","type":"function_call_output"},` +
				`{"content":[{"input_audio":{"data":"aGk=","format":"mp3"},"type":"input_audio"}],"role":"user"}]`},
		{"openai-responses", tools + `"toolChoice":{"mode":"none"}`, "tool_choice", `"none"`},
		{"openai-responses", tools + `"messages":[]`, "tool_choice", `null`},
		{"anthropic", `"messages":[]`, "messages", `[]`},
		{"anthropic", `"messages":[{"role":"assistant","content":{"type":"text","text":" "}}]`, "messages", `[]`},
		{"anthropic", `"messages":[` + result + `]}}]`, "messages",
			`[{"content":[{"tool_use_id":"u","type":"tool_result"}],"role":"user"}]`},
		{"anthropic", `"messages":[` + result + `],"isError":true}}]`, "messages", `[{"content":[{"content":` +
			`[{"text":"the tool failed","type":"text"}],"is_error":true,"tool_use_id":"u","type":"tool_result"}],` +
			`"role":"user"}]`},
		{"anthropic", tools + `"toolChoice":{"mode":"auto"}`, "tool_choice", `{"type":"auto"}`},
		{"anthropic", tools + `"toolChoice":{"mode":"none"}`, "tool_choice", `{"type":"none"}`},
		{"anthropic", `"tools":[],"toolChoice":{"mode":"none"}`, "tool_choice", `null`},
		{"gemini", tools + `"toolChoice":{}`, "toolConfig", `{"functionCallingConfig":{"mode":"AUTO"}}`},
		{"gemini", tools + `"toolChoice":{"mode":"none"}`, "toolConfig", `{"functionCallingConfig":{"mode":"NONE"}}`},
		{"gemini", `"toolChoice":{"mode":"none"}`, "toolConfig", `null`},
		{"gemini", `"messages":[{"role":"user","content":{"type":"audio","data":"aGk=","mimeType":"audio/wav"}}]`, "contents",
			`[{"parts":[{"inlineData":{"data":"aGk=","mimeType":"audio/wav"}}],"role":"user"}]`},
		{"gemini", `"messages":[` + uses + `{"role":"assistant","content":{"type":"text","text":"b"}},` + result +
			`],"isError":true}}]`,
			"contents", `[{"parts":[{"functionCall":{"args":{},"id":"u","name":"a"}},{"text":"b"}],"role":"model"},` +
				`{"parts":[{"functionResponse":{"id":"u","name":"","response":{"error":"the tool failed"}}}],"role":"user"}]`},
		{"ollama", tools + `"toolChoice":{"mode":"none"}`, "tools", `null`},
		{"ollama", tools + `"toolChoice":{"mode":"required"}`, "tool_choice", `null`},
		{"ollama", `"messages":[]`, "model", `"llama3.2"`},
		{"cohere-chat", tools + `"toolChoice":{"mode":"none"}`, "tool_choice", `"NONE"`},
		{"cohere-chat", tools + `"toolChoice":{}`, "tool_choice", `null`},
		{"cohere-chat", `"messages":[{"role":"user","content":{"type":"text","text":""}},` +
			`{"role":"assistant","content":{"type":"text","text":""}},` + uses + result + `]}}]`, "messages",
			`[{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"a"},"id":"u","type":"function"}]},` +
				`{"content":"","role":"tool","tool_call_id":"u"}]`},
	} {
		body, err := written(Options{Dialect: c.dialect}, `{"maxTokens":70,`+c.params+`}`)
		require.NoError(t, err, c.params)
		require.Equal(t, c.want, string(jsonvalue.Marshal(body[c.member])), "%s: %s of %s", c.dialect, c.member, c.params)
	}
}

func TestContentThatAProviderDoesNotAcceptIsRefused(t *testing.T) {
	block := func(role, block string) string {
		return `{"maxTokens":70,"messages":[{"role":"` + role + `","content":` + block + `}]}`
	}
	const blob = `{"type":"tool_result","toolUseId":"u","content":[{"type":"resource","resource":{"blob":"AA=="}}]}`
	for _, c := range []struct{ dialect, params, want string }{
		{"openai-chat", block("assistant", `{"type":"image"}`),
			"the model does not accept image in its own turn (code -32603)"},
		{"openai-chat", block("user", `{"type":"video"}`), "the model does not accept video (code -32603)"},
		{"openai-responses", block("assistant", `{"type":"image"}`),
			"the model does not accept image in its own turn (code -32603)"},
		{"openai-responses", `{"maxTokens":15,"messages":[]}`,
			"the model does not accept a limit below 16 tokens (code -32603)"},
		{"anthropic", block("user", `{"type":"audio"}`), "the model does not accept audio (code -32603)"},
		{"anthropic", block("user", blob), "the model does not accept binary resources (code -32603)"},
		{"gemini", block("user", blob), "the model does not accept binary resources (code -32603)"},
		{"ollama", block("user", `{"type":"audio"}`), "the model does not accept audio (code -32603)"},
		{"ollama", block("user", `"hi"`), "content block 0 is not an object"},
		{"cohere-chat", block("user", `{"type":"audio"}`), "the model does not accept audio (code -32603)"},
		{"cohere-chat", block("assistant", `{"type":"image"}`),
			"the model does not accept image in its own turn (code -32603)"},
	} {
		_, err := written(Options{Dialect: c.dialect}, c.params)
		require.EqualError(t, err, c.want, c.dialect)
	}
}
