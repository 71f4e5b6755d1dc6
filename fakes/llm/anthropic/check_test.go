package anthropic

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

const (
	user     = `{"role":"user","content":"hi"}`
	use1     = `{"type":"tool_use","id":"u1","name":"add","input":{"a":1}}`
	use2     = `{"type":"tool_use","id":"u2","name":"add","input":{}}`
	uses     = `{"role":"assistant","content":[` + use1 + `,` + use2 + `]}`
	result1  = `{"type":"tool_result","tool_use_id":"u1","content":"1"}`
	result2  = `{"type":"tool_result","tool_use_id":"u2","content":[{"type":"text","text":"2"}],"is_error":true}`
	system   = `{"role":"system","content":"be kind"}`
	results  = `{"role":"user","content":[` + result1 + `,` + result2 + `]}`
	add      = `{"name":"add","description":"adds","input_schema":{"type":"object"}}`
	image    = `{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlh"}}`
	document = `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"}`
	thinking = `{"type":"thinking","thinking":"hm","signature":"Er=="}`
	redacted = `{"type":"redacted_thinking","data":"xyz"}`
)

// body is a request with the messages and further members.
func body(messages, more string) string {
	return `{"model":"claude-x","max_tokens":100,"messages":[` + messages + `]` + more + `}`
}

// refusal decodes and checks, as the server does.
func refusal(h http.Header, text string) *dialect.Error {
	req, err := Messages.Decode(&http.Request{Header: h}, []byte(text))
	if err != nil {
		return err
	}
	return Messages.Check(req)
}

func TestWhatTheProviderRefuses(t *testing.T) {
	tool := func(members string) string { return body(user, `,"tools":[{`+members+`}]`) }
	says := func(block string) string { return body(`{"role":"user","content":[`+block+`]}`, "") }
	answers := func(block string) string { return body(user+`,{"role":"assistant","content":[`+block+`]}`, "") }
	replies := func(blocks string) string { return body(user+`,`+uses+`,{"role":"user","content":[`+blocks+`]}`, "") }
	source := func(members string) string { return says(`{"type":"image","source":{` + members + `}}`) }
	withTool := func(more string) string { return body(user, `,"tools":[`+add+`]`+more) }
	for _, c := range []struct{ name, body, text string }{
		{"no JSON", `{"model":`, "the request body could not be read as a JSON object: unexpected end of JSON input"},
		{"no object", `[]`, "the request body could not be read as a JSON object: "},
		{"null", `null`, "the request body is null: want a JSON object"},
		{"nothing", ``, "the request body could not be read as a JSON object: "},
		{"wrong model", `{"stream":7,"model":1,"messages":[]}`, "model: want a string, got the number 1"},
		{"wrong stream", body(user, `,"stream":"yes"`), "stream: want true or false, got a string"},
		{"fractional max_tokens", `{"model":"m","max_tokens":1.5}`, "max_tokens: want an integer, got the number 1.5"},
		{"wrong temperature", body(user, `,"temperature":"hot"`), "temperature: want a number, got a string"},
		{"one stop sequence", body(user, `,"stop_sequences":"END"`), "stop_sequences: want an array of strings, got a string"},
		{"wrong messages", `{"model":"m","messages":"hi"}`, "messages: want an array, got a string"},
		{"null message", body("null", ""), "messages[0]: want an object, got null"},
		{"wrong content", body(`{"role":"user","content":{}}`, ""), "messages[0].content: want an array, got an object"},
		{"null block", says("null"), "messages[0].content[0]: want an object, got null"},
		{"wrong tools", body(user, `,"tools":"string"`), "tools: want an array, got a string"},
		{"wrong tool choice", body(user, `,"tool_choice":"auto"`), "tool_choice: want an object, got a string"},
		{"wrong parallel", withTool(`,"tool_choice":{"type":"auto","disable_parallel_tool_use":1}`), "tool_choice.disable_parallel_tool_use: want true or false, got the number 1"},
		{"wrong is_error", replies(`{"type":"tool_result","tool_use_id":"u1","is_error":"no"}`), "messages[2].content[0].is_error: want true or false, got a string"},

		{"no model", `{"max_tokens":1,"messages":[` + user + `]}`, "model: it is required and missing"},
		{"no max_tokens", `{"model":"m","messages":[` + user + `]}`, "max_tokens: it is required and missing"},
		{"null max_tokens", `{"model":"m","max_tokens":null,"messages":[` + user + `]}`, "max_tokens: it is required and missing"},
		{"negative max_tokens", `{"model":"m","max_tokens":-1,"messages":[` + user + `]}`, "max_tokens: it is -1: want at least 0"},
		{"no messages", `{"model":"m","max_tokens":1}`, "messages: they are required and missing"},
		{"empty messages", body("", ""), "messages: want at least one"},
		{"unknown member", body(user, `,"maxTokens":1`), "maxTokens: Extra inputs are not permitted"},
		{"MCP's _meta", body(user, `,"_meta":{}`), "_meta: Extra inputs are not permitted"},
		{"OpenAI's stop", body(user, `,"stop":["a"]`), "stop: Extra inputs are not permitted"},
		{"beta without its header", body(user, `,"mcp_servers":[]`), "mcp_servers: Extra inputs are not permitted"},
		{"MCP's metadata", body(user, `,"metadata":{"user_id":"u","trace":"t"}`), "metadata.trace: Extra inputs are not permitted"},
		{"hot", body(user, `,"temperature":1.1`), "temperature: it is 1.1: want 0 to 1"},
		{"cold", body(user, `,"temperature":-0.1`), "temperature: it is -0.1: want 0 to 1"},
		{"top_p", body(user, `,"top_p":2`), "top_p: it is 2: want 0 to 1"},
		{"blank stop sequence", body(user, `,"stop_sequences":["a","\n"]`), "stop_sequences[1]: it is white space"},
		{"system of another type", body(user, `,"system":[{"type":"image"}]`), `system[0]: it has the type "image": want text`},
		{"empty system block", body(user, `,"system":[{"type":"text","text":""}]`), "system[0]: the text is empty"},
		{"thinking of no type", body(user, `,"thinking":{}`), `thinking: it has the type "": want enabled, adaptive or disabled`},
		{"thinking without budget", body(user, `,"thinking":{"type":"enabled"}`), "thinking.budget_tokens: it is required and missing"},
		{"thinking a little", body(user, `,"thinking":{"type":"enabled","budget_tokens":1023}`), "thinking.budget_tokens: it is 1023: want at least 1024"},
		{"thinking beyond max_tokens", body(user, `,"thinking":{"type":"enabled","budget_tokens":1024}`), "max_tokens: it is 100: want more than thinking.budget_tokens, which is 1024"},
		{"thinking in the cold", body(user, `,"temperature":0,"thinking":{"type":"adaptive"}`), "temperature: it is 0: beside thinking only 1 is possible"},
		{"thinking by force", withTool(`,"tool_choice":{"type":"any"},"thinking":{"type":"adaptive"}`), "tool_choice: it is any: beside thinking no tool can be forced"},

		{"OpenAI's tool", tool(`"type":"function","function":{"name":"a"}`), `tools[0]: it has the type "function": want custom, or no type`},
		{"MCP's tool", tool(`"name":"a","inputSchema":{}`), "tools[0].inputSchema: Extra inputs are not permitted"},
		{"tool with MCP's title", tool(`"name":"a","title":"A","input_schema":{"type":"object"}`), "tools[0].title: Extra inputs are not permitted"},
		{"tool without name", tool(`"input_schema":{"type":"object"}`), `tools[0].name: it is "": want a match of ^[a-zA-Z0-9_-]{1,128}$`},
		{"tool with a dot", tool(`"name":"a.b","input_schema":{"type":"object"}`), `tools[0].name: it is "a.b": want a match`},
		{"tool with a long name", tool(`"name":"` + strings.Repeat("a", 129) + `","input_schema":{"type":"object"}`), "want a match of"},
		{"tool without schema", tool(`"name":"a"`), "tools[0].input_schema: it is required and missing"},
		{"tool with an array for schema", tool(`"name":"a","input_schema":[]`), "tools[0].input_schema: want an object, got an array"},
		{"tool of no type", tool(`"name":"a","input_schema":{}`), `tools[0].input_schema.type: it is "": want object`},
		{"tool that is a string", tool(`"name":"a","input_schema":{"type":"string"}`), `tools[0].input_schema.type: it is "string": want object`},
		{"tool of one of two", tool(`"name":"a","input_schema":{"type":"object","oneOf":[{}]}`), "tools[0].input_schema: oneOf is not possible at its top level"},
		{"two tools of one name", body(user, `,"tools":[`+add+`,`+add+`]`), `tools[1]: there are two tools with the name "add"`},
		{"choice of no type", withTool(`,"tool_choice":{}`), `tool_choice: it has the type "": want auto, any, tool or none`},
		{"MCP's choice", withTool(`,"tool_choice":{"mode":"auto"}`), `tool_choice: it has the type ""`},
		{"OpenAI's choice", withTool(`,"tool_choice":{"type":"required"}`), `tool_choice: it has the type "required"`},
		{"choice without tools", body(user, `,"tool_choice":{"type":"any"}`), "tool_choice: it is any and there are no tools"},
		{"choice of a tool that is not there", withTool(`,"tool_choice":{"type":"tool","name":"sub"}`), `tool_choice: it is the tool "sub": no such tool`},
		{"none in parallel", withTool(`,"tool_choice":{"type":"none","disable_parallel_tool_use":true}`), "tool_choice.disable_parallel_tool_use: Extra inputs are not permitted"},

		{"unknown role", body(`{"role":"human","content":"hi"}`, ""), `messages[0].role: it is "human": want user or assistant`},
		{"no role", body(`{"content":"hi"}`, ""), `messages[0].role: it is ""`},
		{"system first", body(system+`,`+user, ""), "messages[0]: its role is system, and it is the first: the system prompt is system, beside messages"},
		{"system after the assistant", body(user+`,{"role":"assistant","content":"hm"},`+system, ""), "messages[2]: its role is system, and it follows the assistant"},
		{"system before the user", body(user+`,`+system+`,`+system+`,`+user, ""), "messages[1]: its role is system, and a user's message follows"},
		{"system between use and result", body(user+`,`+uses+`,`+system+`,`+results, ""), "messages[2]: its role is system, and it follows the assistant"},
		{"empty system message", body(user+`,{"role":"system","content":[]}`, ""), "messages[1]: it has no content"},
		{"image in a system message", body(user+`,{"role":"system","content":[`+image+`]}`, ""), `messages[1].content[0]: it has the type "image": want text in a message of the role system`},
		{"directive without the beta", body(user+`,{"role":"system","content":[],"output_config":{"effort":"high"}}`, ""), "messages[1].output_config: Extra inputs are not permitted"},
		{"uses without results before a system message", body(user+`,`+uses+`,`+user+`,`+system, ""), "messages[1]: tool uses without their tool results"},
		{"OpenAI's tool message", body(user+`,`+uses+`,{"role":"tool","tool_call_id":"u1","content":"1"}`, ""), "messages[2].tool_call_id: Extra inputs are not permitted"},
		{"member of a message", body(`{"role":"user","content":"hi","name":"me"}`, ""), "messages[0].name: Extra inputs are not permitted"},
		{"no content", body(`{"role":"user"}`, ""), "messages[0]: it has no content"},
		{"empty content", body(user+`,{"role":"assistant","content":[]},`+user, ""), "messages[1]: it has no content: only the last message may be without, if it is the assistant's"},
		{"empty string", body(`{"role":"user","content":""}`, ""), "messages[0]: it has no content"},
		{"blank string", body(`{"role":"user","content":" \n"}`, ""), "messages[0].content: the text is empty or white space"},
		{"empty text", says(`{"type":"text","text":""}`), "messages[0].content[0]: the text is empty or white space"},
		{"no text", says(`{"type":"text"}`), "messages[0].content[0].text: it is required and missing"},
		{"member of a block", says(`{"type":"text","text":"a","annotations":{}}`), "messages[0].content[0].annotations: Extra inputs are not permitted"},
		{"audio", says(`{"type":"audio","data":"","mimeType":"audio/wav"}`), `messages[0].content[0]: it has the type "audio": want text, image, document`},
		{"MCP's image", says(`{"type":"image","data":"R0lGODlh","mimeType":"image/gif"}`), "messages[0].content[0].data: Extra inputs are not permitted"},
		{"OpenAI's image", says(`{"type":"image_url","image_url":{"url":"http://a"}}`), `has the type "image_url"`},
		{"image without source", says(`{"type":"image"}`), "messages[0].content[0].source: it is required and missing"},
		{"image of no type", source(`"data":"R0lGODlh"`), `messages[0].content[0].source: it has the type "": want base64, url or file`},
		{"image of no url", source(`"type":"url"`), "messages[0].content[0].source.url: it is required and missing"},
		{"image of no file", source(`"type":"file"`), "messages[0].content[0].source.file_id: it is required and missing"},
		{"image of another format", source(`"type":"base64","media_type":"image/svg+xml","data":"R0lGODlh"`), `source.media_type: it is "image/svg+xml": want image/jpeg`},
		{"image of bad base64", source(`"type":"base64","media_type":"image/gif","data":"!"`), "source.data: want an image in base64"},
		{"image of no data", source(`"type":"base64","media_type":"image/gif","data":""`), "source.data: want an image in base64"},
		{"image under another type", source(`"type":"base64","media_type":"image/png","data":"R0lGODlh"`), "source: the media type is image/png, and the data looks like image/gif"},
		{"image of the assistant", answers(image), `messages[1].content[0]: it has the type "image": want text, thinking`},
		{"thinking unsigned", answers(`{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"}`), "messages[1].content[0].signature: it is required and missing"},
		{"thinking of nothing", answers(`{"type":"thinking","signature":"x"},{"type":"text","text":"so"}`), "messages[1].content[0].thinking: it is required and missing"},
		{"redacted to nothing", answers(`{"type":"redacted_thinking"}`), "messages[1].content[0].data: it is required and missing"},
		{"thinking of the user", says(thinking), `it has the type "thinking": want text, image`},
		{"trailing space", answers(`{"type":"text","text":"The answer is "}`), "messages[1].content[0]: the last message is the assistant's and ends in white space"},
		{"trailing newline in a string", body(user+`,{"role":"assistant","content":"so\n"}`, ""), "messages[1].content: the last message is the assistant's and ends in white space"},

		{"use of the user", says(use1), `it has the type "tool_use": want text, image`},
		{"use without id", answers(`{"type":"tool_use","name":"add","input":{}}`), `messages[1].content[0].id: it is "": want a match of ^[a-zA-Z0-9_-]+$`},
		{"use with an odd id", answers(`{"type":"tool_use","id":"functions.add:0","name":"add","input":{}}`), `messages[1].content[0].id: it is "functions.add:0"`},
		{"use with an odd name", answers(`{"type":"tool_use","id":"u1","name":"a.b","input":{}}`), `messages[1].content[0].name: it is "a.b"`},
		{"use without input", answers(`{"type":"tool_use","id":"u1","name":"add"}`), "messages[1].content[0].input: want an object, got nothing"},
		{"input as text", answers(`{"type":"tool_use","id":"u1","name":"add","input":"{}"}`), "messages[1].content[0].input: want an object, got a string"},
		{"trailing use", answers(use1), "messages[1]: tool uses without their tool results in the very next message: want one for each of u1"},
		{"one of two results", replies(result1), "messages[1]: tool uses without their tool results in the very next message: want one for each of u2"},
		{"no result", body(user+`,`+uses+`,`+user, ""), "want one for each of u1, u2"},
		{"results in two messages", body(user+`,`+uses+`,{"role":"user","content":[`+result1+`]},{"role":"user","content":[`+result2+`]}`, ""), "messages[1]: tool uses without their tool results in the very next message: want one for each of u2"},
		{"text first", replies(`{"type":"text","text":"see"},` + result1 + `,` + result2), "messages[2].content[1]: it comes after other content: want the tool results first"},
		{"text between", replies(result1 + `,{"type":"text","text":"see"},` + result2), "messages[2].content[2]: it comes after other content"},
		{"two results for one use", replies(result1 + `,` + result1 + `,` + result2), "messages[2].content[1]: it is a second result for u1"},
		{"orphan result", says(result1), "messages[0].content[0]: it answers u1, and the message before it has no such tool use"},
		{"late result", body(user+`,`+uses+`,`+results+`,{"role":"assistant","content":"so"},{"role":"user","content":[`+result1+`]}`, ""), "messages[4].content[0]: it answers u1, and the message before it has no such tool use"},
		{"result of the assistant", answers(result1), `it has the type "tool_result": want text, thinking`},
		{"result under MCP's name", replies(`{"type":"tool_result","toolUseId":"u1"}`), "messages[2].content[0].toolUseId: Extra inputs are not permitted"},
		{"result without id", replies(`{"type":"tool_result"}`), `messages[2].content[0].tool_use_id: it is "": want a match`},
		{"resource link in a result", replies(`{"type":"tool_result","tool_use_id":"u1","content":[{"type":"resource_link","uri":"a:b"}]},` + result2), `messages[2].content[0].content[0]: it has the type "resource_link": want text, image, search_result, document`},
		{"failure without a word", replies(`{"type":"tool_result","tool_use_id":"u1","is_error":true,"content":[]},` + result2), "messages[2].content[0]: it has is_error and no content"},
		{"failure of an image", replies(`{"type":"tool_result","tool_use_id":"u1","is_error":true,"content":[` + image + `]},` + result2), `messages[2].content[0]: beside is_error all content is text, and messages[2].content[0].content[0] has the type "image"`},
		{"one id twice in a message", answers(use1 + `,` + use1), "messages[1].content[1]: its id u1 is there twice"},
		{"one id in two messages", body(user+`,`+uses+`,`+results+`,{"role":"assistant","content":[`+use1+`]},{"role":"user","content":[`+result1+`]}`, ""), "messages[3].content[0]: its id u1 is there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := refusal(keyed(), c.body)
			require.NotNil(t, err, "it was accepted")
			require.Equal(t, http.StatusBadRequest, err.Status)
			require.Equal(t, "invalid_request_error", err.Kind)
			require.Contains(t, err.Message, c.text)
		})
	}
}

func TestHeadersThatTheProviderRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		header http.Header
		status int
		text   string
	}{
		{"no key", http.Header{"Anthropic-Version": {"2023-06-01"}}, 401, "there is no key: want one as x-api-key, or as a bearer token in authorization"},
		{"no headers", nil, 401, "there is no key"},
		{"a basic key", http.Header{"Authorization": {"Basic sk"}, "Anthropic-Version": {"2023-06-01"}}, 401, "there is no key"},
		{"an empty bearer", http.Header{"Authorization": {"Bearer "}, "Anthropic-Version": {"2023-06-01"}}, 401, "there is no key"},
		{"no version", http.Header{"X-Api-Key": {"sk"}}, 400, "anthropic-version: the header is required and missing: want 2023-06-01"},
		{"another version", http.Header{"X-Api-Key": {"sk"}, "Anthropic-Version": {"2025-11-25"}}, 400, `anthropic-version: there is no version "2025-11-25"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := refusal(c.header, body(user, ""))
			require.NotNil(t, err)
			require.Equal(t, c.status, err.Status)
			require.Contains(t, err.Message, c.text)
		})
	}
	require.Nil(t, refusal(http.Header{"Authorization": {"Bearer t"}, "Anthropic-Version": {"2023-06-01"}}, body(user, "")))
}

func TestWhatTheProviderAccepts(t *testing.T) {
	betaHeader := keyed()
	betaHeader.Set("Anthropic-Beta", "mcp-client-2025-11-20")
	for name, c := range map[string]struct {
		body   string
		header http.Header
	}{
		"the least":                            {body: body(user, "")},
		"several messages of a role":           {body: body(user+`,`+user+`,{"role":"assistant","content":"so"},{"role":"assistant","content":[]}`, "")},
		"assistant first":                      {body: body(`{"role":"assistant","content":"hi"},`+user, "")},
		"the beginning of an answer":           {body: body(user+`,{"role":"assistant","content":"The answer is"}`, "")},
		"an answer yet to begin":               {body: body(user+`,{"role":"assistant","content":""}`, "")},
		"results in reverse":                   {body: body(user+`,`+uses+`,{"role":"user","content":[`+result2+`,`+result1+`]}`, "")},
		"text after results":                   {body: body(user+`,`+uses+`,{"role":"user","content":[`+result1+`,`+result2+`,{"type":"text","text":"so?"}]}`, "")},
		"results and then a question":          {body: body(user+`,`+uses+`,`+results+`,`+user, "")},
		"an image in a result":                 {body: body(user+`,{"role":"assistant","content":[`+use1+`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":[`+image+`,{"type":"tool_reference","tool_name":"add"}]}]}`, "")},
		"an empty result":                      {body: body(user+`,{"role":"assistant","content":[`+use1+`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1"}]}`, "")},
		"an empty text in a result":            {body: body(user+`,{"role":"assistant","content":[`+use1+`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":""}]}`, "")},
		"the use's caller":                     {body: body(user+`,{"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"add","input":{},"caller":{"type":"direct"},"cache_control":null}]},{"role":"user","content":[`+result1+`]}`, "")},
		"media":                                {body: body(`{"role":"user","content":[`+image+`,{"type":"image","source":{"type":"url","url":"https://a/b"}},{"type":"image","source":{"type":"file","file_id":"f"}},`+document+`]}`, "")},
		"thinking":                             {body: body(user+`,{"role":"assistant","content":[`+thinking+`,`+redacted+`,`+use1+`]},{"role":"user","content":[`+result1+`]}`, "")},
		"the provider's own tools":             {body: body(user+`,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]},`+user, `,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}]`)},
		"a tool of a type":                     {body: body(user, `,"tools":[{"type":"custom","name":"a","input_schema":{"type":"object","properties":{}},"strict":true}],"tool_choice":{"type":"tool","name":"a","disable_parallel_tool_use":true}`)},
		"no tools to choose from":              {body: body(user, `,"tools":[],"tool_choice":{"type":"auto"}`)},
		"tool uses without tools":              {body: body(user+`,`+uses+`,`+results, `,"tool_choice":{"type":"none"}`)},
		"the edges":                            {body: `{"model":"m","max_tokens":0,"messages":[` + user + `],"temperature":1,"top_p":0,"stop_sequences":[],"system":"","metadata":{"user_id":null}}`},
		"thinking at length":                   {body: `{"model":"m","max_tokens":1025,"messages":[` + user + `],"temperature":1,"thinking":{"type":"enabled","budget_tokens":1024}}`},
		"no thinking":                          {body: body(user, `,"temperature":0,"thinking":{"type":"disabled"}`)},
		"nulls":                                {body: body(user, `,"temperature":null,"tools":null,"tool_choice":null,"system":null,"stream":null,"thinking":null,"metadata":null`)},
		"a system message at the end":          {body: body(user+`,`+uses+`,`+results+`,`+system+`,`+system, "")},
		"a system message in between":          {body: body(user+`,`+system+`,`+uses+`,`+results, "")},
		"a system message after a server's":    {body: body(user+`,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]},`+system, "")},
		"a directive anywhere, under the beta": {header: betaHeader, body: body(user+`,`+uses+`,{"role":"system","content":[],"output_config":{"effort":"high"}},`+results, "")},
		"a beta": {header: betaHeader, body: body(user+`,{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m","name":"a","server_name":"s","input":{}}]},`+user,
			`,"mcp_servers":[],"tools":[{"type":"mcp_toolset","mcp_server_name":"s"}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.header
			if h == nil {
				h = keyed()
			}
			require.Nil(t, refusal(h, c.body))
		})
	}
}

func TestModelsThatTakeSystemMessages(t *testing.T) {
	for model, takes := range map[string]bool{
		"claude-3-5-sonnet-latest": false, "claude-2.1": false, "claude-sonnet-4-5": false, "claude-haiku-4-5-20251001": false,
		"claude-opus-4-20250514": false, "claude-opus-4-1-20250805": false, "claude-opus-4-7": false, "claude-opus-4@20250514": false, "claude-opus-4.5": false,
		"claude-opus-4-8": true, "claude-opus-4-8-20260528": true, "claude-opus-4-10": true, "claude-opus-5": true, "claude-sonnet-5": true, "m": true,
	} {
		err := refusal(keyed(), strings.Replace(body(user+`,`+system, ""), "claude-x", model, 1))
		if takes {
			require.Nil(t, err, model)
			continue
		}
		require.NotNil(t, err, model)
		require.Equal(t, "messages[1]: its role is system, which the model "+model+" does not take: the system prompt is system, beside messages", err.Message)
	}
}

func TestErrorsHaveTheProvidersShape(t *testing.T) {
	const id = "^req_01[A-Za-z0-9]{22}$"
	for _, c := range []struct {
		err         dialect.Error
		kind, retry string
	}{
		{*refusal(nil, body(user, "")), "authentication_error", "false"},
		{*refusal(keyed(), body(`{"role":"human","content":"hi"}`, "")), "invalid_request_error", "false"},
		{dialect.Error{Status: 402}, "billing_error", "false"},
		{dialect.Error{Status: 403}, "permission_error", "false"},
		{dialect.Error{Status: 404, Message: "a < b"}, "not_found_error", "false"},
		{dialect.Error{Status: 413}, "request_too_large", "false"},
		{dialect.Error{Status: 415}, "invalid_request_error", "false"},
		{dialect.Error{Status: 408}, "invalid_request_error", "true"},
		{dialect.Error{Status: 429, Header: http.Header{"Retry-After": {"7"}}}, "rate_limit_error", "true"},
		{dialect.Error{Status: 500}, "api_error", "true"},
		{dialect.Error{Status: 502}, "api_error", "true"},
		{dialect.Error{Status: 504}, "timeout_error", "true"},
		{dialect.Error{Status: 529}, "overloaded_error", "true"},
		{dialect.Error{Status: 529, Kind: "api_error", Header: http.Header{"X-Should-Retry": {"false"}}}, "api_error", "false"},
	} {
		t.Run(http.StatusText(c.err.Status)+c.kind, func(t *testing.T) {
			a := Messages.EncodeError(&c.err)
			require.Equal(t, c.err.Status, a.Status)
			require.False(t, a.Stream)
			require.Len(t, a.Chunks, 1)
			requestID := a.Header.Get("Request-Id")
			require.Regexp(t, id, requestID)
			require.Equal(t, `{"type":"error","error":{"type":"`+c.kind+`","message":`+string(dialect.Marshal(c.err.Message))+`},"request_id":"`+requestID+`"}`, string(a.Chunks[0]))
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
			require.Equal(t, c.retry, a.Header.Get("X-Should-Retry"))
			require.Equal(t, c.err.Header.Get("Retry-After"), a.Header.Get("Retry-After"))
			require.Equal(t, c.err.Status == 429, a.Header.Get("Anthropic-Ratelimit-Requests-Reset") != "")
			require.Equal(t, c.err.Status == 401, a.Header.Get("Anthropic-Organization-Id") == "")
		})
	}
	event := string(Messages.EncodeErrorEvent(nil, nil, 0, &dialect.Error{Status: 529, Message: "busy"}))
	require.Regexp(t, `^event: error\ndata: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"busy"},"request_id":"req_01[A-Za-z0-9]{22}"}\n\n$`, event)
}
