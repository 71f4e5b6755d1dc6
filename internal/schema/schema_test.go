package schema

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func message(block string) string { return `{"role":"user","content":` + block + `}` }

func result(block string) string {
	return `{"role":"assistant","model":"m","content":[{"type":"text","text":"t"},` + block + `]}`
}

func sample(params string) string {
	return `{"resultType":"input_required","inputRequests":{"first one":` +
		`{"method":"sampling/createMessage","params":` + params + `}}}`
}

var violations = []struct {
	revision string
	schema   Name
	cases    [][3]string // name, message, error
}{
	{"2025-11-25", CreateMessageResult, [][3]string{
		{"wrong type", `"sunny"`, `expected object, found string`},
		{"one missing", `{"role":"assistant","content":[]}`, `missing property 'model'`},
		{"several missing", `{"content":[]}`, `missing properties 'model' and 'role'`},
		{"outermost first", `{"role":"assistant","content":null}`, `missing property 'model'`},
		{"siblings by name", `{"role":"system","model":7,"content":[]}`, `model: expected string, found number`},
		{"enum", `{"role":"system","model":"m","content":[]}`, `role: expected "user" or "assistant", found "system"`},
		{"long value", `{"role":"` + strings.Repeat("ä", 61) + `","model":"m","content":[]}`,
			`role: expected "user" or "assistant", found "` + strings.Repeat("ä", 60) + `…"`},
		{"block of its type", result(`{"type":"tool_use","id":"1","name":"n","input":"{}"}`),
			`content[1].input: expected object, found string`},
		{"block with a missing property", result(`{"type":"tool_use","name":"n","input":{}}`),
			`content[1]: missing property 'id'`},
		{"unknown type", result(`{"type":"video"}`),
			`content[1].type: expected "audio", "image", "text", "tool_result" or "tool_use", found "video"`},
		{"no type", result(`{"text":"t"}`), `content[1]: missing property 'type'`},
		{"empty block", result(`{}`), `content[1]: missing property 'type'`},
		{"too many values", result(strings.Repeat(`0,`, 1_000_000) + `0`),
			`too many values: expected at most 50000 in one message`},
	}},
	{"2025-11-25", CreateMessageRequestParams, [][3]string{
		{"items by number",
			`{"maxTokens":1,"messages":[` + strings.Repeat(`{"role":"user","content":[]},`, 9) +
				`{"role":1,"content":[]},{"role":"user","content":1}]}`,
			`messages[9].role: expected "user" or "assistant", found 1`},
		{"fraction", `{"messages":[],"maxTokens":1.5}`, `maxTokens: expected integer, found 1.5`},
		{"string for a number", `{"messages":[],"maxTokens":"1"}`, `maxTokens: expected integer, found string`},
		{"null", `{"messages":[null],"maxTokens":1}`, `messages[0]: expected object, found null`},
		{"upper bound", `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":1.5}}`,
			`modelPreferences.costPriority: expected at most 1, found 1.5`},
		{"too deep", strings.Repeat(`[`, 1_000_000), `nested too deeply: expected at most 10000 levels`},
		{"number too long", `{"messages":[],"maxTokens":` + strings.Repeat("1", 10_001) + `}`,
			`a number has 10001 characters: expected at most 10000`},
		{"huge exponent", `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":1e999999999}}`,
			`modelPreferences.costPriority: expected at most 1, found 1e1001`},
	}},
	{"2025-11-25", JSONRPCRequest, [][3]string{
		{"two types", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `id: expected integer or string, found null`},
		{"constant", `{"jsonrpc":"1.0","id":1,"method":"m"}`, `jsonrpc: expected "2.0", found "1.0"`},
	}},
	{"2026-07-28", DiscoverResult, [][3]string{
		{"lower bound",
			`{"resultType":"complete","ttlMs":-1,"cacheScope":"public","supportedVersions":[],"capabilities":{}}`,
			`ttlMs: expected at least 0, found -1`},
	}},
	{"2025-06-18", ReadResourceRequest, [][3]string{
		{"format in draft-07", `{"method":"resources/read","params":{"uri":"a"}}`,
			`params.uri: expected a uri, found "a": relative url`},
	}},
	{"2026-07-28", RequestMeta, [][3]string{
		{"name that is not an identifier",
			`{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}`,
			`["io.modelcontextprotocol/protocolVersion"]: expected string, found number`},
	}},
	{"2025-11-25", SamplingMessage, [][3]string{
		{"block without an array", message(`{"type":"tool_use","id":1,"name":"n","input":{}}`),
			`content.id: expected string, found number`},
		{"block in a block",
			message(`[{"type":"tool_result","toolUseId":"1","content":[{"type":"image","data":"aGk="}]}]`),
			`content[0].content[0]: missing property 'mimeType'`},
		{"unknown type without an array", message(`{"type":"resource"}`),
			`content.type: expected "audio", "image", "text", "tool_result" or "tool_use", found "resource"`},
		{"type is a number", message(`{"type":7}`),
			`content.type: expected "audio", "image", "text", "tool_result" or "tool_use", found 7`},
		{"string content", message(`"hello"`), `content: expected object or array, found string`},
		{"null content", message(`null`), `content: expected object or array, found null`},
		{"empty text", ``, `not JSON: the text ends too early`},
		{"truncated text", `{"role":"user","content":[`, `not JSON: the text ends too early`},
		{"not JSON", `{role:"user"}`, `not JSON: invalid character 'r'`},
		{"trailing comma", `{"role":"user","content":[],}`,
			`not JSON: invalid character '}' looking for beginning of object key string`},
		{"closing bracket only", `]`, `not JSON: invalid character ']' looking for beginning of value`},
		{"second value", message(`[]`) + ` {}`, `not one JSON value: there is more after its end`},
		{"closing bracket after the value", message(`[]`) + `}`,
			`not one JSON value: there is more after its end`},
		{"duplicate property", `{"role":"user","role":"user","content":[]}`, `property 'role' appears twice`},
		{"duplicate property with an escape", `{"role":"user","r\u006fle":"user","content":[]}`,
			`property 'role' appears twice`},
		{"nested duplicate property",
			message(`[{"type":"text","text":"a"},{"type":"text","text":"a","x":{"y":1,"y":1}}]`),
			`content[1].x: property 'y' appears twice`},
		{"invalid UTF-8", message("[{\"type\":\"text\",\"text\":\"\xff\"}]"),
			`not JSON: the text is not valid UTF-8`},
	}},
	{"2025-06-18", SamplingMessage, [][3]string{
		{"no tools before 2025-11-25", message(`{"type":"tool_use","id":"1","name":"n","input":{}}`),
			`content.type: expected "audio", "image" or "text", found "tool_use"`},
		{"no arrays before 2025-11-25", message(`[{"type":"text","text":"t"}]`), `content: expected object, found array`},
	}},
	{"2025-11-25", ReadResourceResult, [][3]string{
		{"one of two properties is missing", `{"contents":[{"uri":"file:///a"}]}`,
			`contents[0]: missing property 'blob' or 'text'`},
		{"all properties are missing", `{"contents":[{}]}`, `contents[0]: missing property 'uri'`},
		{"wrong alternative property", `{"contents":[{"uri":"file:///a","blob":1}]}`,
			`contents[0].blob: expected string, found number`},
	}},
	{"2026-07-28", InputRequiredResult, [][3]string{
		{"input request of its method", sample(`{"messages":[],"maxTokens":"many"}`),
			`inputRequests["first one"].params.maxTokens: expected integer, found string`},
		{"nested input request", sample(`{"maxTokens":1,"messages":[` + message(`{"type":"text"}`) + `]}`),
			`inputRequests["first one"].params.messages[0].content: missing property 'text'`},
		{"unknown method",
			`{"resultType":"input_required","inputRequests":{"k":{"method":"ping"}}}`,
			`inputRequests.k.method: expected "elicitation/create", "roots/list" or "sampling/createMessage", found "ping"`},
		{"null input request", `{"resultType":"input_required","inputRequests":{"k":null}}`,
			`inputRequests.k: expected object, found null`},
	}},
	{"2026-07-28", CallToolRequest, [][3]string{
		{"request without _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n"}}`,
			`params: missing property '_meta'`},
		{"capability is a string",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{"sampling":{"tools":"yes"}}}}}`,
			`params._meta["io.modelcontextprotocol/clientCapabilities"].sampling.tools: expected object, found string`},
	}},
	{"2026-07-28", HeaderMismatchError, [][3]string{
		{"wrong code", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}`,
			`error.code: expected -32020, found -32602`},
	}},
}

func TestValidateReportsTheFirstViolation(t *testing.T) {
	for _, group := range violations {
		for _, c := range group.cases {
			name, message, want := c[0], []byte(c[1]), c[2]
			t.Run(name, func(t *testing.T) {
				for range 10 { // the validator visits maps in random order
					err := validate(group.revision, group.schema, message)
					require.EqualError(t, err, want)
					require.IsType(t, &Error{}, err)
				}
				require.EqualError(t, Validate(group.revision, group.schema, message), want)
			})
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	deepest := strings.Repeat("[", 9998) + strings.Repeat("]", 9998)
	for name, message := range map[string]string{
		"integer beyond float64":       `{"messages":[],"maxTokens":123456789012345678901234567890}`,
		"integer with a decimal point": `{"messages":[],"maxTokens":10.0}`,
		"integer with an exponent":     `{"messages":[],"maxTokens":1e3}`,
		"integer with a huge exponent": `{"messages":[],"maxTokens":1e999999999}`,
		"fraction of a huge exponent":  `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":1e-999999999}}`,
		"deepest nesting":              `{"messages":[],"maxTokens":1,"metadata":{"m":` + deepest + `}}`,
		"unknown properties":           `{"messages":[],"maxTokens":1,"unknown":null}`,
		"white space":                  " {\"messages\":[],\n\t\"maxTokens\":1}\r\n",
		"lone surrogate":               `{"messages":[],"maxTokens":1,"systemPrompt":"\ud800"}`,
		"same name at two levels":      `{"messages":[],"maxTokens":1,"metadata":{"maxTokens":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Validate("2025-11-25", CreateMessageRequestParams, []byte(message)))
		})
	}
}

func TestErrorHasAPathAndAMessage(t *testing.T) {
	err := Validate("2025-11-25", CreateMessageResult, []byte(`{"role":"assistant","model":"m","content":[1]}`))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, &Error{Path: "content[0]", Message: "expected object, found number"}, e)
}

func TestUnknownRevisionOrNameIsNotAViolation(t *testing.T) {
	err := Validate("2024-11-05", Tool, []byte(`{}`))
	require.ErrorContains(t, err, `"2024-11-05": expected one of 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28`)
	err = Validate("2026-07-28", PingRequest, []byte(`{}`))
	require.ErrorContains(t, err, `no "PingRequest" in revision 2026-07-28: expected one of Annotations, AudioContent, `)
	var violation *Error
	require.NotErrorAs(t, err, &violation)
}

func TestValidateIsSafeForConcurrentUse(t *testing.T) {
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

// BenchmarkCreateMessageRequestParams validates a turn of a tool loop.
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
			{"name":"get_weather","description":"the weather",
				"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},
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

// BenchmarkCompile compiles all schemas of a revision.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		all := newSchemas("2026-07-28")
		for name := range all.defined {
			all.named(Name(name))
		}
	}
}

func TestCacheIsClearedWhenFull(t *testing.T) {
	c := cache{all: map[cacheKey]error{}}
	key := func(n int) cacheKey { return cacheKey{revision: "2025-11-25", text: [32]byte{byte(n), byte(n >> 8)}} }
	for n := range maxCached + 1 {
		c.put(key(n), &Error{Message: strconv.Itoa(n)})
		verdict, found := c.get(key(n))
		require.True(t, found)
		require.EqualError(t, verdict, strconv.Itoa(n))
	}
	require.Len(t, c.all, 1)
	_, found := c.get(key(0))
	require.False(t, found)
}
