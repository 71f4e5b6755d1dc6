package gemini

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

const (
	flash  = "/v1beta/models/gemini-2.5-flash:"
	pro    = "/v1beta/models/gemini-3-pro-preview:"
	vertex = "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:"

	user  = `{"role":"user","parts":[{"text":"hi"}]}`
	call  = `{"functionCall":{"name":"add","args":{"a":2}}}`
	reply = `{"functionResponse":{"name":"add","response":{"output":"3"}}}`
)

// request returns a request with a key.
func request(t testing.TB, to string) *http.Request {
	t.Helper()
	u, err := url.Parse(to)
	require.NoError(t, err)
	return &http.Request{Method: http.MethodPost, URL: u, Header: http.Header{"X-Goog-Api-Key": {"k"}}}
}

func decode(t testing.TB, to, body string) *dialect.Request {
	t.Helper()
	req, err := GenerateContent.Decode(request(t, to), []byte(body))
	require.Nil(t, err, "%v", err)
	require.NotNil(t, req.Decoded)
	req.Decoded = nil // Check and Encode must work without it
	return req
}

// body returns a request body with contents and more members.
func body(contents, more string) string { return `{"contents":[` + contents + `]` + more + `}` }

func TestDecodeReadsEveryMember(t *testing.T) {
	text := `{
		"systemInstruction": {"parts": [{"text": "be brief"}, {"text": "be kind"}]},
		"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "so"}]}],
		"tools": [{"functionDeclarations": [{"name": "add", "description": "adds",
		"parametersJsonSchema": {"type": "object", "required": ["a"]}}, {"name": "now"}]}],
		"toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
		"generationConfig": {"maxOutputTokens": "100", "temperature": 0.5, "stopSequences": ["END"]}
	}`
	req := decode(t, flash+"generateContent", text)
	limit, temperature := int64(100), 0.5
	require.Equal(t, "gemini", req.Dialect)
	require.Equal(t, "gemini-2.5-flash", req.Model)
	require.Equal(t, "be brief\n\nbe kind", req.System)
	require.Equal(t, &limit, req.MaxTokens)
	require.Equal(t, &temperature, req.Temperature)
	require.Equal(t, []string{"END"}, req.StopSequences)
	require.Equal(t, "required", req.ToolChoice)
	require.False(t, req.Stream)
	require.Equal(t, 2, req.Turn())
	require.Equal(t, []dialect.Tool{
		{Name: "add", Description: "adds", InputSchema: json.RawMessage(`{"type": "object", "required": ["a"]}`),
			Path: "tools[0].functionDeclarations[0]"},
		{Name: "now", InputSchema: json.RawMessage(`{"type":"object"}`), Path: "tools[0].functionDeclarations[1]"},
	}, req.Tools)
}

func TestDecodeReadsParts(t *testing.T) {
	codectest.Messages(t, GenerateContent, "testdata/messages.txtar", flash+generate)
}

func TestFieldNamesMayBeSnakeCase(t *testing.T) {
	camel := decode(t, flash+"generateContent",
		body(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}`,
			`,"systemInstruction":{"parts":[{"text":"s"}]},"generationConfig":{"maxOutputTokens":7,"stopSequences":["x"]},
		"tools":[{"functionDeclarations":[{"name":"add"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`))
	snake := decode(t, flash+"generateContent",
		body(`{"role":"user","parts":[{"inline_data":{"mime_type":"image/png","data":"AA=="}}]}`,
			`,"system_instruction":{"parts":[{"text":"s"}]},"generation_config":{"max_output_tokens":7,"stop_sequences":["x"]},
		"tools":[{"function_declarations":[{"name":"add"}]}],"tool_config":{"function_calling_config":{"mode":"NONE"}}`))
	require.Equal(t, "tools[0].function_declarations[0]", snake.Tools[0].Path, "as it is written")
	snake.Tools[0].Path = camel.Tools[0].Path
	snake.Messages[0].Content[0].Raw = camel.Messages[0].Content[0].Raw
	snake.Body = camel.Body
	require.Equal(t, camel, snake)
	require.Equal(t, dialect.ChoiceNone, camel.ToolChoice)
}

func TestPaths(t *testing.T) {
	for to, want := range map[string]struct {
		model  string
		stream bool
	}{
		"/v1beta/models/gemini-2.5-flash:generateContent":                                       {"gemini-2.5-flash", false},
		"/v1/models/gemini-2.5-flash:streamGenerateContent":                                     {"gemini-2.5-flash", true},
		"/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse":                         {"gemini-2.5-flash", true},
		"/v1/projects/p/locations/l/publishers/google/models/gemini-3-pro:generateContent":      {"gemini-3-pro", false},
		"/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3-pro:generateContent": {"gemini-3-pro", false},
		"/v1beta1/publishers/google/models/gemini-3-pro:streamGenerateContent":                  {"gemini-3-pro", true},
	} {
		req := decode(t, to, body(user, ""))
		require.Equal(t, want.model, req.Model)
		require.Equal(t, want.stream, req.Stream)
	}
	for _, to := range []string{"/v1beta/models/gemini-2.5-flash:embedContent", "/v1beta/models/gemini-2.5-flash",
		"/v1beta/models/:generateContent", "/"} {
		_, err := GenerateContent.Decode(request(t, to), []byte(body(user, "")))
		require.Equal(t, http.StatusNotFound, err.Status, to)
		require.Equal(t, to+" is not a method of a model: expected …/models/MODEL:generateContent or :streamGenerateContent"+
			dialect.OwnWords,
			err.Message)
	}
}

func TestDecodeReadsToolChoices(t *testing.T) {
	for config, want := range map[string]string{
		`{}`:                          "",
		`{"mode":"AUTO"}`:             "auto",
		`{"mode":"VALIDATED"}`:        "auto",
		`{"mode":"ANY"}`:              "required",
		`{"mode":"NONE"}`:             "none",
		`{"mode":"auto"}`:             "auto",
		`{"mode":"sometimes"}`:        "sometimes",
		`{"mode":"MODE_UNSPECIFIED"}`: "",
		`{"mode":"ANY","allowedFunctionNames":["add"]}`:       "tool:add",
		`{"mode":"ANY","allowedFunctionNames":["add","sub"]}`: "required",
	} {
		req := decode(t, flash+"generateContent", body(user, `,"toolConfig":{"functionCallingConfig":`+config+`}`))
		require.Equal(t, want, req.ToolChoice, config)
	}
}

func TestDecodeReadsFunctionResponses(t *testing.T) {
	for response, want := range map[string]struct {
		texts   []string
		isError bool
	}{
		`{"output":"18°C"}`:                          {[]string{"18°C"}, false},
		`{"result":"a \"b\"\n"}`:                     {[]string{"a \"b\"\n"}, false},
		`{"error":"it broke"}`:                       {[]string{"it broke"}, true},
		`{"error":{"code":5,"text":"it broke"}}`:     {[]string{"it broke", `{"error":{"code":5,"text":"it broke"}}`}, true},
		`{"output":"x","error":null}`:                {[]string{"x", `{"output":"x","error":null}`}, false},
		`{"output":"x","error":false}`:               {[]string{"x", `{"output":"x","error":false}`}, false},
		`{"content":[{"type":"text","text":"one"}]}`: {[]string{"text", "one"}, false},
		`{"celsius":18}`:                             {[]string{`{"celsius":18}`}, false},
		`{}`:                                         {nil, false},
	} {
		req := decode(t, flash+"generateContent",
			body(user+`,{"role":"model","parts":[`+
				call+`]},{"role":"user","parts":[{"functionResponse":{"name":"add","response":`+response+`}}]}`, ""))
		result := req.Messages[2].Content[0]
		var texts []string
		for _, b := range result.Content {
			texts = append(texts, b.Text)
		}
		require.Equal(t, want.texts, texts, response)
		require.Equal(t, want.isError, result.IsError, response)
	}
}

func TestOwnSchemasBecomeJSONSchema(t *testing.T) {
	declared := `{"type":"OBJECT","description":"d","required":["a"],"properties":{
		"a":{"type":"INTEGER","minimum":1},
		"b":{"type":"STRING","nullable":true,"minLength":"2","enum":["x","y"]},
		"c":{"type":"ARRAY","items":{"type":"BOOLEAN"},"max_items":"3"},
		"type":{"anyOf":[{"type":"number"},{"type":"NULL"}]}}}`
	req := decode(t, flash+"generateContent",
		body(user, `,"tools":[{"functionDeclarations":[{"name":"add","parameters":`+declared+`}]}]`))
	require.JSONEq(t, `{"type":"object","description":"d","required":["a"],"properties":{
		"a":{"type":"integer","minimum":1},
		"b":{"type":["string","null"],"minLength":2,"enum":["x","y"]},
		"c":{"type":"array","items":{"type":"boolean"},"maxItems":3},
		"type":{"anyOf":[{"type":"number"},{"type":"null"}]}}}`, string(req.Tools[0].InputSchema))
	require.Nil(t, GenerateContent.Check(req))
}

func FuzzDecode(f *testing.F) {
	f.Add(body(user, ""), true)
	f.Add(body(user+`,{"role":"model","parts":[`+call+`,{"text":"t","thought":true}]},{"role":"function","parts":[`+
		reply+`]}`, `,"generationConfig":{"topK":"5"}`), false)
	f.Add(body(`{"parts":{"text":"hi"}}`,
		`,"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"OBJECT","properties":{"x":{"minLength":`+
			`"0x1"}}}}]}],"tool_config":{"function_calling_config":{"mode":1}}`), true)
	f.Add(`{"contents":[{"parts":[{"functionResponse":{"response":{"a":[{"b":[]},"c",null]}}}]}]}`, true)
	f.Fuzz(func(t *testing.T, text string, third bool) {
		to := flash
		if third {
			to = pro
		}
		req, err := GenerateContent.Decode(request(t, to+"generateContent"), []byte(text))
		if err != nil {
			require.NotEmpty(t, err.Message)
			return
		}
		for _, tool := range req.Tools {
			require.True(t, json.Valid(tool.InputSchema), "%s", tool.InputSchema)
		}
		for _, use := range dialect.Blocks(req.Messages, dialect.ToolUse) {
			require.True(t, json.Valid(use.Input), "%s", use.Input)
		}
		if refused := GenerateContent.Check(req); refused != nil {
			require.NotEmpty(t, strings.TrimSpace(refused.Message))
		} else {
			codectest.CheckRewritten(t, GenerateContent, req)
		}
	})
}
