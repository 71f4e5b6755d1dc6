package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

// sentAs converts messages and returns them as JSON.
func sentAs(t *testing.T, messages string) (string, error) {
	t.Helper()
	params, err := mcpjson.Object([]byte(`{"maxTokens":7,"messages":[` + messages + `]}`))
	require.NoError(t, err)
	body, err := anthropicBody(params, false)
	if err != nil {
		return "", err
	}
	return string(mcpjson.Marshal(body["messages"])), nil
}

func TestMessagesAreConvertedForAnthropic(t *testing.T) {
	const imaged = `{"type":"image","data":"R0lG","mimeType":"image/gif"}`
	const image = `{"source":{"data":"R0lG","media_type":"image/gif","type":"base64"},"type":"image"}`
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	result := func(members string) string {
		return user(`{"type":"tool_result","toolUseId":"toolu_1",` + members + `}`)
	}
	sent := func(content string) string { return `[{"content":[` + content + `],"role":"user"}]` }
	answer := func(members string) string {
		return sent(`{` + members + `"tool_use_id":"toolu_1","type":"tool_result"}`)
	}
	text := func(s string) string { return `{"text":` + s + `,"type":"text"}` }
	for name, c := range map[string]struct{ given, want string }{
		"a bare block": {`{"role":"user","content":{"type":"text","text":"hi","annotations":{}}}`, sent(text(`"hi"`))},
		"an image":     {user(imaged + `,{"type":"text","text":"what?"}`), sent(image + `,` + text(`"what?"`))},
		"a blank text": {user(`{"type":"text","text":"hi"}`) + `,{"role":"assistant","content":{"type":"text","text":" "}}`, sent(text(`"hi"`))},
		"a tool use": {`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"a","input":{"n":9007199254740993}}]}`,
			`[{"content":[{"id":"toolu_1","input":{"n":9007199254740993},"name":"a","type":"tool_use"}],"role":"assistant"}]`},
		"an id that the API does not accept": {`{"role":"assistant","content":[{"type":"tool_use","id":"a:0","name":"a","input":{}}]},` + user(`{"type":"tool_result","toolUseId":"a:0","content":[]}`),
			`[{"content":[{"id":"toolu_0ed32d3352f0cddd88b03a26","input":{},"name":"a","type":"tool_use"}],"role":"assistant"},` +
				`{"content":[{"tool_use_id":"toolu_0ed32d3352f0cddd88b03a26","type":"tool_result"}],"role":"user"}]`},
		"texts and an image":              {result(`"content":[{"type":"text","text":"a"},` + imaged + `,{"type":"text","text":""}]`), answer(`"content":[` + text(`"a"`) + `,` + image + `],`)},
		"structured content":              {result(`"content":[],"structuredContent":{"a":1}`), answer(`"content":[` + text(`"{\"a\":1}"`) + `],`)},
		"structured content besides text": {result(`"content":[{"type":"text","text":"a"}],"structuredContent":{"a":1}`), answer(`"content":[` + text(`"a"`) + `],`)},
		"nothing":                         {result(`"content":[]`), answer(``)},
		"resources": {result(`"content":[{"type":"resource","resource":{"uri":"a:b","text":"t"}},{"type":"resource_link","uri":"a:b","name":"n"}]`),
			answer(`"content":[` + text(`"a:b:\nt"`) + `,` + text(`"{\"name\":\"n\",\"type\":\"resource_link\",\"uri\":\"a:b\"}"`) + `],`)},
		"a failure":           {result(`"content":[{"type":"text","text":"a"}],"isError":true`), answer(`"content":[` + text(`"a"`) + `],"is_error":true,`)},
		"a silent failure":    {result(`"content":[],"isError":true`), answer(`"content":[` + text(`"the tool failed"`) + `],"is_error":true,`)},
		"a failure in images": {result(`"content":[` + imaged + `],"isError":true`), strings.TrimSuffix(answer(`"content":[`+text(`"(image of the tool follows)"`)+`],"is_error":true,`), `],"role":"user"}]`) + `,` + image + `],"role":"user"}]`},
		"not a failure":       {result(`"content":[],"isError":false`), answer(``)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sentAs(t, c.given)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	for given, want := range map[string]string{
		user(`{"type":"audio"}`):                                             "the model does not accept audio (code -32603)",
		result(`"content":[{"type":"audio"}]`):                               "the model does not accept audio (code -32603)",
		result(`"content":[{"type":"resource","resource":{"blob":"AA=="}}]`): "the model does not accept binary resources (code -32603)",
		`{"role":"user","content":"hi"}`:                                     "content block 0 is not an object",
	} {
		_, err := sentAs(t, given)
		require.EqualError(t, err, want)
	}
}

func TestParametersAreConvertedForAnthropic(t *testing.T) {
	const tool = `"tools":[{"name":"a","description":"d","title":"A","inputSchema":{"type":"object"}}]`
	for given, want := range map[string]string{
		`"systemPrompt":"s","temperature":0.5,"stopSequences":["x"]`: `"stop_sequences":["x"],"system":"s","temperature":0.5`,
		tool:                                   `"tools":[{"description":"d","input_schema":{"type":"object"},"name":"a"}]`,
		tool + `,"toolChoice":{}`:              `"tool_choice":{"type":"auto"},"tools":`,
		tool + `,"toolChoice":{"mode":"auto"}`: `"tool_choice":{"type":"auto"},"tools":`,
		tool + `,"toolChoice":{"mode":"required"}`:                           `"tool_choice":{"type":"any"},"tools":`,
		tool + `,"toolChoice":{"mode":"none"}`:                               `"tool_choice":{"type":"none"},"tools":`,
		`"toolChoice":{"mode":"required"}`:                                   `"model":"claude-sonnet-4-5"}`,
		`"tools":[],"toolChoice":{"mode":"none"}`:                            `"model":"claude-sonnet-4-5"}`,
		`"metadata":{"a":1},"_meta":{}`:                                      `{"max_tokens":7,"messages":[],"model":"claude-sonnet-4-5"}`,
		`"modelPreferences":{"hints":[{"name":"claude-x"},{"name":"opus"}]}`: `"model":"claude-opus-4-1"`,
	} {
		params, err := mcpjson.Object([]byte(`{"maxTokens":7,"messages":[],` + given + `}`))
		require.NoError(t, err)
		body, err := anthropicBody(params, false)
		require.NoError(t, err)
		require.Contains(t, string(mcpjson.Marshal(body)), want, given)
	}
	streamed, err := anthropicBody(map[string]any{"messages": []any{}}, true)
	require.NoError(t, err)
	require.Equal(t, true, streamed["stream"])
}

// anthropicResultOf reads an answer, a stream if it begins with an event, into a result as JSON.
func anthropicResultOf(answer string) (string, error) {
	read := readAnthropic
	if strings.HasPrefix(answer, "event: ") {
		read = readAnthropicStream
	}
	t, err := read(strings.NewReader(answer))
	if err != nil {
		return "", err
	}
	result := t.result()
	if err := settled(result); err != nil {
		return "", err
	}
	return string(mcpjson.Marshal(result)), nil
}

// settled settles the answer to a request that offers tools.
func settled(result map[string]any) error {
	return settle(map[string]any{"tools": []any{map[string]any{}}}, result)
}

// streamOf writes a stream of events with the data.
func streamOf(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		var typed struct{ Type string }
		_ = json.Unmarshal([]byte(d), &typed)
		b.WriteString("event: " + typed.Type + "\ndata: " + d + "\n\n")
	}
	return b.String()
}

func TestAnswersOfAnthropicAreRead(t *testing.T) {
	message := func(content, reason string) string {
		return `{"type":"message","model":"m","content":[` + content + `],"stop_reason":"` + reason + `"}`
	}
	const (
		thinking = `{"type":"thinking","thinking":"hm","signature":"x"}`
		use      = `{"type":"tool_use","id":"u1","name":"a","input":{"n":1}}`
		start    = `{"type":"message_start","message":{"model":"m"}}`
		ping     = `{"type":"ping"}`
		open     = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		more     = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so"}}`
		shut     = `{"type":"content_block_stop","index":0}`
		openUse  = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"u1","name":"a","input":{}}}`
		first    = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`
		second   = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`
		shutUse  = `{"type":"content_block_stop","index":1}`
		ended    = `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`
		stop     = `{"type":"message_stop"}`
		text     = `{"content":{"text":"so","type":"text"},"model":"m","role":"assistant","stopReason":"`
		uses     = `{"content":[{"text":"so","type":"text"},{"id":"u1","input":{"n":1},"name":"a","type":"tool_use"}],"model":"m","role":"assistant","stopReason":"toolUse"}`
	)
	for name, c := range map[string]struct{ answer, want, wrong string }{
		"text":                              {message(`{"type":"text","text":"so"}`, "end_turn"), text + `endTurn"}`, ""},
		"text in pieces":                    {message(thinking+`,{"type":"text","text":"s"},{"type":"text","text":"o"}`, "max_tokens"), text + `maxTokens"}`, ""},
		"a stop sequence":                   {message(`{"type":"text","text":"so"}`, "stop_sequence"), text + `stopSequence"}`, ""},
		"a refusal":                         {message(`{"type":"text","text":"so"}`, "refusal"), text + `refusal"}`, ""},
		"nothing":                           {message(``, "model_context_window_exceeded"), `{"content":{"text":"","type":"text"},"model":"m","role":"assistant","stopReason":"model_context_window_exceeded"}`, ""},
		"a use":                             {message(`{"type":"text","text":"so"},`+use, "tool_use"), uses, ""},
		"a use beside end_turn":             {message(`{"type":"text","text":"so"},`+use, "end_turn"), uses, ""},
		"arguments that are not an object":  {message(`{"type":"tool_use","id":"u1","name":"a","input":"{}"}`, "tool_use"), "", "the model gave arguments that are not a JSON object (code -32603)"},
		"an error":                          {`{"type":"error"}`, "", `expected a message, found type "error"`},
		"invalid JSON":                      {`{`, "", "unexpected EOF"},
		"a stream":                          {streamOf(start, open, ping, more, shut, openUse, first, second, shutUse, ended, stop), uses, ""},
		"blocks at once and unknown events": {streamOf(ping, start, open, openUse, `{"type":"weather"}`, second, `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}`, more, shut, shutUse, ended, stop), uses, ""},
		"a use without input":               {streamOf(start, strings.Replace(openUse, ":1", ":0", 1), shut, ended, stop), `{"content":[{"id":"u1","input":{},"name":"a","type":"tool_use"}],"model":"m","role":"assistant","stopReason":"toolUse"}`, ""},
		"half of an input":                  {streamOf(start, openUse, strings.Replace(second, "1}", "", 1), shutUse, ended, stop), "", "the model gave arguments that are not a JSON object (code -32603)"},
		"a stream without end":              {streamOf(start, open, more, shut, ended), "", "the answer ended before it was complete"},
		"a block without end":               {streamOf(start, open, more, ended, stop), "", "the answer ended before it was complete"},
		"a missing beginning":               {streamOf(open, more, shut, ended, stop), "", `expected message_start at the beginning of the stream, found "content_block_start"`},
		"one block twice":                   {streamOf(start, open, open), "", "block 0 begins twice"},
		"a delta without block":             {streamOf(start, more), "", "a delta for block 0, which is not open"},
		"a delta too late":                  {streamOf(start, open, shut, more), "", "a delta for block 0, which is not open"},
		"an error in it":                    {streamOf(start, open, `{"type":"error","error":{"type":"overloaded_error"}}`), "", "the provider reported an error in its answer"},
		"invalid JSON in it":                {"event: message_start\ndata: {\n\n", "", "unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := anthropicResultOf(c.answer)
			if c.wrong != "" {
				require.EqualError(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzAnthropicAnswers(f *testing.F) {
	f.Add(`{"type":"message","model":"m","content":[{"type":"tool_use","input":{}},{"type":"text"}],"stop_reason":"end_turn"}`)
	f.Add(streamOf(`{"type":"message_start"}`, `{"type":"content_block_start","index":-1,"content_block":{"type":"text"}}`, `{"type":"content_block_stop","index":-1}`, `{"type":"message_stop"}`))
	f.Fuzz(func(t *testing.T, answer string) {
		result, err := anthropicResultOf(answer)
		if err == nil && !json.Valid([]byte(result)) {
			t.Fatalf("invalid JSON: %s", result)
		}
	})
}
