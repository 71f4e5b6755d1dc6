package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func says(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }

func asks(name, input string) dialect.Block {
	return dialect.Block{Type: dialect.ToolUse, ID: "u", Name: name, Input: []byte(input)}
}

func join(a dialect.Answer) string {
	var all strings.Builder
	for _, c := range a.Chunks {
		all.Write(c)
	}
	return all.String()
}

// said returns the data of a stream's events except the first and last. Each chunk must be one event named as its type.
func said(t *testing.T, a dialect.Answer) []string {
	t.Helper()
	require.True(t, a.Stream)
	var all []string
	for i, chunk := range a.Chunks {
		name, data := cutEvent(t, string(chunk))
		switch i {
		case 0:
			require.Equal(t, "message_start", name)
		case len(a.Chunks) - 1:
			require.Equal(t, `{"type":"message_stop"}`, data)
		default:
			all = append(all, strings.Replace(data, `"type":"`+name+`",`, "", 1))
		}
	}
	return all
}

// cutEvent splits an event into name and data.
func cutEvent(t testing.TB, event string) (name, data string) {
	t.Helper()
	name, data, found := strings.Cut(strings.TrimSuffix(event, "\n\n"), "\ndata: ")
	require.True(t, found && strings.HasSuffix(event, "\n\n") && !strings.Contains(data, "\n"), "%q", event)
	name, found = strings.CutPrefix(name, "event: ")
	require.True(t, found, "%q", event)
	var typed struct{ Type string }
	require.NoError(t, json.Unmarshal([]byte(data), &typed), data)
	require.Equal(t, typed.Type, name)
	return name, data
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
		{"text beside calls, late or not",
			dialect.Reply{LateUse: true, Content: []dialect.Block{says("so"), asks("add", `{"a":2}`), asks("add", `{}`)}}},
		{"invalid JSON input", dialect.Reply{Content: []dialect.Block{asks("add", `{"a`)}}},
		{"no input", dialect.Reply{Content: []dialect.Block{asks("add", ``)}}},
		{"thinking", dialect.Reply{Content: []dialect.Block{{Type: dialect.Thinking, Text: "hm, so", Signature: "Er=="},
			{Type: dialect.Other, Raw: []byte(redacted)}, says("so")}}},
		{"an image is dropped",
			dialect.Reply{Content: []dialect.Block{{Type: dialect.Image, Data: []byte("x")}, says("so")}}},
		{"a stop sequence", dialect.Reply{StopReason: dialect.StopStopSequence, Content: []dialect.Block{says("so")}}},
		{"a refusal", dialect.Reply{StopReason: dialect.StopRefusal, Content: []dialect.Block{says("no")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := decode(t, body(user, `,"stream":true,"stop_sequences":["END"]`))
			golden(t, c.name, said(t, Messages.Encode(req, &c.reply)))
		})
	}
}

func TestStreamBytes(t *testing.T) {
	reply := &dialect.Reply{Content: []dialect.Block{says("<ö>")}, Serial: 1}
	codectest.File(t, "testdata/stream.txt", []byte(join(Messages.Encode(decode(t, body(user, `,"stream":true`)), reply))))
}

func TestPlainAnswerBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the time is fixed
		a := Messages.Encode(decode(t, body(user, "")),
			&dialect.Reply{Content: []dialect.Block{says("a\n"),
				{Type: dialect.ToolUse, Name: "add", Input: []byte(`{"a": 2}`)}}, Serial: 1, Model: "claude-y"})
		codectest.File(t, "testdata/plain.json", []byte(join(a)))
		require.Equal(t, http.StatusOK, a.Status)
		require.False(t, a.Stream)
		for name, want := range map[string]string{
			"Content-Type": "application/json", "Anthropic-Organization-Id": "scripted-model",
			"Anthropic-Ratelimit-Requests-Limit": "10000", "Anthropic-Ratelimit-Requests-Remaining": "9999",
			"Anthropic-Ratelimit-Requests-Reset": "2000-01-01T00:00:00Z",
			"Anthropic-Ratelimit-Tokens-Limit":   "12000000", "Anthropic-Ratelimit-Input-Tokens-Remaining": "10000000",
			"Anthropic-Ratelimit-Output-Tokens-Reset": "2000-01-01T00:00:00Z",
		} {
			require.Equal(t, want, a.Header.Get(name), name)
		}
		require.Regexp(t, "^req_01[A-Za-z0-9]{22}$", a.Header.Get("Request-Id"))
		for name := range a.Header {
			require.Equal(t, http.CanonicalHeaderKey(name), name)
		}
		streamed := Messages.Encode(decode(t, body(user, `,"stream":true`)), &dialect.Reply{Serial: 1})
		require.Equal(t, "text/event-stream; charset=utf-8", streamed.Header.Get("Content-Type"))
		require.Equal(t, "no-cache", streamed.Header.Get("Cache-Control"))
		require.Equal(t, a.Header.Get("Request-Id"), streamed.Header.Get("Request-Id"))
	})
}

// plain decodes a plain answer.
func plain(t *testing.T, reply dialect.Reply) (m struct {
	ID      string
	Content []map[string]json.RawMessage
	Reason  string          `json:"stop_reason"`
	Details json.RawMessage `json:"stop_details"`
}) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(join(Messages.Encode(decode(t, body(user, "")), &reply))), &m))
	return m
}

func TestStopReasons(t *testing.T) {
	for reason, want := range map[dialect.StopReason]string{
		"": "end_turn", "endTurn": "end_turn", "toolUse": "tool_use", "maxTokens": "max_tokens",
		"stopSequence": "stop_sequence",
		"refusal":      "refusal", "contentFilter": "refusal", "pause_turn": "pause_turn",
		"model_context_window_exceeded": "model_context_window_exceeded",
	} {
		m := plain(t, dialect.Reply{StopReason: reason, Content: []dialect.Block{says("hi")}})
		require.Equal(t, want, m.Reason)
		require.Equal(t, want == "refusal", string(m.Details) != "null", reason)
	}
	require.Equal(t, "tool_use", plain(t, dialect.Reply{Content: []dialect.Block{asks("add", "{}")}}).Reason)
}

// The provider parses the model's input; invalid JSON becomes {}.
func TestPlainToolUseInputIsValidJSON(t *testing.T) {
	for given, want := range map[string]string{`{"a":1}`: `{"a":1}`, ``: `{}`, `{"a`: `{}`, `[1]`: `[1]`} {
		require.Equal(t, want,
			string(plain(t, dialect.Reply{Content: []dialect.Block{asks("add", given)}}).Content[0]["input"]), given)
	}
}

func TestPlainAnswerBlocks(t *testing.T) {
	m := plain(t, dialect.Reply{Content: []dialect.Block{
		{Type: dialect.Thinking, Text: "hm"}, {Type: dialect.Other, Raw: []byte(redacted)},
		{Type: dialect.Other, Raw: []byte("{")}, {Type: dialect.Audio}, says("so"),
	}})
	require.Len(t, m.Content, 3)
	require.Equal(t, `"hm"`, string(m.Content[0]["thinking"]))
	require.Regexp(t, `^"Er[A-Za-z0-9]{32}=="$`, string(m.Content[0]["signature"]))
	require.Equal(t, `"xyz"`, string(m.Content[1]["data"]))
	require.Equal(t, `"so"`, string(m.Content[2]["text"]))
	require.Empty(t, plain(t, dialect.Reply{}).Content)
}

// The provider refuses an open turn that does not begin with thinking.
func TestAnAnswerBeginsWithThinkingWhereThatIsEnabled(t *testing.T) {
	const enabled = `,"thinking":{"type":"enabled","budget_tokens":1024}`
	call := asks("add", `{}`)
	thought := dialect.Block{Type: dialect.Thinking, Text: "hm", Signature: "Er=="}
	hidden := dialect.Block{Type: dialect.Other, Raw: []byte(redacted)}
	history := user + `,{"role":"assistant","content":[` + thinking +
		`,{"type":"tool_use","id":"u","name":"add","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"u"}]}`
	for name, c := range map[string]struct {
		messages, more string
		reply          []dialect.Block
		want           []string
	}{
		"a call":            {user, enabled, []dialect.Block{call}, []string{"thinking", "tool_use"}},
		"a text":            {user, enabled, []dialect.Block{says("hi")}, []string{"thinking", "text"}},
		"scripted thinking": {user, enabled, []dialect.Block{thought, call}, []string{"thinking", "tool_use"}},
		"redacted thinking": {user, enabled, []dialect.Block{hidden, call}, []string{"redacted_thinking", "tool_use"}},
		"nothing":           {user, enabled, nil, nil},
		"after results":     {history, enabled, []dialect.Block{says("hi")}, []string{"text"}},
		"adaptive":          {user, `,"thinking":{"type":"adaptive"}`, []dialect.Block{call}, []string{"tool_use"}},
		"not asked for":     {user, "", []dialect.Block{call}, []string{"tool_use"}},
	} {
		var m struct {
			Content []struct{ Type, Signature string }
		}
		req := decode(t, body(c.messages, c.more))
		require.NoError(t, json.Unmarshal([]byte(join(Messages.Encode(req, &dialect.Reply{Content: c.reply}))), &m))
		var kinds []string
		for _, b := range m.Content {
			kinds = append(kinds, b.Type)
			require.Equal(t, b.Type == "thinking", b.Signature != "", name)
		}
		require.Equal(t, c.want, kinds, name)
	}
}

func TestIDsAreUniqueAndReproducible(t *testing.T) {
	seen := map[string]bool{}
	for serial := range int64(50) {
		use := dialect.Block{Type: dialect.ToolUse, Name: "add"}
		reply := dialect.Reply{Serial: serial, Content: []dialect.Block{use, use, asks("add", "")}}
		m := plain(t, reply)
		require.Equal(t, m, plain(t, reply))
		require.Equal(t, `"u"`, string(m.Content[2]["id"]))
		require.Regexp(t, "^msg_01[A-Za-z0-9]{22}$", m.ID)
		for _, id := range []string{m.ID, string(m.Content[0]["id"]), string(m.Content[1]["id"])} {
			require.False(t, seen[id], id)
			seen[id] = true
		}
		require.Regexp(t, `^"toolu_01[A-Za-z0-9]{22}"$`, string(m.Content[0]["id"]))
	}
}

// A stream has the content of the plain answer, in complete events.
func FuzzStream(f *testing.F) {
	f.Add("sunny, 18°C", `{"city":"Köln"}`, "hm")
	f.Add("", "", "")
	f.Add("a\n\nevent: x\u2028", `{"a`, "\x00")
	f.Fuzz(func(t *testing.T, text, input, thought string) {
		reply := &dialect.Reply{Content: []dialect.Block{{Type: dialect.Thinking, Text: thought}, says(text),
			asks("add", input)}}
		req := decode(t, body(user, `,"stream":true`))
		texts := map[string]string{}
		for i, chunk := range Messages.Encode(req, reply).Chunks {
			name, data := cutEvent(t, string(chunk))
			if (i == 0) != (name == "message_start") {
				t.Fatalf("event %d is %s", i, name)
			}
			var d struct{ Delta map[string]json.RawMessage }
			if err := json.Unmarshal([]byte(data), &d); err != nil {
				t.Fatal(err)
			}
			for member, raw := range d.Delta {
				var fragment string
				_ = json.Unmarshal(raw, &fragment) // null for a missing stop reason
				texts[member] += fragment
			}
		}
		want := map[string]string{"text": text, "partial_json": input, "thinking": thought}
		if input == "{}" {
			want["partial_json"] = ""
		}
		for member, s := range want {
			if got := texts[member]; got != s && utf8.ValidString(s) {
				t.Fatalf("%s: got %q, expected %q", member, got, s)
			}
		}
	})
}
