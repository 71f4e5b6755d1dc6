package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func says(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }

func asks(name, arguments string) dialect.Block {
	return dialect.Block{Type: dialect.ToolUse, ID: "c-" + name, Name: name, Input: []byte(arguments)}
}

func join(a dialect.Answer) []byte { return bytes.Join(a.Chunks, nil) }

// messages returns each line's message and done reason.
func messages(t *testing.T, a dialect.Answer) []string {
	t.Helper()
	require.True(t, a.Stream)
	require.Equal(t, "application/x-ndjson", a.Header.Get("Content-Type"))
	var said []string
	for _, chunk := range a.Chunks {
		text, isLine := strings.CutSuffix(string(chunk), "\n")
		require.True(t, isLine && !strings.Contains(text, "\n"), "%q", chunk)
		var l struct {
			Message json.RawMessage
			Done    bool
			Reason  string `json:"done_reason"`
		}
		require.NoError(t, json.Unmarshal(chunk, &l))
		line := strings.Replace(string(l.Message), `"role":"assistant",`, "", 1)
		if l.Done {
			line += " " + l.Reason
		}
		said = append(said, line)
	}
	return said
}

func TestStreamEvents(t *testing.T) {
	golden := codectest.Golden(t, "testdata/streams.txtar")
	for _, c := range []struct {
		name, model string
		reply       dialect.Reply
	}{
		{"text", "m", dialect.Reply{Content: []dialect.Block{says("sunny, 18°C")}}},
		{"nothing", "m", dialect.Reply{}},
		{"thinking", "m", dialect.Reply{Content: []dialect.Block{{Type: dialect.Thinking, Text: "hm, so"}, says("hi")}}},
		{"each call on a line of its own", "m",
			dialect.Reply{Content: []dialect.Block{asks("add", `{"a": 2}`), asks("sub", ``)}}},
		{"in the order of the reply", "m", dialect.Reply{Content: []dialect.Block{asks("add", `{}`), says("so")}}},
		{"without ids", "m:no-ids", dialect.Reply{Content: []dialect.Block{asks("add", `{}`), asks("sub", `{}`)}}},
		{"without ids by the reply's model", "m",
			dialect.Reply{Model: "x:no-ids", Content: []dialect.Block{asks("add", `{}`)}}},
		{"a late use is on the last line", "m",
			dialect.Reply{LateUse: true, Content: []dialect.Block{asks("add", `{}`), asks("sub", `{}`)}}},
		{"late text is dropped", "m", dialect.Reply{LateUse: true, Content: []dialect.Block{asks("add", `{}`), says("so")}}},
		{"late use of nothing", "m", dialect.Reply{LateUse: true}},
		{"invalid JSON arguments", "m", dialect.Reply{Content: []dialect.Block{asks("a", `{"`)}}},
		{"arguments that are an array", "m", dialect.Reply{Content: []dialect.Block{asks("a", `[]`), asks("add", `{}`)}}},
		{"big integers stay", "m", dialect.Reply{Content: []dialect.Block{asks("add", `{"n":9007199254740993}`)}}},
		{"truncated", "m", dialect.Reply{StopReason: dialect.StopMaxTokens, Content: []dialect.Block{says("hi")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := decode(t, `{"model":"`+c.model+`","messages":[`+user+`]}`)
			golden(t, c.name, messages(t, Chat.Encode(req, &c.reply)))
		})
	}
}

func TestStreamBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time is fixed
		a := Chat.Encode(decode(t, body(user, "")), &dialect.Reply{Content: []dialect.Block{says("<ö>")}})
		codectest.File(t, "testdata/stream.ndjson", join(a))
		require.Len(t, a.Chunks, 2)
	})
}

func TestPlainAnswerBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		use := dialect.Block{Type: dialect.ToolUse, Name: "add", Input: []byte(`{"a": 2}`)}
		a := Chat.Encode(decode(t, body(user, `,"stream":false`)), &dialect.Reply{LateUse: true, Model: "qwen3:8b", Serial: 1,
			Content: []dialect.Block{{Type: dialect.Thinking, Text: "hm, so"}, says("one, "), says("two"), use, use}})
		codectest.File(t, "testdata/plain.json", join(a))
		require.Equal(t, 200, a.Status)
		require.False(t, a.Stream)
		require.Equal(t, contentJSON, a.Header.Get("Content-Type"))
	})
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[dialect.StopReason]string{
		"": "stop", "endTurn": "stop", "toolUse": "stop", "maxTokens": "length", "stopSequence": "stop", "refusal": "stop",
		"contentFilter": "stop", "unload": "unload",
	} {
		var got struct {
			Reason string `json:"done_reason"`
		}
		a := Chat.Encode(decode(t, body(user, `,"stream":false`)),
			&dialect.Reply{StopReason: reason, Content: []dialect.Block{says("hi")}})
		require.NoError(t, json.Unmarshal(join(a), &got))
		require.Equal(t, want, got.Reason)
	}
}

func TestRequestWithoutMessagesLoadsOrUnloadsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for more, want := range map[string]string{"": "load", `,"keep_alive":"5m"`: "load", `,"keep_alive":0`: "unload",
			`,"keep_alive":"0s"`: "unload"} {
			a := Chat.Encode(decode(t, `{"model":"m"`+more+`}`), &dialect.Reply{Content: []dialect.Block{says("hi")}})
			require.Equal(t, `{"model":"m","created_at":"2000-01-01T00:00:00Z","message":{"role":"assistant","content":""},`+
				`"done":true,"done_reason":"`+want+`"}`, string(join(a)))
			require.False(t, a.Stream)
		}
	})
}

func TestIDsAreUniqueAndReproducible(t *testing.T) {
	seen := map[string]bool{}
	for serial := range int64(50) {
		reply := &dialect.Reply{Serial: serial, Content: []dialect.Block{{Type: dialect.ToolUse}, {Type: dialect.ToolUse},
			asks("mine", "")}}
		ids := idsOf(t, reply)
		require.Equal(t, ids, idsOf(t, reply))
		require.Equal(t, "c-mine", ids[2])
		for _, id := range ids[:2] {
			require.Regexp(t, "^call_[a-z0-9]{8}$", id)
			require.False(t, seen[id], id)
			seen[id] = true
		}
	}
}

func idsOf(t *testing.T, reply *dialect.Reply) []string {
	t.Helper()
	var got struct {
		Message struct {
			Calls []struct{ ID string } `json:"tool_calls"`
		}
	}
	require.NoError(t, json.Unmarshal(join(Chat.Encode(decode(t, body(user, `,"stream":false`)), reply)), &got))
	var ids []string
	for _, c := range got.Message.Calls {
		ids = append(ids, c.ID)
	}
	return ids
}

// whole requires a complete answer: objects on lines, only the last one done.
func whole(t testing.TB, a dialect.Answer) {
	t.Helper()
	for i, chunk := range a.Chunks {
		var l struct {
			Model string
			Done  *bool
		}
		if err := json.Unmarshal(chunk, &l); err != nil || l.Done == nil || *l.Done != (i == len(a.Chunks)-1) ||
			a.Stream != (bytes.IndexByte(chunk, '\n') == len(chunk)-1) {
			t.Fatalf("chunk %d of %d is no part of an answer: %q (%v)", i, len(a.Chunks), chunk, err)
		}
	}
	if a.Status != 200 || len(a.Chunks) == 0 {
		t.Fatalf("no answer: %+v", a)
	}
}

// response is a plain answer or a line of a stream.
type response struct {
	Message    said
	Done       bool
	DoneReason string `json:"done_reason"`
}

type said struct {
	Role, Content, Thinking string
	ToolCalls               []struct {
		ID       string
		Function struct {
			Index     *int
			Name      string
			Arguments json.RawMessage
		}
	} `json:"tool_calls"`
}

// Every reply gives readable lines with all of its text.
func FuzzEncode(f *testing.F) {
	f.Add("hi <b>", "hm", "add", []byte(`{"a":1}`), true, "m")
	f.Add("", "", "", []byte(`{"`), false, "m:no-ids")
	f.Add("\xff", "\x00", "a\"b", []byte(`[1]`), true, "")
	f.Fuzz(func(t *testing.T, text, thought, name string, arguments []byte, late bool, model string) {
		req := &dialect.Request{Model: model, Stream: true, Messages: make([]dialect.Message, 1)}
		reply := &dialect.Reply{LateUse: late, Content: []dialect.Block{{Type: dialect.Thinking, Text: thought}, says(text),
			asks(name, string(arguments)), asks(name, "")}}
		streamed := Chat.Encode(req, reply)
		whole(t, streamed)
		req.Stream = false
		plain := Chat.Encode(req, reply)
		whole(t, plain)
		var all said
		for _, chunk := range streamed.Chunks {
			var r response
			if err := json.Unmarshal(chunk, &r); err != nil {
				t.Fatal(err)
			}
			all.Content += r.Message.Content
			all.Thinking += r.Message.Thinking
			all.ToolCalls = append(all.ToolCalls, r.Message.ToolCalls...)
		}
		var r response
		if err := json.Unmarshal(join(plain), &r); err != nil {
			t.Fatal(err)
		}
		r.Message.Role = ""
		if got, want := fmt.Sprint(string(marshal(all))), fmt.Sprint(string(marshal(r.Message))); got != want &&
			!strings.Contains(got, "\ufffd") {
			t.Fatalf("streamed %s, plain %s", got, want)
		}
	})
}
