package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// sentForResponse returns a member of the body for a request's params, as JSON.
func sentForResponse(t *testing.T, member, params string) (string, error) {
	t.Helper()
	o, err := mcpjson.Object([]byte(`{"maxTokens":70,` + params + `}`))
	require.NoError(t, err)
	body, err := responsesBody(o, true)
	if err != nil {
		return "", err
	}
	return string(mcpjson.Marshal(body[member])), nil
}

func TestMessagesAreConvertedForResponses(t *testing.T) {
	const image = `{"detail":"auto","image_url":"data:image/png;base64,aGk=","type":"input_image"}`
	for name, c := range map[string]struct{ messages, want string }{
		"a bare block": {`{"role":"user","content":{"type":"text","text":"hi"}}`, `[{"content":[{"text":"hi","type":"input_text"}],"role":"user"}]`},
		"media": {`{"role":"user","content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/mpeg"}]}`,
			`[{"content":[` + image + `,{"input_audio":{"data":"aGk=","format":"mp3"},"type":"input_audio"}],"role":"user"}]`},
		"uses and results": {usesOfTwo + `,` + resultsOfTwo,
			`[{"content":"so","role":"assistant"},{"arguments":"{\"n\":9007199254740993}","call_id":"u1","name":"add","type":"function_call"},{"arguments":"{}","call_id":"u2","name":"sub","type":"function_call"},` +
				`{"call_id":"u2","output":"Error:\ntwo","type":"function_call_output"},` +
				`{"call_id":"u1","output":[{"text":"one\n(image of the tool follows)","type":"input_text"},` + image + `],"type":"function_call_output"}]`},
		"a result with audio": {usesOfTwo + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"u1","content":[{"type":"audio","data":"aGk=","mimeType":"audio/x-wav"}]}]}`,
			`[{"content":"so","role":"assistant"},{"arguments":"{\"n\":9007199254740993}","call_id":"u1","name":"add","type":"function_call"},{"arguments":"{}","call_id":"u2","name":"sub","type":"function_call"},` +
				`{"call_id":"u1","output":"(audio of the tool follows)","type":"function_call_output"},{"content":[{"input_audio":{"data":"aGk=","format":"wav"},"type":"input_audio"}],"role":"user"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sentForResponse(t, "input", `"messages":[`+c.messages+`]`)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	for params, want := range map[string]string{
		`"messages":[{"role":"assistant","content":{"type":"image"}}]`: "the model does not accept image in its own turn (code -32603)",
		`"messages":[{"role":"user","content":{"type":"video"}}]`:      "the model does not accept video (code -32603)",
		`"messages":[{"role":"user","content":"hi"}]`:                  "content block 0 is not an object",
		`"messages":[],"maxTokens":15`:                                 "the model does not accept a limit below 16 tokens (code -32603)",
	} {
		_, err := sentForResponse(t, "input", params)
		require.EqualError(t, err, want)
	}
}

func TestParametersAreConvertedForResponses(t *testing.T) {
	const tool = `"tools":[{"name":"a","description":"d","title":"A","inputSchema":{"type":"object"}}]`
	for _, c := range []struct{ member, params, want string }{
		{"instructions", `"systemPrompt":"s"`, `"s"`},
		{"max_output_tokens", `"messages":[]`, `70`},
		{"temperature", `"temperature":0.5`, `0.5`},
		{"stop", `"stopSequences":["x"]`, `null`},
		{"store", `"messages":[]`, `false`},
		{"tools", tool, `[{"description":"d","name":"a","parameters":{"type":"object"},"strict":false,"type":"function"}]`},
		{"tool_choice", tool, `null`},
		{"tool_choice", tool + `,"toolChoice":{}`, `"auto"`},
		{"tool_choice", tool + `,"toolChoice":{"mode":"required"}`, `"required"`},
		{"tool_choice", tool + `,"toolChoice":{"mode":"none"}`, `"none"`},
		{"tool_choice", `"toolChoice":{"mode":"required"}`, `null`},
		{"model", `"modelPreferences":{"hints":[{"name":"gpt-5"},{"name":"gpt-4.1"}]}`, `"gpt-4.1"`},
		{"stream", `"messages":[]`, `true`},
	} {
		got, err := sentForResponse(t, c.member, c.params)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s of %s", c.member, c.params)
	}
}

func TestAnswersOfResponsesAreRead(t *testing.T) {
	message := func(parts string) string { return `{"type":"message","content":[` + parts + `]}` }
	text := func(s string) string { return `{"type":"output_text","text":"` + s + `"}` }
	const use = `{"type":"function_call","id":"fc_1","call_id":"x","name":"add","arguments":"{\"n\":9007199254740993}"}`
	result := func(content, reason string) string {
		return `{"content":` + content + `,"model":"m","role":"assistant","stopReason":"` + reason + `"}`
	}
	for name, c := range map[string]struct{ items, end, want string }{
		"text":      {message(text("a")+","+text("b")) + "," + message(text("c")), `"status":"completed"`, result(`{"text":"abc","type":"text"}`, "endTurn")},
		"truncated": {message(text("a")), `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, result(`{"text":"a","type":"text"}`, "maxTokens")},
		"held back": {message(text("a")), `"status":"incomplete","incomplete_details":{"reason":"content_filter"}`, result(`{"text":"a","type":"text"}`, "content_filter")},
		"cancelled": {message(text("a")), `"status":"cancelled"`, result(`{"text":"a","type":"text"}`, "cancelled")},
		"a refusal": {message(`{"type":"refusal","refusal":"no"}`), `"status":"completed"`, result(`{"text":"no","type":"text"}`, "refusal")},
		"a call": {`{"type":"reasoning","summary":[]},` + message(text("a")) + "," + use, `"status":"completed"`,
			result(`[{"text":"a","type":"text"},{"id":"x","input":{"n":9007199254740993},"name":"add","type":"tool_use"}]`, "toolUse")},
	} {
		t.Run(name, func(t *testing.T) {
			var plain response
			require.NoError(t, json.Unmarshal([]byte(`{"model":"m",`+c.end+`,"output":[`+c.items+`]}`), &plain))
			turn, err := plain.turn()
			require.NoError(t, err)
			result := turn.result()
			require.NoError(t, settled(result))
			require.Equal(t, c.want, string(mcpjson.Marshal(result)))

			stream := event(`{"type":"response.in_progress","response":{"status":"in_progress"}}`)
			var items []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(`[`+c.items+`]`), &items))
			for _, it := range items {
				stream += event(`{"type":"response.output_item.added","item":{}}`) + event(`{"type":"response.output_item.done","item":`+string(it)+`}`)
			}
			stream += event(`{"type":"response.` + plain.Status + `","response":{"model":"m",` + c.end + `}}`)
			turn, err = readResponseStream(strings.NewReader(stream))
			require.NoError(t, err)
			result = turn.result()
			require.NoError(t, settled(result))
			require.Equal(t, c.want, string(mcpjson.Marshal(result)))
		})
	}
	begun := event(`{"type":"response.created","response":{"status":"in_progress"}}`)
	for stream, want := range map[string]string{
		begun: "the answer ended before it was complete",
		begun + event(`{"type":"error","error":{"code":"x"}}`):                     "the provider reported an error in its answer",
		begun + event(`{"type":"response.failed","response":{"status":"failed"}}`): "the provider failed to answer",
		begun + event(`{"type":`): "unexpected end of JSON input",
	} {
		_, err := readResponseStream(strings.NewReader(stream))
		require.EqualError(t, err, want)
	}
}

// event is an event of a stream.
func event(data string) string { return "event: x\ndata: " + data + "\n\n" }
