package gemini

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func says(s string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s} }

func asks(name, arguments string) dialect.Block {
	return dialect.Block{Type: dialect.ToolUse, Name: name, Input: []byte(arguments)}
}

func join(a dialect.Answer) []byte {
	var all []byte
	for _, c := range a.Chunks {
		all = append(all, c...)
	}
	return all
}

// chunks returns the responses in an answer of any form.
func chunks(t testing.TB, a dialect.Answer) []string {
	t.Helper()
	text := string(join(a))
	if a.Header.Get("Content-Type") == "text/event-stream" {
		require.True(t, strings.HasSuffix(text, "\r\n\r\n"))
		var all []string
		for _, event := range strings.Split(strings.TrimSuffix(text, "\r\n\r\n"), "\r\n\r\n") {
			data, isData := strings.CutPrefix(event, "data: ")
			require.True(t, isData && !strings.ContainsAny(data, "\r\n"), "%q", event)
			all = append(all, data)
		}
		return all
	}
	if !a.Stream {
		return []string{text}
	}
	var items []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &items), text)
	var all []string
	for _, item := range items {
		all = append(all, string(item))
	}
	return all
}

// said returns each chunk's parts, finish reason and message.
func said(t testing.TB, a dialect.Answer) []string {
	t.Helper()
	var all []string
	for _, chunk := range chunks(t, a) {
		var r struct {
			Candidates []struct {
				Content       struct{ Parts json.RawMessage }
				FinishReason  string
				FinishMessage string
			}
			PromptFeedback json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(chunk), &r), chunk)
		if r.Candidates == nil {
			all = append(all, string(jsonvalue.Marshal(r.PromptFeedback)))
			continue
		}
		var line strings.Builder
		if parts := r.Candidates[0].Content.Parts; parts != nil {
			line.Write(jsonvalue.Marshal(parts))
		}
		line.WriteString(" " + r.Candidates[0].FinishReason)
		if r.Candidates[0].FinishMessage != "" {
			line.WriteString(" " + r.Candidates[0].FinishMessage)
		}
		all = append(all, strings.TrimSpace(line.String()))
	}
	return all
}

func TestStreamChunksByGeneration(t *testing.T) {
	const (
		old   = "/v1beta/models/gemini-2.0-flash:streamGenerateContent"
		third = pro + streamGenerate
	)
	golden := codectest.Golden(t, "testdata/streams.txtar")
	use := func(id, name, input, signature string) dialect.Block {
		b := asks(name, input)
		b.ID, b.Signature = id, signature
		return b
	}
	for _, c := range []struct {
		name, to string
		reply    dialect.Reply
	}{
		{"text", old, dialect.Reply{Content: []dialect.Block{says("sunny, 18°C")}}},
		{"text of the third", third, dialect.Reply{Content: []dialect.Block{says("sunny")}}},
		{"nothing", old, dialect.Reply{}},
		{"nothing of the third", third, dialect.Reply{}},
		{"calls", old, dialect.Reply{Content: []dialect.Block{asks("a", `{"x":1}`), asks("b", `{}`)}}},
		{"calls of 2.5 carry a signature", flash + streamGenerate,
			dialect.Reply{Content: []dialect.Block{use("", "a", `{"x":1}`, "c2ln"), asks("b", ``)}}},
		{"calls of the third have ids and chunks of their own", third,
			dialect.Reply{Content: []dialect.Block{use("c1", "a", `{"x":1}`, "c2ln"), use("c2", "b", `{}`, "")}}},
		{"text and calls keep their order", old,
			dialect.Reply{Content: []dialect.Block{asks("b", `{}`), says("so"), asks("a", `{"x":1}`)}}},
		{"thoughts", old, dialect.Reply{Content: []dialect.Block{{Type: dialect.Thinking, Text: "hm", Signature: "c2ln"},
			says("so")}}},
		{"late use", old, dialect.Reply{LateUse: true, Content: []dialect.Block{asks("a", `{"x":1}`), asks("b", `{}`)}}},
		{"late use of one", old, dialect.Reply{LateUse: true, Content: []dialect.Block{asks("b", `{}`)}}},
		{"late use of the third", third,
			dialect.Reply{LateUse: true, Content: []dialect.Block{use("c1", "b", `{}`, "c2ln")}}},
		{"late use of nothing", old, dialect.Reply{LateUse: true, Content: []dialect.Block{says("so")}}},
		{"truncated", old, dialect.Reply{StopReason: dialect.StopMaxTokens, Content: []dialect.Block{says("so")}}},
		{"invalid JSON arguments", old, dialect.Reply{Content: []dialect.Block{says("so"), asks("a", `{"x`)}}},
		{"arguments that are junk, of the third", third, dialect.Reply{Content: []dialect.Block{asks("a", `[]`)}}},
		{"filtered", old, dialect.Reply{StopReason: dialect.StopContentFilter, Content: []dialect.Block{says("so")}}},
		{"a prompt that is filtered", old, dialect.Reply{StopReason: dialect.StopContentFilter}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sse := GenerateContent.Encode(decode(t, c.to+"?alt=sse", body(user, "")), &c.reply)
			got := said(t, sse)
			for i := range got { // events have spaces after colons
				got[i] = strings.ReplaceAll(got[i], `": `, `":`)
			}
			golden(t, c.name, got)
			require.Len(t, sse.Chunks, len(got))
			require.Equal(t, "text/event-stream", sse.Header.Get("Content-Type"))

			array := GenerateContent.Encode(decode(t, c.to, body(user, "")), &c.reply)
			require.Equal(t, got, said(t, array))
			require.Len(t, array.Chunks, len(got))
			require.True(t, array.Stream)
			require.Equal(t, "application/json; charset=UTF-8", array.Header.Get("Content-Type"))
		})
	}
}

func TestStreamBytes(t *testing.T) {
	content := &dialect.Reply{Content: []dialect.Block{says("<ö>: x")}, Serial: 1, Model: "gemini-2.5-flash-001"}
	sse := GenerateContent.Encode(decode(t, flash+streamGenerate+"?alt=sse", body(user, "")), content)
	codectest.File(t, "testdata/stream.txt", join(sse))

	array := GenerateContent.Encode(decode(t, flash+streamGenerate, body(user, "")), content)
	codectest.File(t, "testdata/array.json", join(array))
	require.True(t, strings.HasPrefix(string(array.Chunks[1]), ",\r\n{\n"))
}

func TestPlainAnswerBytes(t *testing.T) {
	a := GenerateContent.Encode(decode(t, pro+generate, body(user, "")),
		&dialect.Reply{Content: []dialect.Block{asks("add", `{"a": 2}`), asks("now", `{ }`)}, Serial: 1})
	codectest.File(t, "testdata/plain.json", join(a))
	require.Equal(t, http.StatusOK, a.Status)
	require.False(t, a.Stream)
	require.Equal(t, "application/json; charset=UTF-8", a.Header.Get("Content-Type"))
	require.Equal(t, "scaffolding on HTTPServer2", a.Header.Get("Server"))
}

func TestPlainAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		reply dialect.Reply
		want  string
	}{
		"nothing": {dialect.Reply{}, "STOP"},
		"a refusal": {dialect.Reply{StopReason: dialect.StopRefusal, Content: []dialect.Block{says("no")}},
			`[{"text":"no"}] PROHIBITED_CONTENT`},
		"an end": {dialect.Reply{StopReason: dialect.EndTurn, Content: []dialect.Block{asks("b", "")}},
			`[{"functionCall":{"name":"b","args":{}}}] STOP Model generated function call(s).`},
		"a stop sequence": {dialect.Reply{StopReason: dialect.StopStopSequence, Content: []dialect.Block{says("so")}},
			`[{"text":"so"}] STOP`},
		"another word of the API": {dialect.Reply{StopReason: "UNEXPECTED_TOOL_CALL"}, "UNEXPECTED_TOOL_CALL"},
		"a blocked prompt": {dialect.Reply{StopReason: dialect.StopContentFilter},
			`{"blockReason":"PROHIBITED_CONTENT"}`},
	} {
		t.Run(name, func(t *testing.T) {
			req := decode(t, "/v1beta/models/gemini-2.0-flash:"+generate, body(user, ""))
			got := said(t, GenerateContent.Encode(req, &c.reply))
			require.Equal(t, []string{c.want}, got)
		})
	}
	filtered := join(GenerateContent.Encode(decode(t, flash+generate, body(user, "")),
		&dialect.Reply{StopReason: dialect.StopContentFilter, Content: []dialect.Block{says("so")}}))
	require.Contains(t, string(filtered), `"blocked": true`)
}

// generateResponse is a GenerateContentResponse.
type generateResponse struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text             *string
				Thought          bool
				FunctionCall     *wireCall
				ThoughtSignature string
			}
		}
		FinishReason, FinishMessage string
	}
	ModelVersion string
}

type wireCall struct {
	Name, ID string
	Args     json.RawMessage
}

func TestGeneration3HasGeneratedIDs(t *testing.T) {
	ids := map[string]bool{}
	for serial := range int64(20) {
		var got generateResponse
		require.NoError(t, json.Unmarshal(join(GenerateContent.Encode(decode(t, pro+generate, body(user, "")),
			&dialect.Reply{Serial: serial, Content: []dialect.Block{asks("a", "{}"), asks("a", "{}")}})), &got))
		for _, p := range got.Candidates[0].Content.Parts {
			require.Regexp(t, "^[a-z0-9]{8}$", p.FunctionCall.ID)
			ids[p.FunctionCall.ID] = true
		}
	}
	require.Len(t, ids, 40)
	for name, want := range map[string]int{"gemini-2.5-pro": 2, "gemini-3-pro-preview": 3, "gemini-3.1-flash": 3,
		"gemini-10-pro": 10, "gemini-1.5-pro": 2, "learnlm": 2,
		"gemini-99999999999999999999": 2} {
		require.Equal(t, want, generation(name), name)
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("hi <ö>: \"x\"", `{"a":1}`, "", uint8(0))
	f.Add("", `{"a`, "MALFORMED", uint8(3))
	f.Add("x\xff", `[]`, "contentFilter", uint8(5))
	f.Add("a", `null`, "toolUse", uint8(15))
	f.Fuzz(func(t *testing.T, text, input, reason string, form uint8) {
		to := flash
		if form&1 != 0 {
			to = pro
		}
		reply := &dialect.Reply{StopReason: dialect.StopReason(reason), LateUse: form&2 != 0,
			Content: []dialect.Block{says(text), asks("a", input), asks("b", "{}")}}
		var want string
		for _, p := range newCompletion(decode(t, to+generate, body(user, "")), reply).parts {
			if want += p.text; p.call != nil {
				want += " " + p.call.name
			}
		}
		for _, end := range []string{generate, streamGenerate, streamGenerate + "?alt=sse"} {
			var got string
			for _, chunk := range chunks(t, GenerateContent.Encode(decode(t, to+end, body(user, "")), reply)) {
				var r generateResponse
				require.NoError(t, json.Unmarshal([]byte(chunk), &r), chunk)
				for _, c := range r.Candidates {
					for _, p := range c.Content.Parts {
						if p.Text != nil {
							got += *p.Text
						} else {
							got += " " + p.FunctionCall.Name
						}
					}
				}
			}
			if utf8.ValidString(text) { // JSON cannot hold other text
				require.Equal(t, want, got, end)
			}
		}
	})
}
