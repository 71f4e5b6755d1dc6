package schema

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrors(t *testing.T) {
	// A message with one content block, and a result with two.
	message := func(block string) string { return `{"role":"user","content":` + block + `}` }
	result := func(block string) string {
		return `{"role":"assistant","model":"m","content":[{"type":"text","text":"t"},` + block + `]}`
	}
	sample := func(params string) string {
		return `{"resultType":"input_required","inputRequests":{"first one":{"method":"sampling/createMessage","params":` + params + `}}}`
	}
	const a, b = "2025-11-25", "2026-07-28"
	for _, test := range []struct {
		name     string
		revision string
		schema   Name
		message  string
		want     string
	}{
		{"wrong type", a, CreateMessageResult, `"sunny"`, `want object, got string`},
		{"one missing", a, CreateMessageResult, `{"role":"assistant","content":[]}`, `missing property 'model'`},
		{"several missing", a, CreateMessageResult, `{"content":[]}`, `missing properties 'model' and 'role'`},
		{"the outer one first", a, CreateMessageResult, `{"role":"assistant","content":null}`, `missing property 'model'`},
		{"siblings by name", a, CreateMessageResult, `{"role":"system","model":7,"content":[]}`, `model: want string, got number`},
		{"items by number", a, CreateMessageRequestParams, `{"maxTokens":1,"messages":[` + strings.Repeat(`{"role":"user","content":[]},`, 9) +
			`{"role":1,"content":[]},{"role":"user","content":1}]}`, `messages[9].role: want "user" or "assistant", got 1`},
		{"an enum", a, CreateMessageResult, `{"role":"system","model":"m","content":[]}`, `role: want "user" or "assistant", got "system"`},
		{"a fraction", a, CreateMessageRequestParams, `{"messages":[],"maxTokens":1.5}`, `maxTokens: want integer, got 1.5`},
		{"a number that is a string", a, CreateMessageRequestParams, `{"messages":[],"maxTokens":"1"}`, `maxTokens: want integer, got string`},
		{"null", a, CreateMessageRequestParams, `{"messages":[null],"maxTokens":1}`, `messages[0]: want object, got null`},
		{"two types", a, JSONRPCRequest, `{"jsonrpc":"2.0","id":null,"method":"m"}`, `id: want integer or string, got null`},
		{"a constant", a, JSONRPCRequest, `{"jsonrpc":"1.0","id":1,"method":"m"}`, `jsonrpc: want "2.0", got "1.0"`},
		{"a bound", a, CreateMessageRequestParams, `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":1.5}}`,
			`modelPreferences.costPriority: want at most 1, got 1.5`},
		{"the other bound", b, DiscoverResult, `{"resultType":"complete","ttlMs":-1,"cacheScope":"public","supportedVersions":[],"capabilities":{}}`,
			`ttlMs: want at least 0, got -1`},
		{"a format, where it binds", "2025-06-18", ReadResourceRequest, `{"method":"resources/read","params":{"uri":"a"}}`,
			`params.uri: want a uri, got "a": relative url`},
		{"a long value", a, CreateMessageResult, `{"role":"` + strings.Repeat("ä", 61) + `","model":"m","content":[]}`,
			`role: want "user" or "assistant", got "` + strings.Repeat("ä", 60) + `…"`},
		{"a name that is no identifier", b, RequestMeta,
			`{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}`,
			`["io.modelcontextprotocol/protocolVersion"]: want string, got number`},

		{"a block is judged by its type", a, CreateMessageResult, result(`{"type":"tool_use","id":"1","name":"n","input":"{}"}`),
			`content[1].input: want object, got string`},
		{"a block lacks something", a, CreateMessageResult, result(`{"type":"tool_use","name":"n","input":{}}`),
			`content[1]: missing property 'id'`},
		{"also outside an array", a, SamplingMessage, message(`{"type":"tool_use","id":1,"name":"n","input":{}}`),
			`content.id: want string, got number`},
		{"a block in a block", a, SamplingMessage, message(`[{"type":"tool_result","toolUseId":"1","content":[{"type":"image","data":"aGk="}]}]`),
			`content[0].content[0]: missing property 'mimeType'`},
		{"an unknown type", a, CreateMessageResult, result(`{"type":"video"}`),
			`content[1].type: want "audio", "image", "text", "tool_result" or "tool_use", got "video"`},
		{"an unknown type outside an array", a, SamplingMessage, message(`{"type":"resource"}`),
			`content.type: want "audio", "image", "text", "tool_result" or "tool_use", got "resource"`},
		{"a type that is no string", a, SamplingMessage, message(`{"type":7}`),
			`content.type: want "audio", "image", "text", "tool_result" or "tool_use", got 7`},
		{"tools came later", "2025-06-18", SamplingMessage, message(`{"type":"tool_use","id":"1","name":"n","input":{}}`),
			`content.type: want "audio", "image" or "text", got "tool_use"`},
		{"and so did arrays", "2025-06-18", SamplingMessage, message(`[{"type":"text","text":"t"}]`), `content: want object, got array`},
		{"no type", a, CreateMessageResult, result(`{"text":"t"}`), `content[1]: missing property 'type'`},
		{"nothing at all", a, CreateMessageResult, result(`{}`), `content[1]: missing property 'type'`},
		{"neither block nor array", a, SamplingMessage, message(`"hello"`), `content: want object or array, got string`},
		{"content that is null", a, SamplingMessage, message(`null`), `content: want object or array, got null`},
		{"one of two properties", a, ReadResourceResult, `{"contents":[{"uri":"file:///a"}]}`, `contents[0]: missing property 'blob' or 'text'`},
		{"none of three properties", a, ReadResourceResult, `{"contents":[{}]}`, `contents[0]: missing property 'uri'`},
		{"the one that is there is wrong", a, ReadResourceResult, `{"contents":[{"uri":"file:///a","blob":1}]}`,
			`contents[0].blob: want string, got number`},

		{"an input request is judged by its method", b, InputRequiredResult, sample(`{"messages":[],"maxTokens":"many"}`),
			`inputRequests["first one"].params.maxTokens: want integer, got string`},
		{"deep in an input request", b, InputRequiredResult, sample(`{"maxTokens":1,"messages":[` + message(`{"type":"text"}`) + `]}`),
			`inputRequests["first one"].params.messages[0].content: missing property 'text'`},
		{"an unknown method", b, InputRequiredResult, `{"resultType":"input_required","inputRequests":{"k":{"method":"ping"}}}`,
			`inputRequests.k.method: want "elicitation/create", "roots/list" or "sampling/createMessage", got "ping"`},
		{"a null input request", b, InputRequiredResult, `{"resultType":"input_required","inputRequests":{"k":null}}`,
			`inputRequests.k: want object, got null`},
		{"a request without _meta", b, CallToolRequest, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n"}}`,
			`params: missing property '_meta'`},
		{"a capability that is no object", b, CallToolRequest,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{"sampling":{"tools":"yes"}}}}}`,
			`params._meta["io.modelcontextprotocol/clientCapabilities"].sampling.tools: want object, got string`},
		{"the wrong code", b, HeaderMismatchError, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}`,
			`error.code: want -32020, got -32602`},

		{"no text", a, SamplingMessage, ``, `not JSON: the text ends too early`},
		{"half a text", a, SamplingMessage, `{"role":"user","content":[`, `not JSON: the text ends too early`},
		{"not JSON", a, SamplingMessage, `{role:"user"}`, `not JSON: invalid character 'r'`},
		{"a comma too many", a, SamplingMessage, `{"role":"user","content":[],}`, `not JSON: invalid character '}' looking for beginning of object key string`},
		{"a bracket in the wrong place", a, SamplingMessage, `]`, `not JSON: invalid character ']' looking for beginning of value`},
		{"something after it", a, SamplingMessage, message(`[]`) + ` {}`, `not one JSON value: there is more after its end`},
		{"rubbish after it", a, SamplingMessage, message(`[]`) + `}`, `not one JSON value: there is more after its end`},
		{"a property twice", a, SamplingMessage, `{"role":"user","role":"user","content":[]}`, `property 'role' appears twice`},
		{"a property twice, spelled differently", a, SamplingMessage, `{"role":"user","r\u006fle":"user","content":[]}`, `property 'role' appears twice`},
		{"a property twice, deep inside", a, SamplingMessage, message(`[{"type":"text","text":"a"},{"type":"text","text":"a","x":{"y":1,"y":1}}]`),
			`content[1].x: property 'y' appears twice`},
		{"not UTF-8", a, SamplingMessage, message("[{\"type\":\"text\",\"text\":\"\xff\"}]"), `not JSON: the text is not valid UTF-8`},
		{"too deep", a, CreateMessageRequestParams, strings.Repeat(`[`, 1_000_000), `nested too deeply: want at most 10000 levels`},
		{"too many", a, CreateMessageResult, result(strings.Repeat(`0,`, 1_000_000) + `0`), `too much to judge: want at most 50000 values in one message`},
		{"a number too long", a, CreateMessageRequestParams, `{"messages":[],"maxTokens":` + strings.Repeat("1", 10_001) + `}`,
			`a number has 10001 characters: want at most 10000`},
		{"an exponent beyond all bounds", a, CreateMessageRequestParams, `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":1e999999999}}`,
			`modelPreferences.costPriority: want at most 1, got 1e1001`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 10 { // the validator goes through maps
				err := validate(test.revision, test.schema, []byte(test.message))
				require.EqualError(t, err, test.want)
				require.IsType(t, &Error{}, err)
			}
			require.EqualError(t, Validate(test.revision, test.schema, []byte(test.message)), test.want)
		})
	}
}

func TestValid(t *testing.T) {
	for name, message := range map[string]string{
		"an integer beyond float64":       `{"messages":[],"maxTokens":123456789012345678901234567890}`,
		"an integer with a point":         `{"messages":[],"maxTokens":10.0}`,
		"an integer with an exponent":     `{"messages":[],"maxTokens":1e3}`,
		"an integer beyond all bounds":    `{"messages":[],"maxTokens":1e999999999}`,
		"a fraction beyond all bounds":    `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":1e-999999999}}`,
		"the deepest nesting":             `{"messages":[],"maxTokens":1,"metadata":{"m":` + strings.Repeat("[", 9998) + strings.Repeat("]", 9998) + `}}`,
		"unknown properties":              `{"messages":[],"maxTokens":1,"unknown":null}`,
		"white space":                     " {\"messages\":[],\n\t\"maxTokens\":1}\r\n",
		"a lone surrogate, which is JSON": `{"messages":[],"maxTokens":1,"systemPrompt":"\ud800"}`,
		"one name at two levels":          `{"messages":[],"maxTokens":1,"metadata":{"maxTokens":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Validate("2025-11-25", CreateMessageRequestParams, []byte(message)))
		})
	}
}

func TestAnErrorHasPathAndMessage(t *testing.T) {
	err := Validate("2025-11-25", CreateMessageResult, []byte(`{"role":"assistant","model":"m","content":[1]}`))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, &Error{Path: "content[0]", Message: "want object, got number"}, e)
}

func TestUnknownRevisionAndName(t *testing.T) {
	err := Validate("2024-11-05", Tool, []byte(`{}`))
	require.EqualError(t, err, `schema: unknown revision "2024-11-05", there are 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28`)
	err = Validate("2026-07-28", PingRequest, []byte(`{}`))
	require.ErrorContains(t, err, `schema: no "PingRequest" in revision 2026-07-28, there are Annotations, AudioContent, `)
	require.ErrorContains(t, err, `DiscoverRequest`)
	var violation *Error
	require.NotErrorAs(t, err, &violation, "our mistake is no violation of the peer's")
}

func TestConcurrentUse(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for revision := range revisions {
				raw := fmt.Appendf(nil, `{"name":"n","inputSchema":{"type":"object"},"_meta":{"k":%d}}`, i)
				if err := Validate(revision, Tool, raw); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// A turn of a tool loop: a history with two uses and their results, and two tools.
func BenchmarkCreateMessageRequestParams(b *testing.B) {
	raw := []byte(`{"messages":[
		{"role":"user","content":{"type":"text","text":"What is the weather in Paris and London?"}},
		{"role":"assistant","content":[
			{"type":"tool_use","id":"call_1","name":"get_weather","input":{"city":"Paris"}},
			{"type":"tool_use","id":"call_2","name":"get_weather","input":{"city":"London"}}]},
		{"role":"user","content":[
			{"type":"tool_result","toolUseId":"call_1","content":[{"type":"text","text":"18°C"}]},
			{"type":"tool_result","toolUseId":"call_2","content":[{"type":"text","text":"15°C"}]}]}],
		"maxTokens":1000,"systemPrompt":"be brief","modelPreferences":{"hints":[{"name":"claude"}],"costPriority":0.3},
		"tools":[
			{"name":"get_weather","description":"the weather","inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},
			{"name":"get_time","inputSchema":{"type":"object"}}],
		"toolChoice":{"mode":"auto"}}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Validate("2025-11-25", CreateMessageRequestParams, raw); err != nil {
			b.Fatal(err)
		}
	}
}

// What the first message of a revision costs.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compile("2026-07-28")
	}
}

// What is forgotten is checked again, and no verdict is that of another text.
func TestOnlySoManyVerdictsAreKept(t *testing.T) {
	k := known{all: map[checked]error{}}
	c := func(n int) checked { return checked{revision: "2025-11-25", text: [32]byte{byte(n), byte(n >> 8)}} }
	for n := range mostKnown + 1 {
		k.note(c(n), &Error{Message: strconv.Itoa(n)})
		verdict, found := k.of(c(n))
		require.True(t, found)
		require.EqualError(t, verdict, strconv.Itoa(n))
	}
	require.Len(t, k.all, 1)
	_, found := k.of(c(0))
	require.False(t, found)
}
