package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
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
	golden := codectest.Golden(t, "testdata/chat_streams.txtar")
	use := func(id, input string) dialect.Block {
		b := asks("add", input)
		b.ID = id
		return b
	}
	for _, c := range []struct {
		name  string
		more  string
		reply dialect.Reply
	}{
		{"text", "", dialect.Reply{Content: []dialect.Block{says("sunny, 18°C")}}},
		{"with usage", `,"stream_options":{"include_usage":true}`, dialect.Reply{Content: []dialect.Block{says("hi")}}},
		{"nothing", "", dialect.Reply{}},
		{"one call opens in the first chunk", "", dialect.Reply{Content: []dialect.Block{use("c0", `{"a":2}`)}}},
		{"several calls come one by one", "", dialect.Reply{Content: []dialect.Block{use("c0", `{}`), use("c1", `{"a":2}`)}}},
		{"text comes before calls", "", dialect.Reply{Content: []dialect.Block{use("c0", `{}`), says("so")}}},
		{"late use", "", dialect.Reply{LateUse: true, Content: []dialect.Block{use("c0", `{"a":2}`)}}},
		{"late use without arguments", `,"stream_options":{"include_usage":true}`,
			dialect.Reply{LateUse: true, Content: []dialect.Block{use("c0", ``)}}},
		{"late use of nothing", "", dialect.Reply{LateUse: true, Content: []dialect.Block{says("hi")}}},
		{"interleaved calls, each with its name", "", dialect.Reply{Stream: dialect.Interleaved | dialect.RepeatedNames,
			Content: []dialect.Block{use("c0", `{"a":2}`), use("c1", `{}`)}}},
		{"text beside the finish reason", "", dialect.Reply{Stream: dialect.EndBesideFinish,
			Content: []dialect.Block{says("hi there")}}},
		{"calls beside the finish reason", "", dialect.Reply{Stream: dialect.EndBesideFinish,
			Content: []dialect.Block{says("hi"), use("c0", `{"a":2}`), use("c1", `{}`)}}},
		{"invalid JSON arguments", "", dialect.Reply{Content: []dialect.Block{use("c0", `{"a`)}}},
		{"stop beside calls", "", dialect.Reply{StopReason: dialect.EndTurn, Content: []dialect.Block{use("c0", `{}`)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, choices(t, Chat.Encode(decode(t, body(user, `,"stream":true`+c.more)), &c.reply)))
		})
	}
}

func TestStreamBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time is fixed
		req := decode(t, body(user, `,"stream":true,"stream_options":{"include_usage":true}`))
		a := Chat.Encode(req, &dialect.Reply{Content: []dialect.Block{says("<ö>")}, Serial: 1})
		codectest.File(t, "testdata/chat_stream.txt", join(a))
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
		codectest.File(t, "testdata/chat_plain.json", join(a))
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
