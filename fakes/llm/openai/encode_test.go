package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func says(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }

func asks(name, arguments string) dialect.Block {
	return dialect.Block{Type: dialect.ToolUse, Name: name, Input: []byte(arguments)}
}

// choices returns the delta and finish reason of choices[0] in each event.
func choices(t *testing.T, a dialect.Answer) []string {
	t.Helper()
	require.True(t, a.Stream)
	var said []string
	for _, event := range a.Chunks {
		data, isData := strings.CutPrefix(string(event), "data: ")
		require.True(t, isData && strings.HasSuffix(data, "\n\n"), "%q", event)
		var c struct {
			Choices []struct {
				Delta        json.RawMessage
				FinishReason *string `json:"finish_reason"`
			}
			Usage json.RawMessage
		}
		data = strings.TrimSpace(data)
		if json.Unmarshal([]byte(data), &c) != nil {
			said = append(said, data)
			continue
		}
		if len(c.Choices) == 0 {
			said = append(said, "usage")
			continue
		}
		line := string(c.Choices[0].Delta)
		if c.Choices[0].FinishReason != nil {
			line += " " + *c.Choices[0].FinishReason
		}
		said = append(said, line)
	}
	return said
}

func TestStreamEvents(t *testing.T) {
	opening := func(id, name string) string {
		return `"tool_calls":[{"index":` + id[1:] + `,"id":"` + id + `","type":"function","function":{"name":"` + name +
			`","arguments":""}}]`
	}
	arguments := func(index, text string) string {
		return `{"tool_calls":[{"index":` + index + `,"function":{"arguments":` + string(dialect.Marshal(text)) + `}}]}`
	}
	use := func(id, input string) dialect.Block {
		b := asks("add", input)
		b.ID = id
		return b
	}
	for _, c := range []struct {
		name  string
		more  string
		reply dialect.Reply
		want  []string
	}{
		{"text", "", dialect.Reply{Content: []dialect.Block{says("sunny, 18°C")}}, []string{
			`{"role":"assistant","content":"","refusal":null}`, `{"content":"sunn"}`, `{"content":"y, 1"}`, `{"content":"8°C"}`,
			`{} stop`, `[DONE]`}},
		{"with usage", `,"stream_options":{"include_usage":true}`, dialect.Reply{Content: []dialect.Block{says("hi")}},
			[]string{
				`{"role":"assistant","content":"","refusal":null}`, `{"content":"hi"}`, `{} stop`, `usage`, `[DONE]`}},
		{"nothing", "", dialect.Reply{}, []string{`{"role":"assistant","content":"","refusal":null}`, `{} stop`, `[DONE]`}},
		{"one call opens in the first chunk", "", dialect.Reply{Content: []dialect.Block{use("c0", `{"a":2}`)}}, []string{
			`{"role":"assistant","content":null,` + opening("c0", "add") + `,"refusal":null}`, arguments("0", `{"a"`),
			arguments("0", `:2}`), `{} tool_calls`, `[DONE]`}},
		{"several calls come one by one", "", dialect.Reply{Content: []dialect.Block{use("c0", `{}`), use("c1", `{"a":2}`)}},
			[]string{
				`{"role":"assistant","content":null}`, `{` + opening("c0", "add") + `}`, arguments("0", `{}`),
				`{` + opening("c1", "add") + `}`, arguments("1", `{"a"`), arguments("1", `:2}`), `{} tool_calls`, `[DONE]`}},
		{"text comes before calls", "", dialect.Reply{Content: []dialect.Block{use("c0", `{}`), says("so")}}, []string{
			`{"role":"assistant","content":"","refusal":null}`, `{"content":"so"}`, `{` + opening("c0", "add") + `}`,
			arguments("0", `{}`), `{} tool_calls`, `[DONE]`}},
		{"late use", "", dialect.Reply{LateUse: true, Content: []dialect.Block{use("c0", `{"a":2}`)}}, []string{
			`{"role":"assistant","content":null}`, `{` + opening("c0", "add") + `}`, arguments("0", `{"a"`), `{} tool_calls`,
			arguments("0", `:2}`), `[DONE]`}},
		{"late use without arguments", `,"stream_options":{"include_usage":true}`,
			dialect.Reply{LateUse: true, Content: []dialect.Block{use("c0", ``)}}, []string{
				`{"role":"assistant","content":null}`, `{} tool_calls`, `{` + opening("c0", "add") + `}`, `usage`, `[DONE]`}},
		{"late use of nothing", "", dialect.Reply{LateUse: true, Content: []dialect.Block{says("hi")}}, []string{
			`{"role":"assistant","content":"","refusal":null}`, `{"content":"hi"}`, `{} stop`, `[DONE]`}},
		{"invalid JSON arguments", "", dialect.Reply{Content: []dialect.Block{use("c0", `{"a`)}}, []string{
			`{"role":"assistant","content":null,` + opening("c0", "add") + `,"refusal":null}`, arguments("0", `{"a`),
			`{} tool_calls`, `[DONE]`}},
		{"stop beside calls", "", dialect.Reply{StopReason: dialect.EndTurn, Content: []dialect.Block{use("c0", `{}`)}},
			[]string{
				`{"role":"assistant","content":null,` + opening("c0", "add") + `,"refusal":null}`, arguments("0", `{}`), `{} stop`,
				`[DONE]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, choices(t, Chat.Encode(decode(t, body(user, `,"stream":true`+c.more)), &c.reply)))
		})
	}
}

func TestStreamBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time is fixed
		req := decode(t, body(user, `,"stream":true,"stream_options":{"include_usage":true}`))
		a := Chat.Encode(req, &dialect.Reply{Content: []dialect.Block{says("<ö>")}, Serial: 1})
		head := `data: {"id":"chatcmpl-t3JPFBEwVBTPgGcxQ5SFjJQFQTFo3","object":"chat.completion.chunk","created":` +
			`946684800,"model":"gpt-4o",` +
			`"service_tier":"default","system_fingerprint":"fp_5c0f8d2e1b","choices":[`
		require.Equal(t, []string{
			head + `{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}` +
				`],"usage":null}` + "\n\n",
			head + `{"index":0,"delta":{"content":"<ö>"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
			head + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}` + "\n\n",
			head + `],"usage":{"prompt_tokens":37,"completion_tokens":2,"total_tokens":39,"prompt_tokens_details":{` +
				`"cached_tokens":0,"audio_tokens":0},` +
				`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,` +
				`"rejected_prediction_tokens":0}}}` + "\n\n",
			"data: [DONE]\n\n",
		}, strings.SplitAfter(string(join(a)), "\n\n")[:5])
		require.Len(t, a.Chunks, 5)
		require.Equal(t, "text/event-stream; charset=utf-8", a.Header.Get("Content-Type"))
	})
}

func join(a dialect.Answer) []byte {
	var all []byte
	for _, c := range a.Chunks {
		all = append(all, c...)
	}
	return all
}

func TestPlainAnswerBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := Chat.Encode(decode(t, body(user, "")), &dialect.Reply{Content: []dialect.Block{asks("add", `{"a": 2}`)},
			Serial: 1, Model: "gpt-4o-2024-08-06"})
		require.Equal(t, `{
  "id": "chatcmpl-t3JPFBEwVBTPgGcxQ5SFjJQFQTFo3",
  "object": "chat.completion",
  "created": 946684800,
  "model": "gpt-4o-2024-08-06",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": null,
        "tool_calls": [
          {
            "id": "call_dpPUrU7Eg2b0EBUGIAfmT6lI",
            "type": "function",
            "function": {
              "name": "add",
              "arguments": "{\"a\": 2}"
            }
          }
        ],
        "refusal": null,
        "annotations": []
      },
      "logprobs": null,
      "finish_reason": "tool_calls"
    }
  ],
  "usage": {
    "prompt_tokens": 23,
    "completion_tokens": 3,
    "total_tokens": 26,
    "prompt_tokens_details": {
      "cached_tokens": 0,
      "audio_tokens": 0
    },
    "completion_tokens_details": {
      "reasoning_tokens": 0,
      "audio_tokens": 0,
      "accepted_prediction_tokens": 0,
      "rejected_prediction_tokens": 0
    }
  },
  "service_tier": "default",
  "system_fingerprint": "fp_5c0f8d2e1b"
}
`, string(join(a)))
		require.Equal(t, http.StatusOK, a.Status)
		require.False(t, a.Stream)
		require.Equal(t, "application/json", a.Header.Get("Content-Type"))
		require.Equal(t, "2020-10-01", a.Header.Get("Openai-Version"))
		require.Equal(t, "250", a.Header.Get("Openai-Processing-Ms"))
		require.Regexp(t, "^req_[A-Za-z0-9]{32}$", a.Header.Get("X-Request-Id"))
	})
}

type spokenCall struct {
	ID, Type string
	Function struct{ Name, Arguments string }
}

// spoken decodes a plain answer.
func spoken(t *testing.T, reply dialect.Reply) (content *string, calls []spokenCall, finish string) {
	t.Helper()
	var got struct {
		Choices []struct {
			Message struct {
				Content *string
				Calls   []spokenCall `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	require.NoError(t, json.Unmarshal(join(Chat.Encode(decode(t, body(user, "")), &reply)), &got))
	require.Len(t, got.Choices, 1)
	return got.Choices[0].Message.Content, got.Choices[0].Message.Calls, got.Choices[0].Finish
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[dialect.StopReason]string{
		"": "stop", "endTurn": "stop", "toolUse": "tool_calls", "maxTokens": "length", "stopSequence": "stop",
		"content_filter": "content_filter",
	} {
		_, _, finish := spoken(t, dialect.Reply{StopReason: reason, Content: []dialect.Block{says("hi")}})
		require.Equal(t, want, finish)
	}
	_, _, finish := spoken(t, dialect.Reply{Content: []dialect.Block{asks("add", "{}")}})
	require.Equal(t, "tool_calls", finish)
}

func TestContentIsNullOnlyBesideToolCalls(t *testing.T) {
	content, _, _ := spoken(t, dialect.Reply{})
	require.Equal(t, "", *content)
	content, _, _ = spoken(t, dialect.Reply{Content: []dialect.Block{asks("add", "{}")}})
	require.Nil(t, content)
	content, calls, _ := spoken(t, dialect.Reply{Content: []dialect.Block{says("a"), asks("add", ""), says("b")}})
	require.Equal(t, "ab", *content)
	require.Equal(t, "", calls[0].Function.Arguments)
}

func TestIDsAreUniqueAndReproducible(t *testing.T) {
	seen := map[string]bool{}
	for serial := range int64(50) {
		reply := dialect.Reply{Serial: serial, Content: []dialect.Block{asks("add", ""), asks("add", ""),
			{Type: dialect.ToolUse, ID: "mine", Name: "add"}}}
		_, calls, _ := spoken(t, reply)
		_, again, _ := spoken(t, reply)
		require.Equal(t, calls, again)
		require.Equal(t, "mine", calls[2].ID)
		for _, c := range calls[:2] {
			require.Regexp(t, "^call_[A-Za-z0-9]{24}$", c.ID)
			require.False(t, seen[c.ID], c.ID)
			seen[c.ID] = true
		}
	}
}
