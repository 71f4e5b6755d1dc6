package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// refusalOfResponses decodes and checks, as the server does.
func refusalOfResponses(text string) *dialect.Error {
	req, err := Responses.Decode(&http.Request{}, []byte(text))
	if err != nil {
		return err
	}
	return Responses.Check(req)
}

// strictTool is a request with a strict tool that has the schema.
func strictTool(schema string) string {
	return input(userItem, `,"tools":[{"type":"function","name":"a","strict":true,"parameters":`+schema+`}]`)
}

func TestWhatResponsesRefuses(t *testing.T) {
	tool := func(members string) string { return input(userItem, `,"tools":[{`+members+`}]`) }
	content := func(role, parts string) string { return input(`{"role":"`+role+`","content":[`+parts+`]}`, "") }
	choice := func(choice string) string { return input(userItem, `,"tools":[`+flatAdd+`],"tool_choice":`+choice) }
	long := strings.Repeat("a", 129)
	for _, c := range []struct {
		name, body, param, code, text string
	}{
		{"no JSON", `{"model":`, "", "", "the body could not be read as a JSON object: unexpected end of JSON input"},
		{"null", `null`, "", "", "the body is null: want a JSON object"},
		{"wrong model", `{"model":1,"input":"hi"}`, "model", "invalid_type", "model has the wrong type: want a string, got the number 1"},
		{"wrong instructions", input(userItem, `,"instructions":[]`), "instructions", "invalid_type", "want a string, got an array"},
		{"wrong store", input(userItem, `,"store":"no"`), "store", "invalid_type", "want true or false, got a string"},
		{"fractional limit", input(userItem, `,"max_output_tokens":16.5`), "max_output_tokens", "invalid_type", "want an integer, got the number 16.5"},
		{"input as object", `{"model":"m","input":{}}`, "input", "invalid_type", "want an array, got an object"},
		{"an item that is a string", input(`"hi"`, ""), "input[0]", "invalid_type", "want an object, got a string"},
		{"output as object", input(itemA+`,{"type":"function_call_output","call_id":"a","output":{}}`, ""), "input[1].output", "invalid_type", "want an array, got an object"},
		{"wrong call_id", input(`{"type":"function_call","call_id":1}`, ""), "input[0].call_id", "invalid_type", "want a string, got the number 1"},
		{"wrong strict", tool(`"type":"function","name":"a","strict":"yes"`), "tools[0].strict", "invalid_type", "want true or false, got a string"},
		{"wrong include", input(userItem, `,"include":"x"`), "include", "invalid_type", "include has the wrong type"},

		{"no model", `{"input":"hi"}`, "model", "missing_required_parameter", "no model is named: set model"},
		{"chat's messages", `{"model":"m","messages":[]}`, "messages", "unsupported_parameter", "messages is not a parameter here: in Responses it is input"},
		{"chat's limit", input(userItem, `,"max_tokens":70`), "max_tokens", "unsupported_parameter", "in Responses it is max_output_tokens"},
		{"chat's format", input(userItem, `,"response_format":{}`), "response_format", "unsupported_parameter", "in Responses it is text.format"},
		{"stop sequences", input(userItem, `,"stop":["END"]`), "stop", "unknown_parameter", "the parameter stop is unknown: leave it out"},
		{"a member in another case", input(userItem, `,"Stream":true`), "Stream", "unknown_parameter", "the parameter Stream is unknown"},
		{"no input", `{"model":"m"}`, "input", "missing_required_parameter", "input is missing: want a string or an array of items"},
		{"empty input", input("", ""), "input", "empty_array", "input is empty: want at least one item"},
		{"what came before", input(userItem, `,"previous_response_id":"resp_1"`), "previous_response_id", "previous_response_not_found",
			`the response "resp_1" is not there, as this model server keeps none: send the whole conversation as input`},
		{"in the background", input(userItem, `,"background":true`), "background", "", "background is set: this model server answers at once"},

		{"hot", input(userItem, `,"temperature":2.1`), "temperature", "decimal_out_of_range", "temperature is 2.1: want 0 to 2"},
		{"temperature to one that reasons", `{"model":"gpt-5","input":"hi","temperature":0.2}`, "temperature", "", "temperature is 0.2, which the model gpt-5 does not take"},
		{"too likely", input(userItem, `,"top_p":1.1`), "top_p", "decimal_out_of_range", "top_p is 1.1: want 0 to 1"},
		{"fewer than 16 tokens", input(userItem, `,"max_output_tokens":15`), "max_output_tokens", "integer_below_min_value", "max_output_tokens is 15: want at least 16"},
		{"too many logprobs", input(userItem, `,"top_logprobs":21`), "top_logprobs", "integer_out_of_range", "top_logprobs is 21: want 0 to 20"},
		{"stream options without stream", input(userItem, `,"stream_options":{}`), "stream_options", "", "stream_options is set without stream"},
		{"unknown include", input(userItem, `,"include":["usage"]`), "include", "invalid_value", `include has "usage": want code_interpreter_call.outputs, `},

		{"129 tools", input(userItem, `,"tools":[`+strings.TrimSuffix(strings.Repeat(flatAdd+",", 129), ",")+`]`), "tools", "array_above_max_length", "there are 129 tools: want at most 128"},
		{"chat's tool", input(userItem, `,"tools":[`+add+`]`), "tools[0].name", "missing_required_parameter", "tools[0] has no name"},
		{"MCP's tool", tool(`"name":"add","inputSchema":{}`), "tools[0].type", "invalid_value", `tools[0] has the type "": want function, custom, or a tool that the provider runs`},
		{"a tool with a dot", tool(`"type":"function","name":"a.b"`), "tools[0].name", "invalid_value", `tools[0] has the name "a.b": want a match of ^[a-zA-Z0-9_-]+$`},
		{"a tool with a long name", tool(`"type":"function","name":"` + long + `"`), "tools[0].name", "string_above_max_length", "has a name of 129 characters: want at most 128"},
		{"a tool with annotations", tool(`"type":"function","name":"a","annotations":{}`), "tools[0].annotations", "unknown_parameter", "the parameter tools[0].annotations is unknown"},
		{"a schema of no type", tool(`"type":"function","name":"a","parameters":{}`), "tools[0].parameters", "invalid_function_parameters", `the parameters of tool a have no "type": "object"`},
		{"a schema without properties", tool(`"type":"function","name":"a","parameters":{"type":"object"}`), "tools[0].parameters", "invalid_function_parameters", "have no properties"},
		{"a schema that is an array", tool(`"type":"function","name":"a","parameters":[]`), "tools[0].parameters", "invalid_type", "want an object, got an array"},
		{"strict, open", strictTool(`{"type":"object","properties":{}}`), "tools[0].parameters", "invalid_function_parameters", "the tool a is strict, and in its parameters additionalProperties is not false"},
		{"strict, optional", strictTool(`{"type":"object","additionalProperties":false,"properties":{"b":{"type":"string"}}}`), "tools[0].parameters", "invalid_function_parameters", "in its parameters b is not required: want every property in required"},
		{"strict, open within", strictTool(`{"type":"object","additionalProperties":false,"required":["b"],"properties":{"b":{"type":"array","items":{"type":"object"}}}}`), "tools[0].parameters", "invalid_function_parameters", "in its parameters.properties.b.items additionalProperties is not false"},
		{"strict, open in a choice", strictTool(`{"type":"object","additionalProperties":false,"required":["b"],"properties":{"b":{"anyOf":[{"type":"null"},{"type":"object"}]}}}`), "tools[0].parameters", "invalid_function_parameters", "in its parameters.properties.b.anyOf[1] additionalProperties"},
		{"strict, open in a definition", strictTool(`{"type":"object","additionalProperties":false,"properties":{},"$defs":{"d":{"type":"object"}}}`), "tools[0].parameters", "invalid_function_parameters", "in its parameters.$defs.d additionalProperties"},
		{"strict, with oneOf", strictTool(`{"type":"object","additionalProperties":false,"required":["b"],"properties":{"b":{"oneOf":[]}}}`), "tools[0].parameters", "invalid_function_parameters", "in its parameters.properties.b oneOf is used, which is not permitted"},

		{"required without tools", input(userItem, `,"tool_choice":"required"`), "tool_choice", "", "tool_choice is required, and there are no tools"},
		{"unknown choice", choice(`"any"`), "tool_choice", "invalid_value", `tool_choice is "any": want auto, none, required, or an object`},
		{"choice of a wrong type", choice(`1`), "tool_choice", "invalid_type", "want a string or an object, got the number 1"},
		{"choice of MCP's shape", choice(`{"mode":"auto"}`), "tool_choice.type", "invalid_value", `tool_choice has the type ""`},
		{"chat's choice", choice(`{"type":"function","function":{"name":"add"}}`), "tool_choice.name", "missing_required_parameter", "tool_choice has no name"},
		{"choice of a tool that is not there", choice(`{"type":"function","name":"sub"}`), "tool_choice", "", `tool_choice is the tool "sub": no such tool is among the tools`},
		{"allowed tools without a mode", choice(`{"type":"allowed_tools","tools":[]}`), "tool_choice.mode", "invalid_value", `tool_choice.mode is "": want auto or required`},
		{"allowed tools without tools", choice(`{"type":"allowed_tools","mode":"auto"}`), "tool_choice.tools", "missing_required_parameter", "tool_choice has no tools"},
		{"an allowed tool that is not there", choice(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp"},{"type":"function","name":"sub"}]}`), "tool_choice", "", `tool_choice.tools[1] is the tool "sub"`},

		{"an unknown item", input(`{"type":"tool_result"}`, ""), "input[0].type", "invalid_value", `input[0] has the type "tool_result": want message, function_call`},
		{"an unknown role", input(`{"role":"human","content":"hi"}`, ""), "input[0].role", "invalid_value", `input[0] has the role "human": want assistant, system, developer or user`},
		{"chat's tool role", input(`{"role":"tool","content":"1"}`, ""), "input[0].role", "invalid_value", `has the role "tool"`},
		{"chat's calls", input(`{"role":"assistant","content":"","tool_calls":[]}`, ""), "input[0].tool_calls", "unknown_parameter", "the parameter input[0].tool_calls is unknown"},
		{"no content", input(`{"role":"user"}`, ""), "input[0].content", "missing_required_parameter", "input[0] has no content"},
		{"chat's text", content("user", `{"type":"text","text":"hi"}`), "input[0].content[0].type", "invalid_value", `has the type "text": want input_text or input_image or input_file or input_audio in a message of the role user`},
		{"the user's text from the assistant", content("assistant", `{"type":"input_text","text":"hi"}`), "input[0].content[0].type", "invalid_value", "want output_text or refusal in a message of the role assistant"},
		{"audio to the system", content("system", `{"type":"input_audio","input_audio":{}}`), "input[0].content[0].type", "invalid_value", `has the type "input_audio"`},
		{"a text with _meta", content("user", `{"type":"input_text","text":"hi","_meta":{}}`), "input[0].content[0]._meta", "unknown_parameter", "the parameter input[0].content[0]._meta is unknown"},
		{"a text without text", content("user", `{"type":"input_text"}`), "input[0].content[0].text", "missing_required_parameter", "input[0].content[0] has no text"},
		{"a refusal without one", content("assistant", `{"type":"refusal"}`), "input[0].content[0].refusal", "missing_required_parameter", "has no refusal"},
		{"chat's image", content("user", `{"type":"input_image","image_url":{"url":"x"}}`), "input[0].content[0].image_url", "invalid_type", "want a URL as a string, got an object"},
		{"no image", content("user", `{"type":"input_image"}`), "input[0].content[0].image_url", "missing_required_parameter", "has no image_url"},
		{"an image of bad base64", content("user", `{"type":"input_image","image_url":"data:image/png;base64,!"}`), "input[0].content[0].image_url", "invalid_value", "has an image that cannot be read: illegal base64"},
		{"no audio", content("user", `{"type":"input_audio"}`), "input[0].content[0].input_audio", "missing_required_parameter", "has no input_audio"},

		{"a call's id that is its call_id", input(`{"type":"function_call","id":"call_1","call_id":"call_1","name":"a","arguments":"{}"}`, ""), "input[0].id", "invalid_value", `input[0] has the id "call_1": want one that begins with "fc", or none`},
		{"no call_id", input(`{"type":"function_call","name":"a","arguments":"{}"}`, ""), "input[0].call_id", "missing_required_parameter", "input[0] has no call_id"},
		{"a long call_id", input(`{"type":"function_call","call_id":"`+long+`","name":"a","arguments":"{}"}`, ""), "input[0].call_id", "string_above_max_length", "has a call_id of 129 characters: want at most 64"},
		{"a call of nothing", input(`{"type":"function_call","call_id":"a","arguments":"{}"}`, ""), "input[0].name", "missing_required_parameter", "input[0] has no name"},
		{"a call of a name with a dot", input(`{"type":"function_call","call_id":"a","name":"a.b","arguments":"{}"}`, ""), "input[0].name", "invalid_value", `has the name "a.b"`},
		{"no arguments", input(`{"type":"function_call","call_id":"a","name":"a"}`, ""), "input[0].arguments", "missing_required_parameter", "has no arguments"},
		{"arguments as object", input(`{"type":"function_call","call_id":"a","name":"a","arguments":{}}`, ""), "input[0].arguments", "invalid_type", "input[0].arguments has the wrong type: want a string, got an object"},
		{"an output without call_id", input(itemA+`,{"type":"function_call_output","tool_call_id":"a","output":"1"}`, ""), "input[1].tool_call_id", "unknown_parameter", "input[1].tool_call_id is unknown"},
		{"an output of nothing", input(itemA+`,{"type":"function_call_output","output":"1"}`, ""), "input[1].call_id", "missing_required_parameter", "has no call_id"},
		{"no output", input(itemA+`,{"type":"function_call_output","call_id":"a"}`, ""), "input[1].output", "missing_required_parameter", "has no output"},
		{"an output that is an error", input(itemA+`,{"type":"function_call_output","call_id":"a","output":"x","is_error":true}`, ""), "input[1].is_error", "unknown_parameter", "is_error is unknown"},
		{"audio as output", input(itemA+`,{"type":"function_call_output","call_id":"a","output":[{"type":"input_audio","input_audio":{}}]}`, ""), "input[1].output[0].type", "invalid_value", "want input_text or input_image or input_file in the output of a call"},
		{"reasoning with a status", input(`{"type":"reasoning","id":"rs_1","summary":[],"status":"completed"},`+itemA+`,`+outputA, ""), "input[0].status", "unknown_parameter", "the parameter input[0].status is unknown"},
		{"reasoning without a summary", input(`{"type":"reasoning","id":"rs_1"},`+itemA+`,`+outputA, ""), "input[0].summary", "missing_required_parameter", "has no summary"},
		{"reasoning under a call's id", input(`{"type":"reasoning","id":"call_1","summary":[]},`+itemA+`,`+outputA, ""), "input[0].id", "invalid_value", `want one that begins with "rs"`},
		{"reasoning of text", input(`{"type":"reasoning","id":"rs_1","summary":[{"type":"text","text":"x"}]},`+itemA+`,`+outputA, ""), "input[0].summary[0].type", "invalid_value", "want summary_text in the summary of reasoning"},

		{"a call without an output", input(userItem+`,`+itemA+`,`+itemB+`,`+outputB, ""), "input", "", "calls without an output: want a function_call_output for each of a"},
		{"a custom call without an output", input(`{"type":"custom_tool_call","call_id":"c","name":"sh","input":"x"}`, ""), "input", "", "for each of c"},
		{"an output without a call", input(userItem+`,`+outputA, ""), "input", "", `input[1] is the output of the call "a": no such call comes before it`},
		{"an output before its call", input(outputA+`,`+itemA, ""), "input", "", "input[0] is the output of the call"},
		{"reasoning at the end", input(userItem+`,`+thought, ""), "input", "", "input[1] is reasoning (rs_1) that nothing comes of"},
		{"reasoning before the user", input(thought+`,`+userItem, ""), "input", "", "input[0] is reasoning (rs_1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := refusalOfResponses(c.body)
			require.NotNil(t, err, "it was accepted")
			require.Equal(t, http.StatusBadRequest, err.Status)
			require.Equal(t, "invalid_request_error", err.Kind)
			require.Equal(t, c.param, err.Param)
			require.Equal(t, c.code, err.Code)
			require.Contains(t, err.Message, c.text)
		})
	}
}

func TestResponsesHasKeptNothing(t *testing.T) {
	for body, want := range map[string]string{
		input(userItem, `,"conversation":"conv_1"`):         `the conversation "conv_1" is not there`,
		input(userItem, `,"prompt":{"id":"p"}`):             `the prompt {"id":"p"} is not there`,
		input(`{"type":"item_reference","id":"msg_1"}`, ""): `input[0] refers to the item "msg_1", which is not there, as this model server keeps none: send the item itself`,
		input(userItem+`,{"id":"rs_1"}`, ""):                `input[1] refers to the item "rs_1"`,
	} {
		err := refusalOfResponses(body)
		require.NotNil(t, err, body)
		require.Equal(t, http.StatusNotFound, err.Status)
		require.Contains(t, err.Message, want)
	}
}

func TestWhatResponsesAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"the least":               `{"model":"m","input":"hi"}`,
		"an empty text":           `{"model":"m","input":""}`,
		"every role":              input(`{"role":"developer","content":"d"},{"role":"system","content":[{"type":"input_text","text":"s"}]},`+userItem+`,{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"so","annotations":[],"logprobs":[]}]}`, ""),
		"outputs in reverse":      input(userItem+`,`+itemA+`,`+itemB+`,`+outputB+`,`+outputA+`,`+userItem, ""),
		"a message in between":    input(userItem+`,`+itemA+`,`+userItem+`,`+outputA, ""),
		"an output twice":         input(itemA+`,`+outputA+`,`+outputA, ""),
		"an empty output":         input(itemA+`,{"type":"function_call_output","call_id":"a","output":""}`, ""),
		"an output of parts":      input(itemA+`,{"type":"function_call_output","call_id":"a","id":"fco_1","status":"completed","output":[{"type":"input_text","text":"1"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`, ""),
		"reasoning":               input(userItem+`,`+thought+`,`+itemA+`,`+outputA+`,{"type":"reasoning","id":"rs_2","summary":[]},{"type":"reasoning","id":"rs_3","summary":[]},{"role":"assistant","content":"so"}`, ""),
		"items of hosted tools":   input(userItem+`,{"type":"web_search_call","id":"ws_1","status":"completed","action":{}}`, ""),
		"a custom tool":           input(`{"type":"custom_tool_call","call_id":"c","name":"sh","input":"x"},{"type":"custom_tool_call_output","call_id":"c","output":"y"}`, `,"tools":[{"type":"custom","name":"sh","format":{"type":"text"}}],"tool_choice":{"type":"custom","name":"sh"}`),
		"media":                   input(`{"role":"user","content":[{"type":"input_image","image_url":"https://a/b.png","detail":"auto"},{"type":"input_image","file_id":"f"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"input_file","file_id":"f"}]}`, ""),
		"hosted tools":            input(userItem, `,"tools":[{"type":"web_search"},{"type":"mcp","server_label":"x"}],"tool_choice":{"type":"web_search"}`),
		"a tool without schema":   input(userItem, `,"tools":[{"type":"function","name":"a"},{"type":"function","name":"b","parameters":null,"strict":null,"description":null}]`),
		"no tools, and so":        input(userItem, `,"tools":[],"tool_choice":"none","parallel_tool_calls":true`),
		"a strict tool":           strictTool(`{"type":"object","additionalProperties":false,"required":["a","b"],"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"object","additionalProperties":false,"properties":{}}]}}}`),
		"a tool that is not":      input(userItem, `,"tools":[{"type":"function","name":"a","strict":false,"parameters":{"type":"object","properties":{"b":{"oneOf":[]}}}}]`),
		"a name of 128":           input(userItem, `,"tools":[{"type":"function","name":"`+strings.Repeat("a", 128)+`"}]`),
		"some tools":              input(userItem, `,"tools":[`+flatAdd+`],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"add"}]}`),
		"one tool":                input(userItem, `,"tools":[`+flatAdd+`],"tool_choice":{"type":"function","name":"add"}`),
		"the edges":               input(userItem, `,"temperature":2,"top_p":0,"max_output_tokens":16,"top_logprobs":20,"include":["reasoning.encrypted_content"]`),
		"nulls":                   input(userItem, `,"temperature":null,"tools":null,"tool_choice":null,"max_output_tokens":null,"previous_response_id":null,"conversation":null,"prompt":null,"background":null,"stream":null,"include":null,"instructions":null`),
		"arguments that are junk": input(`{"type":"function_call","call_id":"a","name":"a","arguments":"{"},`+outputA, ""),
		"stream options":          input(userItem, `,"stream":true,"stream_options":{"include_obfuscation":false}`),
	} {
		t.Run(name, func(t *testing.T) { require.Nil(t, refusalOfResponses(text)) })
	}
}
