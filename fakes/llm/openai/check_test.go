package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

const (
	user   = `{"role":"user","content":"hi"}`
	calls  = `{"role":"assistant","content":null,"tool_calls":[` + call1 + `,` + call2 + `]}`
	call1  = `{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}}`
	call2  = `{"id":"c2","type":"function","function":{"name":"add","arguments":"{}"}}`
	reply1 = `{"role":"tool","tool_call_id":"c1","content":"1"}`
	reply2 = `{"role":"tool","tool_call_id":"c2","content":"2"}`
	add    = `{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{}}}}`
)

// body is a request with the messages and further members.
func body(messages, more string) string {
	return `{"model":"gpt-4o","messages":[` + messages + `]` + more + `}`
}

// refusal decodes and checks, as the server does.
func refusal(text string) *dialect.Error {
	req, err := Chat.Decode(&http.Request{}, []byte(text))
	if err != nil {
		return err
	}
	return Chat.Check(req)
}

func manyTools(n int) string {
	return strings.TrimSuffix(strings.Repeat(add+",", n), ",")
}

func TestWhatTheProviderRefuses(t *testing.T) {
	tool := func(function string) string {
		return body(user, `,"tools":[{"type":"function","function":`+function+`}]`)
	}
	assistant := func(member string) string { return body(user+`,{"role":"assistant",`+member+`}`, "") }
	for _, c := range []struct{ name, body, param, code, text string }{
		{"no JSON", `{"model":`, "", "", "the body could not be read as a JSON object: unexpected end of JSON input"},
		{"no object", `[]`, "", "", "the body could not be read as a JSON object: "},
		{"null", `null`, "", "", "the body is null: want a JSON object"},
		{"nothing", ``, "", "", "the body could not be read as a JSON object: "},
		{"wrong model", `{"model":1,"messages":[]}`, "model", "invalid_type", "model has the wrong type: want a string, got the number 1"},
		{"wrong model and stream", `{"stream":7,"model":1}`, "model", "invalid_type", "model has the wrong type"},
		{"wrong stream", body(user, `,"stream":"yes"`), "stream", "invalid_type", "want true or false, got a string"},
		{"wrong temperature", body(user, `,"temperature":"hot"`), "temperature", "invalid_type", "want a number, got a string"},
		{"fractional max_tokens", body(user, `,"max_tokens":1.5`), "max_tokens", "invalid_type", "want an integer, got the number 1.5"},
		{"wrong stop", body(user, `,"stop":{}`), "stop", "invalid_type", "want a string or an array of strings, got an object"},
		{"wrong messages", `{"model":"m","messages":"hi"}`, "messages", "invalid_type", "want an array, got a string"},
		{"null message", body("null", ""), "messages[0]", "invalid_type", "messages[0] has the wrong type: want an object, got null"},
		{"wrong content", body(`{"role":"user","content":{}}`, ""), "messages[0].content", "invalid_type", "want an array, got an object"},
		{"wrong tools", body(user, `,"tools":"string"`), "tools", "invalid_type", "want an array, got a string"},

		{"no model", `{"messages":[` + user + `]}`, "model", "missing_required_parameter", "no model is named: set model"},
		{"no messages", `{"model":"m"}`, "messages", "missing_required_parameter", "messages are missing: want at least one"},
		{"null messages", `{"model":"m","messages":null}`, "messages", "missing_required_parameter", "messages are missing"},
		{"empty messages", body("", ""), "messages", "empty_array", "messages is empty: want at least one"},
		{"unknown member", body(user, `,"maxTokens":1`), "", "", "Unrecognized request argument supplied: maxTokens"},
		{"unknown members", body(user, `,"z":1,"_meta":{}`), "", "", "Unrecognized request arguments supplied: _meta, z"},
		{"member in another case", body(user, `,"Temperature":1`), "", "", "Unrecognized request argument supplied: Temperature"},
		{"deprecated functions", body(user, `,"functions":[]`), "", "", "Unrecognized request argument supplied: functions"},

		{"cold", body(user, `,"temperature":-0.1`), "temperature", "decimal_out_of_range", "temperature is -0.1: want 0 to 2"},
		{"hot", body(user, `,"temperature":2.1`), "temperature", "decimal_out_of_range", "temperature is 2.1: want 0 to 2"},
		{"no answers", body(user, `,"n":0`), "n", "integer_out_of_range", "n is 0: want 1 to 128"},
		{"too many answers", body(user, `,"n":129`), "n", "integer_out_of_range", "n is 129: want 1 to 128"},
		{"no tokens", body(user, `,"max_tokens":0`), "max_tokens", "integer_below_min_value", "max_tokens is 0: want at least 1"},
		{"fewer than no tokens", body(user, `,"max_completion_tokens":-1`), "max_completion_tokens", "integer_below_min_value", "max_completion_tokens is -1: want at least 1"},
		{"two limits", body(user, `,"max_completion_tokens":1,"max_tokens":1`), "max_tokens", "invalid_parameter_combination", "want one of them"},
		{"five stops", body(user, `,"stop":["1","2","3","4","5"]`), "stop", "array_above_max_length", "stop has 5 sequences: want at most 4"},
		{"stream options without stream", body(user, `,"stream_options":{}`), "stream_options", "", "stream_options is set without stream"},

		{"empty tools", body(user, `,"tools":[]`), "tools", "empty_array", "tools is empty: want at least one tool, or no tools"},
		{"129 tools", body(user, `,"tools":[`+manyTools(129)+`]`), "tools", "array_above_max_length", "there are 129 tools: want at most 128"},
		{"unknown tool type", body(user, `,"tools":[{"type":"mcp"}]`), "tools[0].type", "invalid_value", `tools[0] has the type "mcp": want function`},
		{"tool of MCP's shape", body(user, `,"tools":[{"name":"add","inputSchema":{}}]`), "tools[0].type", "invalid_value", `tools[0] has the type "": want function`},
		{"tool without name", tool(`{}`), "tools[0].function.name", "missing_required_parameter", "tools[0].function has no name"},
		{"tool with a dot", tool(`{"name":"a.b"}`), "tools[0].function.name", "invalid_value", `tools[0].function has the name "a.b": want a match of ^[a-zA-Z0-9_-]{1,64}$`},
		{"tool with a long name", tool(`{"name":"` + strings.Repeat("a", 65) + `"}`), "tools[0].function.name", "invalid_value", "want a match of"},
		{"tool with an array for parameters", tool(`{"name":"a","parameters":[]}`), "tools[0].function.parameters", "invalid_type", "the parameters of tool a are no schema: want an object, got an array"},
		{"tool with a string for parameters", tool(`{"name":"a","parameters":"{}"}`), "tools[0].function.parameters", "invalid_type", "want an object, got a string"},
		{"tool of no type", tool(`{"name":"a","parameters":{}}`), "tools[0].function.parameters", "invalid_function_parameters", `the parameters of tool a have no "type": "object"`},
		{"tool that is a string", tool(`{"name":"a","parameters":{"type":"string"}}`), "tools[0].function.parameters", "invalid_function_parameters", `have no "type": "object"`},
		{"tool without properties", tool(`{"name":"a","parameters":{"type":"object"}}`), "tools[0].function.parameters", "invalid_function_parameters", `have no properties: want them in every object schema, "properties": {}`},
		{"tool of one of two", tool(`{"name":"a","parameters":{"type":"object","properties":{},"anyOf":[{}]}}`), "tools[0].function.parameters", "invalid_function_parameters", "the parameters of tool a have anyOf at their top level"},
		{"array without items", tool(`{"name":"a","parameters":{"type":"object","properties":{"b":{"type":"array"}}}}`), "tools[0].function.parameters", "invalid_function_parameters", "the tool a has an array without items at parameters.properties.b: want items"},
		{"array without items, deep", tool(`{"name":"a","parameters":{"type":"object","properties":{"b":{"anyOf":[{"type":"null"},{"type":"array","items":{"type":"array"}}]}}}}`), "tools[0].function.parameters", "invalid_function_parameters", "at parameters.properties.b.anyOf[1].items: want items"},
		{"array without items in a definition", tool(`{"name":"a","parameters":{"type":"object","properties":{},"$defs":{"d":{"type":"array"}}}}`), "tools[0].function.parameters", "invalid_function_parameters", "at parameters.$defs.d: want items"},
		{"max_tokens to one that reasons", strings.Replace(body(user, `,"max_tokens":9`), "gpt-4o", "gpt-5-mini", 1), "max_tokens", "unsupported_parameter", "max_tokens is set, which the model gpt-5-mini does not take: want max_completion_tokens"},
		{"max_tokens to a later one", strings.Replace(body(user, `,"max_tokens":9`), "gpt-4o", "gpt-5.2", 1), "max_tokens", "unsupported_parameter", "which the model gpt-5.2 does not take"},
		{"temperature to one that reasons", strings.Replace(body(user, `,"temperature":0.2`), "gpt-4o", "o4-mini", 1), "temperature", "unsupported_value", "temperature is 0.2: the model o4-mini takes only 1, the default"},
		{"stop to one that reasons", strings.Replace(body(user, `,"stop":["."]`), "gpt-4o", "gpt-5", 1), "stop", "unsupported_parameter", "stop is set, which the model gpt-5 does not take"},
		{"parallel without tools", body(user, `,"parallel_tool_calls":true`), "parallel_tool_calls", "", "want it only with tools"},

		{"choice without tools", body(user, `,"tool_choice":"none"`), "tool_choice", "", "tool_choice is set without tools: want it only with tools"},
		{"unknown choice", body(user, `,"tool_choice":"any","tools":[`+add+`]`), "tool_choice", "invalid_value", `tool_choice is "any": want auto, none, required, or an object`},
		{"choice of a wrong type", body(user, `,"tool_choice":1,"tools":[`+add+`]`), "tool_choice", "invalid_type", "want a string or an object, got the number 1"},
		{"choice of MCP's shape", body(user, `,"tool_choice":{"mode":"auto"},"tools":[`+add+`]`), "tool_choice.type", "invalid_value", `tool_choice has the type "": want function`},
		{"choice of a tool that is not there", body(user, `,"tool_choice":{"type":"function","function":{"name":"sub"}},"tools":[`+add+`]`), "tool_choice", "invalid_value", `tool_choice is the tool "sub": no such tool`},

		{"unknown role", body(`{"role":"human","content":"hi"}`, ""), "messages.[0].role", "invalid_value", `messages[0] has the role "human": want system, developer, user, assistant or tool`},
		{"no role", body(user+`,{"content":"hi"}`, ""), "messages.[1].role", "invalid_value", `messages[1] has the role ""`},
		{"no content", body(`{"role":"user"}`, ""), "messages.[0].content", "", "messages[0], role user, has no content"},
		{"null content", body(`{"role":"system","content":null}`, ""), "messages.[0].content", "", "messages[0], role system, has no content"},
		{"empty content", body(`{"role":"user","content":[]}`, ""), "messages.[0].content", "", "messages[0], role user, has no content"},
		{"silent assistant", assistant(`"content":null`), "messages.[1].content", "", "messages[1], role assistant, has no content"},
		{"null result", body(user+`,`+calls+`,{"role":"tool","tool_call_id":"c1","content":null}`, ""), "messages.[2].content", "", "messages[2], role tool, has no content"},
		{"image to system", body(`{"role":"system","content":[{"type":"image_url","image_url":{"url":"http://a"}}]}`, ""), "messages[0].content[0].type", "invalid_value", `has the type "image_url": want text in a message of the role system`},
		{"image from assistant", assistant(`"content":[{"type":"image_url","image_url":{"url":"http://a"}}]`), "messages[1].content[0].type", "invalid_value", "want text or refusal in a message of the role assistant"},
		{"image as result", body(user+`,`+calls+`,{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url","image_url":{"url":"http://a"}}]}`, ""), "messages[2].content[0].type", "invalid_value", "want text in a message of the role tool"},
		{"block of MCP's shape", body(`{"role":"user","content":[{"type":"image","data":"","mimeType":""}]}`, ""), "messages[0].content[0].type", "invalid_value", `has the type "image": want text or image_url or input_audio or file`},
		{"text without text", body(`{"role":"user","content":[{"type":"text"}]}`, ""), "messages[0].content[0].text", "missing_required_parameter", "messages[0].content[0] has no text"},
		{"image without url", body(`{"role":"user","content":[{"type":"image_url","image_url":"http://a"}]}`, ""), "messages[0].content[0].image_url", "missing_required_parameter", "has no url"},
		{"image of bad base64", body(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}`, ""), "messages[0].content[0].image_url.url", "invalid_base64", "has an image that cannot be read: illegal base64"},
		{"image not in base64", body(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,x"}}]}`, ""), "messages[0].content[0].image_url.url", "invalid_base64", "a data URI without ;base64,"},

		{"calls of a user", body(`{"role":"user","content":"hi","tool_calls":[`+call1+`]}`, ""), "messages[0].tool_calls", "", "messages[0] has tool_calls: only an assistant's message may"},
		{"empty calls", assistant(`"content":"hi","tool_calls":[]`), "messages[1].tool_calls", "empty_array", "messages[1].tool_calls is empty: want at least one call, or no tool_calls"},
		{"call without id", assistant(`"tool_calls":[{"type":"function","function":{"name":"a","arguments":"{}"}}]`), "messages[1].tool_calls[0].id", "missing_required_parameter", "messages[1].tool_calls[0] has no id"},
		{"call without type", assistant(`"tool_calls":[{"id":"c1","function":{"name":"a","arguments":"{}"}}]`), "messages[1].tool_calls[0].type", "invalid_value", `messages[1].tool_calls[0] has the type "": want function`},
		{"call with a long id", assistant(`"tool_calls":[{"id":"` + strings.Repeat("c", 65) + `","type":"function","function":{"name":"a","arguments":"{}"}}]`), "messages[1].tool_calls[0].id", "string_above_max_length", "has an id of 65 characters: want at most 64"},
		{"call of a name with a dot", assistant(`"tool_calls":[{"id":"c1","type":"function","function":{"name":"a.b","arguments":"{}"}}]`), "messages[1].tool_calls[0].function.name", "invalid_value", `has the name "a.b": want a match of ^[a-zA-Z0-9_-]{1,64}$`},
		{"call without name", assistant(`"tool_calls":[{"id":"c1","type":"function","function":{"arguments":"{}"}}]`), "messages[1].tool_calls[0].function.name", "missing_required_parameter", "has no function.name"},
		{"arguments that are an object", assistant(`"tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":{}}}]`), "messages[1].tool_calls[0].function.arguments", "invalid_type", "has arguments that are no string: want the JSON text of the arguments, got an object"},
		{"no arguments", assistant(`"tool_calls":[{"id":"c1","type":"function","function":{"name":"a"}}]`), "messages[1].tool_calls[0].function.arguments", "invalid_type", "got nothing"},

		{"trailing call", body(user+`,`+calls, ""), "messages.[2].role", "", "tool calls without an answer before messages[2]: want a tool message for each of c1, c2"},
		{"one of two results", body(user+`,`+calls+`,`+reply1+`,`+user, ""), "messages.[3].role", "", "before messages[3]: want a tool message for each of c2"},
		{"late result", body(user+`,`+calls+`,`+reply1+`,`+user+`,`+reply2, ""), "messages.[3].role", "", "want a tool message for each of c2"},
		{"calls upon calls", body(user+`,`+calls+`,`+calls, ""), "messages.[2].role", "", "want a tool message for each of c1, c2"},
		{"orphan result", body(user+`,`+reply1, ""), "messages.[1].role", "", "messages[1] has the role tool and answers no call"},
		{"result first", body(reply1, ""), "messages.[0].role", "", "messages[0] has the role tool and answers no call"},
		{"result after another message", body(user+`,`+calls+`,`+reply1+`,`+reply2+`,`+user+`,`+reply1, ""), "messages.[5].role", "", "answers no call"},
		{"result of a foreign call", body(user+`,`+calls+`,{"role":"tool","tool_call_id":"c9","content":""}`, ""), "messages.[2].tool_call_id", "", `messages[2] answers the call "c9": the assistant message before it made only c1, c2`},
		{"result under MCP's name", body(user+`,`+calls+`,{"role":"tool","toolUseId":"c1","content":""}`, ""), "messages.[2].tool_call_id", "", `answers the call ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := refusal(c.body)
			require.NotNil(t, err, "it was accepted")
			require.Equal(t, http.StatusBadRequest, err.Status)
			require.Equal(t, "invalid_request_error", err.Kind)
			require.Equal(t, c.param, err.Param)
			require.Equal(t, c.code, err.Code)
			require.Contains(t, err.Message, c.text)
		})
	}
}

func TestWhatTheProviderAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"the least":               body(user, ""),
		"an array with items":     body(user, `,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"array":{"type":"array","items":{}},"b":{"enum":["array"]}}}}}]`),
		"one that is constant":    body(user, `,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{},"const":{}}}}]`),
		"one that reasons":        strings.Replace(body(user, `,"max_completion_tokens":9,"temperature":1,"stop":[]`), "gpt-4o", "gpt-5", 1),
		"the effort of none":      strings.Replace(body(user, `,"temperature":0.2,"reasoning_effort":"none"`), "gpt-4o", "gpt-5.1", 1),
		"one that only chats":     strings.Replace(body(user, `,"max_tokens":9,"temperature":0.2`), "gpt-4o", "gpt-5-chat-latest", 1),
		"every role":              body(`{"role":"developer","content":"d"},{"role":"system","content":[{"type":"text","text":"s"}]},`+user+`,`+calls+`,`+reply1+`,`+reply2, ""),
		"results in reverse":      body(user+`,`+calls+`,`+reply2+`,`+reply1+`,`+user, ""),
		"a result twice":          body(user+`,`+calls+`,`+reply2+`,`+reply2+`,`+reply1, ""),
		"two calls with one id":   body(user+`,{"role":"assistant","tool_calls":[`+call1+`,`+call1+`]},`+reply1, ""),
		"text beside calls":       body(user+`,{"role":"assistant","content":"so","tool_calls":[`+call1+`]},`+reply1, ""),
		"an empty text":           body(`{"role":"user","content":""}`, ""),
		"an empty result":         body(user+`,`+calls+`,`+reply1+`,{"role":"tool","tool_call_id":"c2","content":""}`, ""),
		"a refusal":               body(user+`,{"role":"assistant","content":null,"refusal":"no"},`+user, ""),
		"assistant first":         body(`{"role":"assistant","content":"hi"}`, ""),
		"arguments that are junk": body(user+`,{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{"}}]},`+reply1, ""),
		"media":                   body(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b.png"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"file","file":{"file_id":"f"}}]}`, ""),
		"128 tools":               body(user, `,"tools":[`+manyTools(128)+`]`),
		"a tool without schema":   body(user, `,"tools":[{"type":"function","function":{"name":"a"}}],"parallel_tool_calls":false`),
		"a custom tool":           body(user, `,"tools":[{"type":"custom","custom":{"name":"a"}}],"tool_choice":{"type":"custom","custom":{"name":"a"}}`),
		"a custom tool's call":    body(user+`,{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"a","input":"x"}}]},`+reply1, ""),
		"a choice of one":         body(user, `,"tools":[`+add+`],"tool_choice":{"type":"function","function":{"name":"add"}}`),
		"a choice of some":        body(user, `,"tools":[`+add+`],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`),
		"each mode":               body(user, `,"tools":[`+add+`],"tool_choice":"required"`),
		"the edges":               body(user, `,"temperature":2,"n":128,"max_tokens":1,"stop":["1","2","3","4"]`),
		"nulls":                   body(user, `,"temperature":null,"tools":null,"tool_choice":null,"stop":null,"max_tokens":null,"stream":null`),
		"a usage chunk":           body(user, `,"stream":true,"stream_options":{"include_usage":true}`),
	} {
		t.Run(name, func(t *testing.T) { require.Nil(t, refusal(text)) })
	}
}

func TestErrorsHaveTheProvidersShape(t *testing.T) {
	retry := "X-Should-Retry"
	for _, c := range []struct {
		err    dialect.Error
		body   string
		header map[string]string
	}{
		{*refusal(body(`{"role":"human","content":"hi"}`, "")), `{"error":{"message":"messages[0] has the role \"human\": want system, developer, user, assistant or tool",
			"type":"invalid_request_error","param":"messages.[0].role","code":"invalid_value"}}`, map[string]string{retry: "false"}},
		{dialect.Error{Status: 404, Message: "a < b"}, `{"error":{"message":"a < b","type":"invalid_request_error","param":null,"code":null}}`, map[string]string{retry: "false"}},
		{dialect.Error{Status: 429, Message: "slow", Header: http.Header{"Retry-After": {"7"}}}, `{"error":{"message":"slow","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
			map[string]string{retry: "", "Retry-After": "7"}},
		{dialect.Error{Status: 500, Message: "oops"}, `{"error":{"message":"oops","type":"server_error","param":null,"code":null}}`, map[string]string{retry: ""}},
		{dialect.Error{Status: 529, Message: "oops"}, `{"error":{"message":"oops","type":"server_error","param":null,"code":null}}`, map[string]string{retry: ""}},
		{dialect.Error{Status: 503, Kind: "overloaded", Message: "oops"}, `{"error":{"message":"oops","type":"overloaded","param":null,"code":null}}`, map[string]string{retry: ""}},
	} {
		t.Run(fmt.Sprint(c.err.Status), func(t *testing.T) {
			a := Chat.EncodeError(&c.err)
			require.Equal(t, c.err.Status, a.Status)
			require.False(t, a.Stream)
			require.Len(t, a.Chunks, 1)
			require.JSONEq(t, c.body, string(a.Chunks[0]))
			require.True(t, json.Valid(a.Chunks[0]))
			require.Equal(t, "application/json; charset=utf-8", a.Header.Get("Content-Type"))
			require.Regexp(t, "^req_[A-Za-z0-9]{32}$", a.Header.Get("X-Request-Id"))
			for name, value := range c.header {
				require.Equal(t, value, a.Header.Get(name), name)
			}
		})
	}
}
