package ollama

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// refusal decodes and checks, as the server does.
func refusal(text string) *dialect.Error {
	req, err := Chat.Decode(&http.Request{}, []byte(text))
	if err != nil {
		return err
	}
	return Chat.Check(req)
}

func TestWhatOllamaRefuses(t *testing.T) {
	tool := func(parameters string) string {
		return body(user, `,"tools":[{"type":"function","function":{"name":"a","parameters":`+parameters+`}}]`)
	}
	model := func(name string) string { return `{"model":"` + name + `","messages":[` + user + `]}` }
	for _, c := range []struct {
		name, body string
		status     int
		text       string
	}{
		{"nothing", ``, 400, "the body is missing: want a JSON object"},
		{"no JSON", `{"model":`, 400, "the body cannot be read: unexpected EOF"},
		{"no object", `[]`, 400, "the body cannot be read: json: cannot unmarshal array"},
		{"wrong messages", `{"model":"m","messages":"hi"}`, 400, "messages"},
		{"a message that is a text", body(`"hi"`, ""), 400, "messages[0] cannot be read: json: cannot unmarshal string"},
		{"content as parts", body(`{"role":"user","content":[{"type":"text","text":"hi"}]}`, ""), 400, "messages[0] cannot be read: json: cannot unmarshal array"},
		{"an image as data URI", body(`{"role":"user","content":"","images":["data:image/png;base64,aGk="]}`, ""), 400, "messages[0] cannot be read: illegal base64"},
		{"an image as object", body(`{"role":"user","content":"","images":[{"url":"x"}]}`, ""), 400, "messages[0] cannot be read: json: cannot unmarshal object"},
		{"arguments as text", body(`{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":"{}"}}]}`, ""), 400,
			`messages[0].tool_calls[0] has arguments that are no object: got "{}"`},
		{"a call whose id is a number", body(user+`,{"role":"assistant","tool_calls":[{"id":1}]}`, ""), 400, "messages[1].tool_calls[0] cannot be read: json: cannot unmarshal number"},
		{"wrong stream", body(user, `,"stream":"yes"`), 400, "stream"},
		{"wrong options", body(user, `,"options":[]`), 400, "options"},
		{"wrong tools", body(user, `,"tools":{}`), 400, "tools"},
		{"a tool of MCP's shape is read, and one that is a text is not", body(user, `,"tools":["a"]`), 400, "tools[0] cannot be read: json: cannot unmarshal string"},
		{"a schema that is an array", tool(`[]`), 400, "tools[0] cannot be read: json: cannot unmarshal array"},
		{"a schema of two types", tool(`{"type":["object","null"]}`), 400, "tools[0] cannot be read: json: cannot unmarshal array"},
		{"a parameter that is true", tool(`{"type":"object","properties":{"a":true}}`), 400, "tools[0] cannot be read: json: cannot unmarshal bool"},
		{"a parameter's type that is an object", tool(`{"type":"object","properties":{"a":{"type":{}}}}`), 400, "tools[0] cannot be read: json: cannot unmarshal object"},
		{"required that is true", tool(`{"type":"object","required":true}`), 400, "tools[0] cannot be read: json: cannot unmarshal bool"},
		{"a thought too many", body(user, `,"think":"max"`), 400, `think is "max": want true, false, "high", "medium" or "low"`},
		{"keep_alive of nothing known", body(user, `,"keep_alive":"soon"`), 400, `invalid duration "soon"`},
		{"keep_alive as object", body(user, `,"keep_alive":{}`), 400, `keep_alive is {}: want a number of seconds, or a duration such as "5m"`},

		{"no model", `{"messages":[` + user + `]}`, 400, `the model "" is no name: want one such as llama3.2`},
		{"null", `null`, 400, `the model "" is no name`},
		{"a model with a blank", model("my model"), 400, `the model "my model" is no name`},
		{"a model with a long name", model(strings.Repeat("a", 81)), 400, "is no name"},
		{"a model with two tags", model("a:b:c"), 400, "is no name"},
		{"too many logprobs", body(user, `,"top_logprobs":21`), 400, "top_logprobs is 21: want 0 to 20"},

		{"temperature as text", body(user, `,"options":{"temperature":"0.5"}`), 500, "the option temperature is 0.5: want a number"},
		{"one stop sequence", body(user, `,"options":{"stop":"END"}`), 500, "the option stop is END: want an array of strings"},
		{"stop sequences that are numbers", body(user, `,"options":{"stop":[1]}`), 500, "the option stop is [1]: want an array of strings"},
		{"use_mmap as number", body(user, `,"options":{"use_mmap":1}`), 500, "the option use_mmap is 1: want true or false"},
		{"num_ctx as bool", body(user, `,"options":{"num_ctx":true}`), 500, "the option num_ctx is true: want a number"},
		{"seed as object", body(user, `,"options":{"seed":{}}`), 500, "the option seed is map[]: want a number"},
		{"an unknown format", body(user, `,"format":"xml"`), 500, `format is "xml": want "json", or a JSON Schema`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := refusal(c.body)
			require.NotNil(t, err, "it was accepted")
			require.Equal(t, c.status, err.Status)
			require.Contains(t, err.Message, c.text)
		})
	}
}

func TestWhatOllamaAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"the least":                      body(user, ""),
		"no messages":                    `{"model":"llama3.2"}`,
		"a call without a result":        body(user+`,`+calls, ""),
		"a result without a call":        body(user+`,{"role":"tool","content":"1","tool_call_id":"c9"}`, ""),
		"an unknown role":                body(`{"role":"human","content":"hi"}`, ""),
		"no role":                        body(`{"content":"hi"}`, ""),
		"no content":                     body(`{"role":"user"}`, ""),
		"assistant first":                body(`{"role":"assistant","content":"hi"}`, ""),
		"an unknown member":              body(user, `,"tool_choice":"none","max_tokens":7`),
		"an unknown option":              body(user, `,"options":{"maxTokens":"7"}`),
		"options that are null":          body(user, `,"options":{"temperature":null,"stop":null}`),
		"names in another case":          `{"Model":"llama3.2","MESSAGES":[` + user + `]}`,
		"something after the body":       body(user, "") + "}",
		"a tool of MCP's shape":          body(user, `,"tools":[{"name":"add","inputSchema":{}}]`),
		"a tool's name with a dot":       body(user, `,"tools":[{"type":"function","function":{"name":"a.b c"}}]`),
		"a tool without parameters":      body(user, `,"tools":[{"type":"function","function":{"name":"a","parameters":{}}},{"type":"function","function":{"name":"b","parameters":null}}]`),
		"a schema with depth":            body(user, `,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","$defs":{},"required":["b"],"additionalProperties":false,"properties":{"b":{"type":["string","null"],"enum":[1],"minLength":1},"c":{"anyOf":[{"type":"array","items":{}}],"properties":{"d":{}}}}}}}]`),
		"a model with everything":        `{"model":"http://host:11434/library/llama3.2:8b-q4_K_M"}`,
		"a model of another provider":    `{"model":"openai/gpt-4o"}`,
		"thinking":                       body(user, `,"think":"high"`),
		"an image":                       body(`{"role":"user","content":"","images":["aGk="]}`, ""),
		"a schema as format":             body(user, `,"format":{"type":"object"}`),
		"json as format":                 body(user, `,"format":"json"`),
		"no format":                      body(user, `,"format":""`),
		"keep_alive for ever":            body(user, `,"keep_alive":-1`),
		"keep_alive that is null":        body(user, `,"keep_alive":null,"think":null,"format":null,"tools":null`),
		"tools that are null or missing": body(user, `,"tools":[]`),
	} {
		t.Run(name, func(t *testing.T) { require.Nil(t, refusal(text)) })
	}
}

func TestErrorsHaveOllamasShape(t *testing.T) {
	a := Chat.EncodeError(&dialect.Error{Status: 404, Kind: "k", Code: "c", Param: "p", Message: "model <x> is not there", Header: http.Header{"Retry-After": {"7"}}})
	require.Equal(t, 404, a.Status)
	require.False(t, a.Stream)
	require.Equal(t, `{"error":"model \u003cx\u003e is not there"}`, string(join(a)))
	require.Equal(t, http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Retry-After": {"7"}}, a.Header)
	require.Equal(t, `{"error":"out of memory"}`+"\n", string(Chat.EncodeErrorEvent(nil, nil, 0, &dialect.Error{Message: "out of memory"})))
}
