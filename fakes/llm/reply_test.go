package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// questions are a body of each dialect; %t is whether to stream.
var questions = map[string]string{
	dialect.Native:          `{"maxTokens":9,"messages":[]}`,
	dialect.OpenAIChat:      `{"model":"m","stream":%t,"messages":[{"role":"user","content":"?"}]}`,
	dialect.OpenAIResponses: `{"model":"m","stream":%t,"input":"?","include":["reasoning.encrypted_content"]}`,
	dialect.Anthropic:       `{"model":"m","stream":%t,"max_tokens":9,"messages":[{"role":"user","content":"?"}]}`,
	dialect.Gemini:          `{"contents":[{"role":"user","parts":[{"text":"?"}]}]}`,
}

// posed returns a request of a dialect.
func posed(t *testing.T, codec dialect.Codec, stream bool) *Request {
	path := "/v1beta/models/gemini-3-pro-preview:generateContent"
	if stream {
		path = "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
	}
	u, err := url.Parse(path)
	require.NoError(t, err)
	body := cmp.Or(questions[codec.Name()], questions[dialect.OpenAIChat])
	if strings.Contains(body, "%") {
		body = fmt.Sprintf(body, stream)
	}
	r := &http.Request{Method: "POST", URL: u, Header: http.Header{"Anthropic-Version": {"2023-06-01"}}}
	req, refused := codec.Decode(r, []byte(body))
	require.Nil(t, refused)
	return req
}

func body(a Answer) []byte { return bytes.Join(a.Chunks, nil) }

func TestAReplyIsReadAsItWasEncoded(t *testing.T) {
	first, second := CallID("call_one1", "get_weather", `{"city":"Zürich","n":9007199254740993,"x":[null,""]}`),
		CallID("call_two2", "list", `{"a":{}}`)
	replies := map[string]dialect.Reply{
		"text":              {Content: []Block{Text("It is \"18°C\" 🌤\r\n in Zürich. ")}},
		"one call":          {Content: []Block{first}},
		"calls":             {Content: []Block{Text("Let me see."), first, second}},
		"a late call":       {Content: []Block{first, second}, LateUse: true},
		"thinking":          {Content: []Block{Thinking("Hm, well then.", "c2VhbGVk"), Text("Yes, of course.")}},
		"an empty answer":   {},
		"the limit":         {Content: []Block{Text("Once upon a")}, StopReason: StopMaxTokens},
		"filtered":          {Content: []Block{Text("I wo")}, StopReason: StopContentFilter},
		"a refusal":         {Content: []Block{Text("I will not.")}, StopReason: StopRefusal},
		"the provider's":    {Content: []Block{Text("Wait.")}, StopReason: "pause_turn"},
		"a call, truncated": {Content: []Block{first}, StopReason: StopMaxTokens},
	}
	for _, d := range dialects.Codecs {
		for _, stream := range []bool{false, true} {
			for name, reply := range replies {
				t.Run(fmt.Sprintf("%s/stream %t/%s", d.Name(), stream, name), func(t *testing.T) {
					reply.Model = "gemini-3-pro-preview"
					got, err := d.DecodeReply(body(d.Encode(posed(t, d, stream), &reply)))
					require.NoError(t, err)
					require.True(t, got.Complete)
					if !d.Facts().Unnamed {
						require.Equal(t, reply.Model, got.Model)
					}
					require.NotEmpty(t, got.FinishReason)
					require.Equal(t, shown(d.Name(), reply.Content), shown(d.Name(), got.Content))
					if word := got.FinishReason; reason(d.Name(), &reply) != got.StopReason {
						require.Contains(t, []string{"stop", "STOP", "COMPLETE", "refusal"}, word, "one word for several reasons")
					}
				})
			}
		}
	}
}

// What a codec writes of a request it also reads, and accepts.
func TestRequestsAreReadAsTheyAreWritten(t *testing.T) {
	for _, d := range dialects.Codecs {
		t.Run(d.Name(), func(t *testing.T) {
			header := http.Header{"Authorization": {"Bearer key"}}
			maps.Copy(header, d.Facts().Header)
			codectest.Rewrites(t, d, header)
		})
	}
}

// reason returns the reply's stop reason as the dialect can say it.
func reason(name string, reply *dialect.Reply) StopReason {
	if name == dialect.Anthropic && reply.StopReason == StopContentFilter {
		return StopRefusal
	}
	return reply.Reason()
}

// The dialects that have thinking, without and with a signature.
var (
	thinking = jsonvalue.Set(dialect.Ollama + " " + dialect.CohereChat)
	signing  = jsonvalue.Set(dialect.Anthropic + " " + dialect.OpenAIResponses + " " + dialect.Gemini)
)

// shown returns the blocks without what the dialect cannot carry or adds.
func shown(name string, blocks []Block) (all []string) {
	for _, b := range blocks {
		switch {
		case b.Type == dialect.Thinking && !signing[name] && !thinking[name]: // no member for it
			continue
		case b.Type == dialect.Text && b.Text == "": // the native form of an empty answer
			continue
		case !signing[name] || b.Type != dialect.Thinking && name != dialect.Gemini || b.Type == dialect.ToolUse:
			b.Signature = ""
		}
		var input bytes.Buffer
		if json.Compact(&input, b.Input) != nil {
			input.Reset()
			input.Write(b.Input)
		}
		all = append(all, fmt.Sprintf("%s %q %s %s %s %s", b.Type, b.Text, b.ID, b.Name, input.String(), b.Signature))
	}
	return all
}

func TestRepliesAreReadInTheFormsOfRealServers(t *testing.T) {
	one, both := []Block{use("a", "t", "{}")}, []Block{use("a", "t", `{"x":1}`), use("b", "t", `{"x":2}`)}
	said, withCall := []Block{Text("ok")}, []Block{Text("ok"), use("a", "t", "{}")}
	events := func(all ...string) string { return "data: " + strings.Join(all, "\n\ndata: ") + "\n\n" }
	delta := func(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + "}]}" }
	message := func(message string) string {
		return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}]}`
	}
	call := func(index, id, name, arguments string) string {
		return delta(fmt.Sprintf(`{"tool_calls":[{%s"id":%q,"function":{"name":%q,"arguments":%q}}]}`,
			index, id, name, arguments))
	}
	const (
		first, second = `"index":0,`, `"index":1,`
		done          = "[DONE]"
		geminiCall    = `{"functionCall":{"id":"a","name":"t","args":{}}}`
		ollamaCall    = `{"tool_calls":[{"id":"a","function":{"name":"t","arguments":{}}}]}`
		responsesCall = `{"type":"function_call","id":"f","call_id":"a","name":"t","arguments":"{}"}`
	)
	block := func(kind, index, member, rest string) string {
		return fmt.Sprintf(`{"type":"content_block_%s","index":%s,%q:{%s}}`, kind, index, member, rest)
	}
	for name, c := range map[string]struct {
		dialect, body string
		content       []Block
		complete      bool
	}{
		"interleaved fragments": {dialect.OpenAIChat, events(call(first, "a", "t", `{"x"`), call(second, "b", "t", `{"x"`),
			call(first, "", "", `:1}`), call(second, "", "", `:2}`)), both, false},
		"repeated ids and names": {dialect.OpenAIChat,
			events(call(first, "a", "t", `{`), call(first, "a", "t", `}`), done), one, true},
		"one index for all": {dialect.OpenAIChat,
			events(call(first, "a", "t", `{"x":1}`), call(first, "b", "t", `{"x":2}`)), both, false},
		"no index": {dialect.OpenAIChat,
			events(call("", "a", "t", `{"x"`), call("", "", "", `:1}`), call("", "b", "t", `{"x":2}`)), both, false},
		"text around a call": {dialect.OpenAIChat,
			events(delta(`{"content":"o"}`), call("", "a", "t", `{}`), delta(`{"content":"k"}`)), withCall, false},
		"text after the end": {dialect.OpenAIChat,
			events(`{"choices":[{"delta":{"content":"o"},"finish_reason":"stop"}]}`, delta(`{"content":"k"}`)), said, true},
		"several data lines": {dialect.OpenAIChat,
			": wait\r\n\r\ndata: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"ok\"}}]}\r\n\r\ndata:[DONE]\r\n\r\n",
			said, true},
		"an unfinished event": {dialect.OpenAIChat, events(delta(`{"content":"ok"}`)) + `data: {"choi`, said, false},
		"parts and reasoning": {dialect.OpenAIChat,
			message(`{"reasoning_content":"hm","content":[{"type":"text","text":"o"},{"type":"text","text":"k"}]}`),
			[]Block{{Type: dialect.Thinking, Text: "hm"}, Text("ok")}, true},
		"an old function call": {dialect.OpenAIChat,
			message(`{"content":null,"function_call":{"name":"t","arguments":"{}"}}`), []Block{use("", "t", "{}")}, true},
		"an alternative": {dialect.OpenAIChat, `{"choices":[{"index":0,"message":{"content":"ok"},"finish_reason":"stop"},` +
			`{"index":1,"message":{"content":"no"}}]}`, said, true},
		"objects as arguments": {dialect.OpenAIChat, message(ollamaCall), one, true},
		"an empty final output": {dialect.OpenAIResponses,
			events(`{"type":"response.output_item.done","item":`+responsesCall+`}`, `{"type":"response.completed",`+
				`"response":{"object":"response","status":"completed","output":[]}}`), one, true},
		"interleaved blocks": {dialect.Anthropic, events(`{"type":"message_start","message":{"type":"message"}}`,
			block("start", "1", "content_block", `"type":"tool_use","id":"a","name":"t","input":{}`),
			block("start", "0", "content_block", `"type":"text","text":"o"`),
			block("delta", "1", "delta", `"type":"input_json_delta","partial_json":"{"`),
			block("delta", "0", "delta", `"type":"text_delta","text":"k"`),
			block("delta", "1", "delta", `"type":"input_json_delta","partial_json":"}"`)), withCall, false},
		"an array of chunks": {dialect.Gemini, `[{"candidates":[{"content":{"parts":[{"text":"o"}]}}]}` + "\n,\r\n" +
			`{"candidates":[{"content":{"parts":[{"text":"k"},` + geminiCall + `]},"finishReason":"STOP"}]}]`, withCall, true},
		"a call after the end": {dialect.Gemini, events(`{"candidates":[{"finishReason":"STOP"}]}`,
			`{"candidates":[{"content":{"parts":[`+geminiCall+`]}}]}`), one, true},
		"the end as a number": {dialect.Gemini, `{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":1}]}`,
			said, true},
		"a blocked prompt": {dialect.Gemini, `{"promptFeedback":{"blockReason":"SAFETY"}}`, nil, true},
		"a call on the last line": {dialect.Ollama, `{"message":{"content":"ok"}}` + "\n" +
			`{"message":` + ollamaCall + `,"done":true,"done_reason":"stop"}`, withCall, true},
		"a single block": {dialect.Native, `{"content":{"type":"text","text":"ok"},"model":"m"}`, said, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := dialects.DecodeReply(c.dialect, []byte(c.body))
			require.NoError(t, err)
			require.Equal(t, shown("", c.content), shown("", got.Content))
			require.Equal(t, c.complete, got.Complete)
		})
	}
}

func use(id, name, input string) Block { return CallID(id, name, input) }
