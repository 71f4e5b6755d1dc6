package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

const (
	calls2   = `{"role":"model","parts":[` + call + `,` + call + `]}`
	replies2 = `{"role":"user","parts":[` + reply + `,` + reply + `]}`
	answered = `{"role":"model","parts":[{"text":"so"}]}`
)

// declares is a request's tools with one function.
func declares(function string) string {
	return `,"tools":[{"functionDeclarations":[` + function + `]}]`
}

func parameters(schema string) string {
	return body(user, declares(`{"name":"add","parameters":`+schema+`}`))
}

func config(c string) string {
	return body(user, declares(`{"name":"add"}`)+`,"toolConfig":{"functionCallingConfig":`+c+`}`)
}

func signed(text string) string { return strings.TrimSuffix(text, "}") + `,"thoughtSignature":"c2ln"}` }

func turn(parts ...string) string {
	return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
}

func results(n int) string {
	return `{"role":"user","parts":[` + strings.TrimSuffix(strings.Repeat(reply+",", n), ",") + `]}`
}

func TestWhatTheAPIRefuses(t *testing.T) {
	for _, c := range []struct{ name, to, body, field, text string }{
		{"an unknown field", flash, body(user, `,"foo":1`), "", `Unknown name "foo": there is no such field`},
		{"fields of another API", flash, body(`{"role":"user","content":"x","parts":[{"type":"text","text":"hi"}]}`, ""), "contents[0]",
			"Unknown name \"type\" at 'contents[0].parts[0]': there is no such field"},
		{"a field in another case", flash, body(user, `,"GenerationConfig":{}`), "", `Unknown name "GenerationConfig"`},
		{"a schema's field that the API has not", flash, parameters(`{"type":"object","properties":{},"additionalProperties":false}`), "tools[0].functionDeclarations[0].parameters", `Unknown name "additionalProperties" at 'tools[0].functionDeclarations[0].parameters'`},
		{"JSON Schema's own words", vertex, parameters(`{"type":"object","$schema":"x"}`), "tools[0].functionDeclarations[0].parameters", `Unknown name "$schema"`},
		{"labels, which Vertex AI has", flash, body(user, `,"labels":{}`), "", `Unknown name "labels"`},

		{"no contents", flash, `{}`, "contents", "contents is not specified: want at least one content"},
		{"no body", flash, ``, "contents", "contents is not specified"},
		{"empty contents", flash, `{"contents":[]}`, "contents", "contents is not specified"},
		{"no parts", flash, body(`{"role":"user"}`, ""), "contents[0].parts", "contents[0].parts is empty: want at least one part"},
		{"empty parts", flash, body(user+`,{"role":"model","parts":[]}`, ""), "contents[1].parts", "contents[1].parts is empty"},
		{"an empty part", flash, body(`{"parts":[{}]}`, ""), "contents[0].parts[0].data", "contents[0].parts[0] has no data: want one of text, inlineData"},
		{"an empty part for the system", flash, body(user, `,"systemInstruction":{"parts":[{}]}`), "systemInstruction.parts[0].data", "has no data"},
		{"two in a part", flash, body(`{"parts":[{"text":"a","inlineData":{"mimeType":"image/png","data":"AA=="}}]}`, ""), "contents[0].parts[0]", "contents[0].parts[0] has text and inlineData: want one of them"},
		{"MCP's role", flash, body(user+`,{"role":"assistant","parts":[{"text":"hi"}]}`, ""), "contents[1].role", `contents[1] has the role "assistant": want user or model`},
		{"the role system", flash, body(`{"role":"system","parts":[{"text":"hi"}]}`, ""), "contents[0].role", `has the role "system"`},
		{"text of a function", flash, body(`{"role":"function","parts":[{"text":"hi"}]}`, ""), "contents[0].role", `has the role "function"`},
		{"media without a type", flash, body(`{"parts":[{"inlineData":{"data":"AA=="}}]}`, ""), "contents[0].parts[0].inlineData.mimeType", "contents[0].parts[0].inlineData has no mimeType"},
		{"media without data", flash, body(`{"parts":[{"inlineData":{"mimeType":"image/png"}}]}`, ""), "contents[0].parts[0].inlineData.data", "has no data"},
		{"a file without an address", flash, body(`{"parts":[{"fileData":{"mimeType":"image/png"}}]}`, ""), "contents[0].parts[0].fileData.fileUri", "has no fileUri"},
		{"a call without a name", flash, body(user+`,{"role":"model","parts":[{"functionCall":{}}]}`, ""), "contents[1].parts[0].functionCall.name", "has no name"},
		{"a result without a name", flash, body(user+`,`+turn(call)+`,{"role":"user","parts":[{"functionResponse":{"id":"c1","response":{}}}]}`, ""), "contents[2].parts[0].functionResponse.name", "has no name"},
		{"a result without a response", flash, body(user+`,`+turn(call)+`,{"role":"user","parts":[{"functionResponse":{"name":"add"}}]}`, ""), "contents[2].parts[0].functionResponse.response", "has no response: want an object"},

		{"no tokens", flash, body(user, `,"generationConfig":{"maxOutputTokens":0}`), "generation_config", "generationConfig.maxOutputTokens is 0: want 1 to"},
		{"hot", flash, body(user, `,"generation_config":{"temperature":2.1}`), "generation_config", "generation_config.temperature is 2.1: want 0 to 2"},
		{"all of it and more", flash, body(user, `,"generationConfig":{"topP":1.5}`), "generation_config", "topP is 1.5: want 0 to 1"},
		{"six stops", flash, body(user, `,"generationConfig":{"stopSequences":["1","2","3","4","5","6"]}`), "generation_config", "stopSequences has 6 sequences: want at most 5"},

		{"a tool without a name", flash, body(user, declares(`{}`)), "tools[0].functionDeclarations[0].name", `has the name ""`},
		{"a tool of MCP's shape", flash, body(user, `,"tools":[{"name":"add","inputSchema":{}}]`), "tools[0]", `Unknown name "inputSchema" at 'tools[0]'`},
		{"a name with a blank", flash, body(user, declares(`{"name":"a b"}`)), "tools[0].functionDeclarations[0].name", `has the name "a b": want a match of`},
		{"a name that begins with a digit", flash, body(user, declares(`{"name":"1a"}`)), "tools[0].functionDeclarations[0].name", "want a match of"},
		{"a long name", flash, body(user, declares(`{"name":"`+strings.Repeat("a", 129)+`"}`)), "tools[0].functionDeclarations[0].name", "want a match of"},
		{"a name twice", flash, body(user, declares(`{"name":"a"},{"name":"a"}`)), "tools", "the function a is declared twice"},
		{"two schemas", flash, body(user, declares(`{"name":"a","parameters":{"type":"OBJECT"},"parametersJsonSchema":{}}`)), "tools[0].functionDeclarations[0]", "has both parameters and parametersJsonSchema"},
		{"parameters that are no object", flash, parameters(`{"type":"STRING"}`), "tools[0].functionDeclarations[0].parameters", `has the type "STRING": want OBJECT`},
		{"a type that is none", flash, parameters(`{"type":"object","properties":{"a":{"type":"float"}}}`), "tools[0].functionDeclarations[0].parameters.properties.a.type", `"float" is no type: want ARRAY, BOOLEAN`},
		{"an array of nothing", flash, parameters(`{"type":"object","properties":{"a":{"type":"array"}}}`), "tools[0].functionDeclarations[0].parameters.properties.a", "parameters.properties.a.items: missing field"},
		{"required and not there", flash, parameters(`{"type":"object","properties":{},"required":["a"]}`), "", `parameters.required[0]: property "a" is not defined`},

		{"an unknown mode", flash, config(`{"mode":"required"}`), "toolConfig.functionCallingConfig.mode", `"required" is no mode: want AUTO, ANY, NONE, VALIDATED`},
		{"any of nothing", flash, body(user, `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`), "tool_config", "function calling has the mode ANY, and no function is declared"},
		{"names that are only allowed", flash, config(`{"mode":"AUTO","allowedFunctionNames":["add"]}`), "tool_config", `allowedFunctionNames is set, and the mode is "AUTO"`},
		{"a name that is not declared", flash, config(`{"mode":"ANY","allowedFunctionNames":["sub"]}`), "tool_config", `allowedFunctionNames has "sub", which is not declared`},

		{"trailing call", flash, body(user+`,`+calls2, ""), "contents", "the number of function response parts, 0, is not that of the function call parts of the turn before, 2"},
		{"one of two results", flash, body(user+`,`+calls2+`,`+results(1), ""), "contents[2]", "response parts, 1, is not that of the function call parts of the turn before, 2"},
		{"results in two turns", flash, body(user+`,`+calls2+`,`+results(1)+`,`+results(1), ""), "contents[2]", "response parts, 1"},
		{"a result too many", flash, body(user+`,`+turn(call)+`,`+replies2, ""), "contents[2]", "response parts, 2"},
		{"text in place of results", flash, body(user+`,`+calls2+`,`+user, ""), "contents[2]", "response parts, 0"},
		{"orphan result", flash, body(user+`,`+results(1), ""), "contents[1]", "contents[1] has a functionResponse: a turn of function responses comes right after a turn of function calls"},
		{"a result first", flash, body(results(1), ""), "contents[0]", "comes right after a turn of function calls"},
		{"a result after text", flash, body(user+`,`+turn(call)+`,`+results(1)+`,`+answered+`,`+results(1), ""), "contents[4]", "comes right after a turn of function calls"},
		{"calls first", flash, body(calls2+`,`+replies2, ""), "contents[0]", "contents[0] has a functionCall: a turn of function calls comes right after a user's turn"},
		{"calls apart from their text", flash, body(user+`,`+answered+`,`+calls2+`,`+replies2, ""), "contents[2]", "contents[2] has a functionCall: a turn of function calls comes right after"},
		{"calls of a user", flash, body(`{"role":"user","parts":[`+call+`]},`+results(1), ""), "contents[0]", "contents[0] has a functionCall and the role user: want the role model"},
		{"results of the model", flash, body(user+`,`+turn(call)+`,{"role":"model","parts":[`+reply+`]}`, ""), "contents[2]", "contents[2] has a functionResponse and the role model: want the role user"},

		{"a call without its signature", pro, body(user+`,`+turn(call)+`,`+results(1), ""), "contents[1].parts[0]", "the function call add at contents[1].parts[0] has no thought_signature"},
		{"the signature on the second call", pro, body(user+`,`+turn(call, signed(call))+`,`+results(2), ""), "contents[1].parts[0]", "has no thought_signature"},
		{"the second step without", pro, body(user+`,`+turn(signed(call))+`,`+results(1)+`,`+turn(call)+`,`+results(1), ""), "contents[3].parts[0]", "has no thought_signature"},
		{"the signature on the text beside", pro, body(user+`,`+turn(signed(`{"text":"so"}`), call)+`,`+results(1), ""), "contents[1].parts[1]", "has no thought_signature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := GenerateContent.Check(decode(t, c.to+generate, c.body))
			require.NotNil(t, err, "it was accepted")
			require.Equal(t, http.StatusBadRequest, err.Status)
			require.Equal(t, "INVALID_ARGUMENT", err.Kind)
			if c.field != "" {
				require.Equal(t, c.field, err.Param)
			}
			require.Contains(t, err.Message, c.text)
		})
	}
}

func TestWhatTheAPIAccepts(t *testing.T) {
	for name, c := range map[string]struct{ to, body string }{
		"the least":                    {flash, `{"contents":[{"parts":[{"text":"hi"}]}]}`},
		"a part in place of parts":     {flash, `{"contents":[{"parts":{"text":"hi"}}],"system_instruction":{"parts":{"text":"s"}}}`},
		"the model's word last":        {flash, body(user+`,`+answered, "")},
		"two users":                    {flash, body(user+`,`+user, "")},
		"an empty text":                {flash, body(user+`,{"role":"model","parts":[{"text":""}]}`, "")},
		"results":                      {flash, body(user+`,`+calls2+`,`+replies2, "")},
		"the old role of results":      {flash, body(user+`,`+turn(call)+`,{"role":"function","parts":[`+reply+`]}`, "")},
		"an image beside results":      {flash, body(user+`,`+turn(call)+`,{"role":"user","parts":[`+reply+`,{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}`, "")},
		"text beside calls":            {flash, body(user+`,`+turn(`{"text":"so"}`, call)+`,`+results(1), "")},
		"several rounds":               {flash, body(user+`,`+turn(call)+`,`+results(1)+`,`+turn(call)+`,`+results(1)+`,`+answered+`,`+user, "")},
		"ids":                          {flash, body(user+`,`+turn(`{"functionCall":{"id":"1","name":"add"}}`)+`,{"role":"user","parts":[{"functionResponse":{"id":"1","name":"add","response":{}}}]}`, "")},
		"signatures":                   {pro, body(user+`,`+turn(signed(call), call)+`,`+results(2), "")},
		"the signature of no model":    {pro, body(user+`,`+turn(strings.TrimSuffix(call, "}")+`,"thought_signature":"skip_thought_signature_validator"}`)+`,`+results(1), "")},
		"an earlier turn without":      {pro, body(user+`,`+turn(call)+`,`+results(1)+`,`+answered+`,`+user, "")},
		"the second generation":        {"/v1/models/gemini-2.0-flash:", body(user+`,`+turn(call)+`,`+results(1), "")},
		"the edges":                    {flash, body(user, `,"generationConfig":{"temperature":2,"maxOutputTokens":1,"topP":1,"candidateCount":8,"stopSequences":["1","2","3","4","5"]}`)},
		"nulls":                        {flash, body(user, `,"generationConfig":null,"tools":null,"systemInstruction":{"role":null,"parts":[{"text":"s"}]}`)},
		"a tool without parameters":    {flash, body(user, declares(`{"name":"add"}`))},
		"a tool without properties":    {flash, parameters(`{"type":"OBJECT","properties":{}}`)},
		"types in lower case":          {flash, parameters(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"required":["a"]}`)},
		"any JSON Schema":              {flash, body(user, declares(`{"name":"a.b:c-d","parametersJsonSchema":{"$schema":"x","type":"object","additionalProperties":false}}`))},
		"what Vertex AI knows":         {vertex, body(user, `,"labels":{"a":"b"}`+declares(`{"name":"a","parameters":{"type":"object","additionalProperties":false}}`))},
		"tools of Google's":            {flash, body(user, `,"tools":[{"googleSearch":{}},{"codeExecution":{}}],"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`)},
		"each mode":                    {flash, config(`{"mode":"VALIDATED","allowedFunctionNames":["add"]}`)},
		"none":                         {flash, config(`{"mode":"NONE"}`)},
		"none of none":                 {flash, body(user, `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`)},
		"what functions return, whole": {flash, body(user+`,`+turn(call)+`,{"parts":[{"functionResponse":{"name":"add","response":{},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}`, "")},
	} {
		t.Run(name, func(t *testing.T) {
			require.Nil(t, GenerateContent.Check(decode(t, c.to+generate, c.body)))
		})
	}
}

func TestCredentialsAreWanted(t *testing.T) {
	for _, c := range []struct {
		name, to string
		header   http.Header
		status   int
		text     string
	}{
		{"a key", flash + generate, http.Header{"X-Goog-Api-Key": {"k"}}, 0, ""},
		{"a key in the query", flash + generate + "?key=k", nil, 0, ""},
		{"a token", vertex + generate, http.Header{"Authorization": {"Bearer t"}}, 0, ""},
		{"a key for Vertex AI", vertex + generate, http.Header{"X-Goog-Api-Key": {"k"}}, 0, ""},
		{"none", flash + generate, nil, 403, "the request has no API key: want one in the header x-goog-api-key, or as ?key="},
		{"an empty key", flash + generate + "?key=", http.Header{"X-Goog-Api-Key": {""}}, 403, "the request has no API key"},
		{"none for Vertex AI", vertex + generate, http.Header{"Authorization": {"Bearer "}}, 401, "the request has no credentials: want Authorization: Bearer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request(t, c.to)
			r.Header = c.header
			req, refused := GenerateContent.Decode(r, []byte(body(user, "")))
			require.Nil(t, refused)
			err := GenerateContent.Check(req)
			if c.status == 0 {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, c.status, err.Status)
			require.Contains(t, err.Message, c.text)
		})
	}
}

func TestErrorsHaveTheAPIsShape(t *testing.T) {
	const rpc = "type.googleapis.com/google.rpc."
	for _, c := range []struct {
		err  dialect.Error
		want string
	}{
		{dialect.Error{Status: 400, Message: "a < b"}, `{"code":400,"message":"a < b","status":"INVALID_ARGUMENT"}`},
		{*invalid("contents", "none"), `{"code":400,"message":"none","status":"INVALID_ARGUMENT","details":[{"@type":"` + rpc + `BadRequest","fieldViolations":[{"field":"contents","description":"none"}]}]}`},
		{dialect.Error{Status: 400, Code: "API_KEY_INVALID", Message: "bad key"}, `{"code":400,"message":"bad key","status":"INVALID_ARGUMENT","details":[
			{"@type":"` + rpc + `ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}},
			{"@type":"` + rpc + `LocalizedMessage","locale":"en-US","message":"bad key"}]}`},
		{dialect.Error{Status: 401, Message: "m"}, `{"code":401,"message":"m","status":"UNAUTHENTICATED"}`},
		{dialect.Error{Status: 403, Message: "m"}, `{"code":403,"message":"m","status":"PERMISSION_DENIED"}`},
		{dialect.Error{Status: 404, Message: "m"}, `{"code":404,"message":"m","status":"NOT_FOUND"}`},
		{dialect.Error{Status: 413, Message: "m"}, `{"code":413,"message":"m","status":"FAILED_PRECONDITION"}`},
		{dialect.Error{Status: 500, Message: "m"}, `{"code":500,"message":"m","status":"INTERNAL"}`},
		{dialect.Error{Status: 503, Message: "m"}, `{"code":503,"message":"m","status":"UNAVAILABLE"}`},
		{dialect.Error{Status: 504, Message: "m"}, `{"code":504,"message":"m","status":"DEADLINE_EXCEEDED"}`},
		{dialect.Error{Status: 529, Message: "m"}, `{"code":529,"message":"m","status":"UNKNOWN"}`},
		{dialect.Error{Status: 400, Kind: "FAILED_PRECONDITION", Message: "m"}, `{"code":400,"message":"m","status":"FAILED_PRECONDITION"}`},
	} {
		t.Run(fmt.Sprint(c.err.Status, c.err.Code), func(t *testing.T) {
			a := GenerateContent.EncodeError(&c.err)
			require.Equal(t, c.err.Status, a.Status)
			require.False(t, a.Stream)
			require.JSONEq(t, `{"error":`+c.want+`}`, string(join(a)))
			require.Equal(t, "application/json; charset=UTF-8", a.Header.Get("Content-Type"))
		})
	}
	a := GenerateContent.EncodeError(&dialect.Error{Status: 429, Message: "slow", Header: http.Header{"Retry-After": {"7"}}})
	require.Equal(t, "7", a.Header.Get("Retry-After"))
	var got struct {
		Error struct {
			Status  string
			Details []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(join(a), &got))
	require.Equal(t, "RESOURCE_EXHAUSTED", got.Error.Status)
	require.Equal(t, "7s", got.Error.Details[2]["retryDelay"])
}

func TestErrorsInMidStream(t *testing.T) {
	broken := &dialect.Error{Status: 503, Message: "overloaded"}
	sse := decode(t, flash+streamGenerate+"?alt=sse", body(user, ""))
	require.Equal(t, `data: {"error": {"code": 503,"message": "overloaded","status": "UNAVAILABLE"}}`+"\r\n\r\n", string(GenerateContent.EncodeErrorEvent(sse, nil, 0, broken)))
	array := decode(t, flash+streamGenerate, body(user, ""))
	text := append([]byte(`[{}`), GenerateContent.EncodeErrorEvent(array, nil, 0, broken)...)
	require.JSONEq(t, `[{},{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, string(text))
}

func TestErrorsBeforeAStreamThatIsAnArrayAreInOne(t *testing.T) {
	refused := &dialect.Error{Status: 400, Message: "no"}
	const want = `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`
	for to, wrapped := range map[string]bool{
		flash + generate: false, flash + streamGenerate + "?alt=sse": false, flash + streamGenerate: true,
	} {
		u, err := url.Parse(to)
		require.NoError(t, err)
		got := string(join(GenerateContent.EncodeError(refused.At(u))))
		if wrapped {
			require.JSONEq(t, "["+want+"]", got, to)
		} else {
			require.JSONEq(t, want, got, to)
		}
	}
	require.Nil(t, refused.URL, "the error itself is as it was")
}
