package cohere

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func says(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }

func thinks(s string) dialect.Block { return dialect.Block{Type: dialect.Thinking, Text: s} }

func asks(name, arguments string) dialect.Block {
	return dialect.Block{Type: dialect.ToolUse, ID: "c", Name: name, Input: []byte(arguments)}
}

func join(a dialect.Answer) []byte { return bytes.Join(a.Chunks, nil) }

// said returns the data of a stream's events except the first and last. Each chunk must be one event named as its type.
func said(t testing.TB, a dialect.Answer) []string {
	t.Helper()
	require.True(t, a.Stream)
	var all []string
	for i, chunk := range a.Chunks {
		text, isEvent := strings.CutSuffix(string(chunk), "\n\n")
		require.True(t, isEvent && strings.Count(text, "\n") < 2, "%q", chunk)
		if i == len(a.Chunks)-1 {
			require.Equal(t, "data: [DONE]", text)
			break
		}
		name, data, _ := strings.Cut(text, "\ndata: ")
		var typed struct{ Type string }
		require.NoError(t, json.Unmarshal([]byte(data), &typed), data)
		require.Equal(t, "event: "+typed.Type, name)
		require.Equal(t, i == 0, typed.Type == "message-start")
		if i > 0 {
			all = append(all, data)
		}
	}
	return all
}

func TestStreamEvents(t *testing.T) {
	golden := codectest.Golden(t, "testdata/streams.txtar")
	for _, c := range []struct {
		name  string
		reply dialect.Reply
	}{
		{"text", dialect.Reply{Content: []dialect.Block{says("sunny, 18°C")}}},
		{"nothing", dialect.Reply{}},
		{"an empty text", dialect.Reply{Content: []dialect.Block{says("")}}},
		{"a plan and calls, late or not",
			dialect.Reply{LateUse: true, Content: []dialect.Block{says("I add"), asks("add", `{"a":2}`), asks("add", `{}`),
				says(".")}}},
		{"invalid JSON arguments", dialect.Reply{Content: []dialect.Block{asks("add", `{"a`)}}},
		{"no arguments", dialect.Reply{Content: []dialect.Block{asks("add", ``)}}},
		{"thinking", dialect.Reply{Content: []dialect.Block{thinks("hm, so"), says("so")}}},
		{"thinking before a call", dialect.Reply{Content: []dialect.Block{thinks("hm"), asks("add", `{}`)}}},
		{"an image is dropped",
			dialect.Reply{Content: []dialect.Block{{Type: dialect.Image, Data: []byte("x")}, says("so")}}},
		{"usage", dialect.Reply{Usage: &dialect.Usage{Input: 9, Output: 5, Cached: 3},
			StopReason: dialect.StopMaxTokens, Content: []dialect.Block{says("so")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, said(t, Chat.Encode(decode(t, body(user, `,"stream":true`)), &c.reply)))
		})
	}
}

func TestStreamBytes(t *testing.T) {
	a := Chat.Encode(decode(t, body(user, `,"stream":true`)),
		&dialect.Reply{Content: []dialect.Block{says("<ö>")}, Serial: 1})
	codectest.File(t, "testdata/stream.txt", join(a))
	require.Equal(t, "text/event-stream", a.Header.Get("Content-Type"))
	require.Regexp(t, "^[0-9a-f]{32}$", a.Header.Get("X-Debug-Trace-Id"))
}

func TestPlainAnswerBytes(t *testing.T) {
	use := dialect.Block{Type: dialect.ToolUse, Name: "add", Input: []byte(`{"a": 2}`)}
	a := Chat.Encode(decode(t, body(user, "")), &dialect.Reply{Serial: 1,
		Content: []dialect.Block{thinks("hm"), says("I "), says("add."), use, use}})
	codectest.File(t, "testdata/plain.json", join(a))
	require.Equal(t, 200, a.Status)
	require.False(t, a.Stream)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	again := Chat.Encode(decode(t, body(user, "")), &dialect.Reply{Serial: 2, Content: []dialect.Block{use}})
	require.NotContains(t, string(join(a)), string(join(again))[7:43], "the id of another answer")
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[dialect.StopReason]string{
		"": "COMPLETE", "endTurn": "COMPLETE", "toolUse": "TOOL_CALL", "maxTokens": "MAX_TOKENS",
		"stopSequence": "STOP_SEQUENCE", "refusal": "COMPLETE", "contentFilter": "COMPLETE", "TIMEOUT": "TIMEOUT",
	} {
		reply, err := Chat.DecodeReply(join(Chat.Encode(decode(t, body(user, "")),
			&dialect.Reply{StopReason: reason, Content: []dialect.Block{says("hi")}})))
		require.NoError(t, err)
		require.Equal(t, want, reply.FinishReason)
	}
}

func TestAReportedErrorIsAnError(t *testing.T) {
	for _, answer := range []string{
		`{"id":"a","finish_reason":"ERROR","message":{"role":"assistant"}}`,
		string(Chat.EncodeErrorEvent(nil, nil, 0, &dialect.Error{Message: "busy"})),
	} {
		_, err := Chat.DecodeReply([]byte(answer))
		require.ErrorContains(t, err, "the model reports an error")
	}
	_, err := Chat.DecodeReply([]byte(`{"id":"a","message":"invalid api token"}`))
	require.Error(t, err, "the body of a refusal is no answer")
}

// A stream has the content of the plain answer.
func FuzzStream(f *testing.F) {
	f.Add("sunny, 18°C", `{"city":"Köln"}`, "hm")
	f.Add("", "", "")
	f.Add("a\n\nevent: x\u2028", `{"a`, "\x00")
	f.Fuzz(func(t *testing.T, text, input, thought string) {
		if !utf8.ValidString(text) || !utf8.ValidString(input) || !utf8.ValidString(thought) {
			return
		}
		reply := &dialect.Reply{Content: []dialect.Block{thinks(thought), says(text), asks("add", input)}}
		streamed := Chat.Encode(decode(t, body(user, `,"stream":true`)), reply)
		said(t, streamed)
		got, err := Chat.DecodeReply(join(streamed))
		require.NoError(t, err)
		want, err := Chat.DecodeReply(join(Chat.Encode(decode(t, body(user, "")), reply)))
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.True(t, got.Complete)
		require.Equal(t, text, dialect.PlainText(got.Content))
		require.Equal(t, input, string(got.Content[len(got.Content)-1].Input))
	})
}
