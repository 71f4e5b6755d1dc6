package cassettes

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// conversation is a second turn with two tool calls and their results, in openai-chat. A and B are the ids.
const conversation = `{"model":"m","temperature":1.0,"messages":[
	{"role":"user","content":"weather?"},
	{"role":"assistant","tool_calls":[
		{"id":"A","type":"function","function":{"name":"f","arguments":"{\"id\":\"A\",\"n\":9007199254740993}"}},
		{"id":"B","type":"function","function":{"name":"f","arguments":"{}"}}]},
	{"role":"tool","tool_call_id":"A","content":"18"},
	{"role":"tool","tool_call_id":"B","content":"15"}]}`

// inMCP is the same conversation in the native dialect.
const inMCP = `{"maxTokens":10,"messages":[
	{"role":"user","content":{"type":"text","text":"weather?"}},
	{"role":"assistant","content":[
		{"type":"tool_use","id":"A","name":"f","input":{"type":"tool_use","id":"A"}},
		{"type":"tool_use","id":"B","name":"f","input":{}}]},
	{"role":"user","content":[
		{"type":"tool_result","toolUseId":"A","content":[{"type":"text","text":"18"}]},
		{"type":"tool_result","toolUseId":"B","content":[]}]}]}`

func TestRequestsThatDifferInGeneratedValuesAreEqual(t *testing.T) {
	quoted := func(id string) string { return `"` + id + `"` }
	for name, c := range map[string]struct {
		kind, body string
		edit       []string // old, new, …
		same       bool
	}{
		"unchanged":    {dialect.OpenAIChat, conversation, nil, true},
		"other spaces": {dialect.OpenAIChat, conversation, []string{"\n", "", "\t", ""}, true},
		"other order": {dialect.OpenAIChat, conversation, []string{`"model":"m","temperature":1.0`,
			`"temperature":1.0,"model":"m"`}, true},
		"other notation of a number": {dialect.OpenAIChat, conversation, []string{"1.0", "1"}, true},
		"other number":               {dialect.OpenAIChat, conversation, []string{"1.0", "1.1"}, false},
		"user and metadata": {dialect.OpenAIChat, conversation,
			[]string{`{"model"`, `{"user":"u","metadata":{"a":"b"},"model"`}, true},
		"unknown member": {dialect.OpenAIChat, conversation, []string{`{"model"`, `{"seed":1,"model"`}, false},
		"stream":         {dialect.OpenAIChat, conversation, []string{`{"model"`, `{"stream":true,"model"`}, false},
		"other model":    {dialect.OpenAIChat, conversation, []string{`"m"`, `"n"`}, false},
		"other ids":      {dialect.OpenAIChat, conversation, []string{`id":"A"`, `id":"x"`, `id":"B"`, `id":"y"`}, true},
		"swapped ids": {dialect.OpenAIChat, conversation, []string{quoted("A"), quoted("B"), quoted("B"),
			quoted("A")}, true},
		"result of another call": {dialect.OpenAIChat, conversation, []string{`call_id":"B"`, `call_id":"A"`}, false},
		"swapped results": {dialect.OpenAIChat, conversation, []string{`call_id":"B"`, `call_id":"A"`,
			`call_id":"A"`, `call_id":"B"`}, false},
		"one id for both": {dialect.OpenAIChat, conversation, []string{`"B"`, `"A"`}, false},
		"other notation of arguments": {dialect.OpenAIChat, conversation,
			[]string{`{\"id\":\"A\",\"n\":9007199254740993}`, `{ \"n\": 9007199254740993, \"id\": \"A\" }`}, true},
		"rounded arguments":    {dialect.OpenAIChat, conversation, []string{"993", "992"}, false},
		"an argument named id": {dialect.OpenAIChat, conversation, []string{`\"A\"`, `\"x\"`}, false},
		"invalid arguments":    {dialect.OpenAIChat, conversation, []string{`"arguments":"{}"`, `"arguments":"{"`}, false},
		"native: unchanged":    {dialect.Native, inMCP, nil, true},
		"native: _meta": {dialect.Native, inMCP,
			[]string{`{"maxTokens"`, `{"_meta":{"progressToken":7},"maxTokens"`}, true},
		"native: other ids": {dialect.Native, inMCP, []string{`"id":"A","name`, `"id":"x","name`, `Id":"A"`, `Id":"x"`,
			`"B"`, `"y"`}, true},
		"native: one id changed": {dialect.Native, inMCP, []string{`"id":"A","name`, `"id":"x","name`}, false},
		"native: id in an input": {dialect.Native, inMCP, []string{`"input":{"type":"tool_use","id":"A"}`,
			`"input":{"type":"tool_use","id":"x"}`}, false},
		"native: single block": {dialect.Native, inMCP, []string{`[{"type":"text","text":"18"}]`,
			`{"type":"text","text":"18"}`}, false},
		"no dialect: ids count":   {"POST /v1/complete", conversation, []string{`id":"A"`, `id":"x"`}, false},
		"not JSON":                {"POST /v1/complete", "a=b", nil, true},
		"not JSON, other bytes":   {"POST /v1/complete", "a=b", []string{"b", "c"}, false},
		"text and the JSON of it": {"POST /v1/complete", "abc", []string{"abc", `"abc"`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.NewReplacer(c.edit...).Replace(c.body)
			require.Equal(t, c.edit == nil, edited == c.body, "the edit must match")
			was, is := newRequest(c.kind, nil, c.body), newRequest(c.kind, nil, edited)
			require.Equal(t, c.same, was.key() == is.key())
			require.Equal(t, c.same, compare(was.body, is.body).count == 0)
		})
	}
}

func TestAddressNamesTheDialect(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.openai.com/v1/chat/completions":                    dialect.OpenAIChat,
		"https://openrouter.ai/api/v1/chat/completions":                 dialect.OpenAIChat,
		"http://127.0.0.1:1234/native":                                  dialect.Native,
		"https://api.openai.com/v1/responses":                           dialect.OpenAIResponses,
		"https://api.anthropic.com/v1/messages?beta=true":               dialect.Anthropic,
		"http://127.0.0.1:11434/api/chat":                               dialect.Ollama,
		"https://api.cohere.com/v2/chat":                                dialect.CohereChat,
		"https://h/v1beta/models/m:streamGenerateContent?key=k&alt=sse": "gemini m:streamGenerateContent?alt=sse",
		"https://api.anthropic.com/v1/messages/count_tokens":            "POST /v1/messages/count_tokens",
		"https://api.openai.com/v1/threads/t/messages":                  "POST /v1/threads/t/messages",
		"https://gateway.example/anthropic/messages":                    dialect.Anthropic,

		"https://h/v1beta/models/m:embedContent?key=k&alt=s": "POST /v1beta/models/m:embedContent?alt=s&key=REDACTED",

		"https://h/v1/projects/p/locations/l/publishers/google/models/m:generateContent": "gemini m:generateContent",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, kindOf("POST", u))
	}
	require.Equal(t, "GET /native", kindOf("GET", &url.URL{Path: "/native"}))
}

func TestDifferenceNamesThePath(t *testing.T) {
	long := strings.Repeat("the same words ", 10)
	for name, c := range map[string]struct{ want, got, first string }{
		"value":               {`{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, `at a.b[1] expected 2, found 3`},
		"missing":             {`{"a":1,"b":[1,2]}`, `{"b":[1]}`, `at a expected 1, found nothing`},
		"additional":          {`{"b":[1]}`, `{"b":[1,{"c":2}]}`, `at b[1] expected nothing, found {"c":2}`},
		"type":                {`{"b":[1]}`, `{"b":{"c":2}}`, `at b expected [1], found {"c":2}`},
		"null is not nothing": {`{"b":null}`, `{}`, `at b expected null, found nothing`},
		"whole body":          {`[]`, `a=b`, `at the body expected [], found "a=b"`},
		"far into a text": {`["` + long + `x"]`, `["` + long + `y"]`,
			`at [0] expected …me words the same words x", found …me words the same words y"`},
		"within a character": {`["` + long + `é"]`, `["` + long + `è"]`,
			`at [0] expected …e words the same words é", found …e words the same words è"`},
		"name with a space": {`{"a b":{"c":1}}`, `{"a b":{"c":2}}`, `at ["a b"].c expected 1, found 2`},
		"long value":        {`["` + long + `"]`, `[]`, `at [0] expected "` + long[:79] + `…, found nothing`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.first, compare(newRequest("k", nil, c.want).body, newRequest("k", nil, c.got).body).first)
		})
	}
}

// A secret that was removed when recording may be unknown when replaying, and vice versa.
func TestRemovedSecretEqualsAnySecret(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"unknown secret":      {"say REDACTED to me", "say this-is-mine to me", true},
		"too short":           {"say REDACTED to me", "say 1234567 to me", false},
		"empty":               {"say REDACTED to me", "say  to me", false},
		"other text after":    {"say REDACTED to me", "say this-is-mine to him", false},
		"other text before":   {"say REDACTED to me", "ask this-is-mine to me", false},
		"alone":               {"REDACTED", "this-is-mine", true},
		"two, one short":      {"REDACTED and REDACTED", "one-thing and another", false},
		"two":                 {"REDACTED and REDACTED.", "one-thing and other-thing and more.", true},
		"adjacent":            {"REDACTEDREDACTED", "0123456789012345", true},
		"adjacent, too short": {"REDACTEDREDACTED", "012345678901234", false},
		"one on each side":    {"REDACTED and this-is-mine", "REDACTED and REDACTED", true},
		"none":                {"a", "b", false},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			for _, body := range []string{"%q", `{"messages":[{"role":"user","content":%q}]}`, "%s"} {
				was, is := newRequest(dialect.OpenAIChat, nil, fmt.Sprintf(body, pair[0])), newRequest(
					dialect.OpenAIChat,
					nil,
					fmt.Sprintf(body, pair[1]),
				)
				require.Equal(t, c.same, compare(was.body, is.body).count == 0, name)
			}
		}
	}
}
