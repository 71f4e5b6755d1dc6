package anthropic

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/traffic"
)

// keyed returns the headers of a valid request.
func keyed() http.Header {
	return http.Header{"X-Api-Key": {"sk"}, "Anthropic-Version": {"2023-06-01"}}
}

func decode(t testing.TB, text string) *dialect.Request {
	t.Helper()
	req, err := Messages.Decode(&http.Request{Header: keyed()}, []byte(text))
	require.Nil(t, err)
	require.NotNil(t, req.Decoded)
	req.Decoded = nil // Check and Encode must work without it
	return req
}

func TestDecodeReadsEveryMember(t *testing.T) {
	text := body(user, `,"temperature":0.5,"stop_sequences":["a","b"],"stream":true,"tool_choice":{"type":"any",
	"disable_parallel_tool_use":true},
		"system":[{"type":"text","text":"be brief"},{"type":"text","text":"be kind","cache_control":{"type":"ephemeral"}}],
		"tools":[`+add+`,{"type":"web_search_20250305","name":"web_search"}]`)
	maxTokens, temperature := int64(100), 0.5
	require.Equal(t, &dialect.Request{
		Dialect: "anthropic", Model: "claude-x", System: "be brief\n\nbe kind",
		Messages: []dialect.Message{{
			Role: dialect.User, Path: "messages[0]",
			Content: []dialect.Block{{Type: dialect.Text, Text: "hi", Path: "messages[0].content"}},
		}},
		Tools: []dialect.Tool{
			{Name: "add", Description: "adds", InputSchema: []byte(`{"type":"object"}`), Path: "tools[0]"},
			{Name: "web_search", Path: "tools[1]"},
		},
		ToolChoice: "required", MaxTokens: &maxTokens, Temperature: &temperature, StopSequences: []string{"a", "b"},
		Stream: true,
		Body:   []byte(text), Header: keyed(),
	}, decode(t, text))
	require.Equal(t, "be brief", decode(t, body(user, `,"system":"be brief"`)).System)
	later := decode(t, body(user+`,`+system+`,{"role":"assistant","content":"hm"},`+user, `,"system":"be brief"`))
	require.Equal(t, "be brief\n\nbe kind", later.System, "also what is said in the middle of the conversation")
	require.Len(t, later.Messages, 3)
}

func TestDecodeReadsMessages(t *testing.T) {
	says := func(s, path string) dialect.Block { return dialect.Block{Type: dialect.Text, Text: s, Path: path} }
	text := func(s, path string) dialect.Block {
		return dialect.Block{Type: dialect.Text, Text: s, Raw: []byte(`{"type":"text","text":"` + s + `"}`), Path: path}
	}
	for _, c := range []struct {
		name, messages string
		want           []dialect.Message
	}{
		{"tool uses and results", uses + `,{"role":"user","content":[` + result1 + `,` + result2 + `]}`, []dialect.Message{
			{Role: dialect.Assistant, Path: "messages[0]", Content: []dialect.Block{
				{Type: dialect.ToolUse, ID: "u1", Name: "add", Input: []byte(`{"a":1}`), Raw: []byte(use1),
					Path: "messages[0].content[0]"},
				{Type: dialect.ToolUse, ID: "u2", Name: "add", Input: []byte(`{}`), Raw: []byte(use2),
					Path: "messages[0].content[1]"},
			}},
			{Role: dialect.User, Path: "messages[1]", Content: []dialect.Block{
				{Type: dialect.ToolResult, ID: "u1", Content: []dialect.Block{says("1", "messages[1].content[0].content")},
					Raw: []byte(result1), Path: "messages[1].content[0]"},
				{Type: dialect.ToolResult, ID: "u2", IsError: true,
					Content: []dialect.Block{text("2", "messages[1].content[1].content[0]")}, Raw: []byte(result2),
					Path: "messages[1].content[1]"},
			}},
		}},
		{"messages of one role are one turn", user + `,{"role":"user","content":[{"type":"text","text":"and"}]},` + uses +
			`,{"role":"assistant","content":"so"}`, []dialect.Message{
			{Role: dialect.User, Path: "messages[0]", Content: []dialect.Block{says("hi", "messages[0].content"),
				text("and", "messages[1].content[0]")}},
			{Role: dialect.Assistant, Path: "messages[2]", Content: []dialect.Block{
				{Type: dialect.ToolUse, ID: "u1", Name: "add", Input: []byte(`{"a":1}`), Raw: []byte(use1),
					Path: "messages[2].content[0]"},
				{Type: dialect.ToolUse, ID: "u2", Name: "add", Input: []byte(`{}`), Raw: []byte(use2),
					Path: "messages[2].content[1]"},
				says("so", "messages[3].content"),
			}},
		}},
		{"media", `{"role":"user","content":[` + image +
			`,{"type":"image","source":{"type":"url","url":"https://a/b"}},{"type":"image","source":{"type":"file","file_id":` +
			`"f1"}},` + document + `]}`, []dialect.Message{
			{Role: dialect.User, Path: "messages[0]", Content: []dialect.Block{
				{Type: dialect.Image, Data: []byte("GIF89a"), MimeType: "image/gif", Raw: []byte(image),
					Path: "messages[0].content[0]"},
				{Type: dialect.Image, Text: "https://a/b",
					Raw: []byte(`{"type":"image","source":{"type":"url","url":"https://a/b"}}`), Path: "messages[0].content[1]"},
				{Type: dialect.Image, Text: "f1", Raw: []byte(`{"type":"image","source":{"type":"file","file_id":"f1"}}`),
					Path: "messages[0].content[2]"},
				{Type: dialect.Other, Raw: []byte(document), Path: "messages[0].content[3]"},
			}}}},
		{"media in a result", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":[` + image +
			`,{"type":"tool_result","content":[]}]}]}`, []dialect.Message{
			{Role: dialect.User, Path: "messages[0]", Content: []dialect.Block{
				{Type: dialect.ToolResult, ID: "u1",
					Raw: []byte(`{"type":"tool_result","tool_use_id":"u1","content":[` + image +
						`,{"type":"tool_result","content":[]}]}`), Path: "messages[0].content[0]",
					Content: []dialect.Block{
						{Type: dialect.Image, Data: []byte("GIF89a"), MimeType: "image/gif", Raw: []byte(image),
							Path: "messages[0].content[0].content[0]"},
						{Type: dialect.ToolResult, Raw: []byte(`{"type":"tool_result","content":[]}`),
							Path: "messages[0].content[0].content[1]"},
					}},
			}}}},
		{"thinking", `{"role":"assistant","content":[` + thinking + `,` + redacted + `]}`, []dialect.Message{
			{Role: dialect.Assistant, Path: "messages[0]", Content: []dialect.Block{
				{Type: dialect.Thinking, Text: "hm", Signature: "Er==", Raw: []byte(thinking), Path: "messages[0].content[0]"},
				{Type: dialect.Other, Raw: []byte(redacted), Path: "messages[0].content[1]"},
			}}}},
		{"no content", `{"role":"user"},{"role":"assistant","content":null},{"role":"user","content":[]}`, []dialect.Message{
			{Role: dialect.User, Path: "messages[0]"}, {Role: dialect.Assistant, Path: "messages[1]"},
			{Role: dialect.User, Path: "messages[2]"}}},
		{"an empty last assistant message", user + `,{"role":"assistant","content":""}`, []dialect.Message{
			{Role: dialect.User, Path: "messages[0]", Content: []dialect.Block{says("hi", "messages[0].content")}}}},
		{"an unknown role, and one under a name in another case",
			`{"role":"human","content":"hi"},{"Role":"user","content":"hi"}`, []dialect.Message{
				{Role: "human", Path: "messages[0]", Content: []dialect.Block{says("hi", "messages[0].content")}},
				{Path: "messages[1]", Content: []dialect.Block{says("hi", "messages[1].content")}}}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, decode(t, body(c.messages, "")).Messages) })
	}
}

func TestDecodeReadsToolChoices(t *testing.T) {
	for given, want := range map[string]string{
		`{"type":"auto"}`: "auto", `{"type":"none"}`: "none", `{"type":"any"}`: "required",
		`{"type":"tool","name":"add"}`: "tool:add",
		`null`:                         "", `{}`: "", `{"type":"required"}`: "required",
	} {
		require.Equal(t, want, decode(t, body(user, `,"tool_choice":`+given)).ToolChoice, given)
	}
}

// A decoded request can be checked and answered completely.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		body(user+`,`+uses+`,{"role":"user","content":[`+result1+`,`+result2+`]}`,
			`,"tools":[`+add+`],"tool_choice":{"type":"auto"},"stream":true,"system":"s"`),
		body(`{"role":"user","content":[`+image+`,`+document+`]},{"role":"assistant","content":[`+thinking+`,`+redacted+`]}`,
			`,"stop_sequences":["x"],"thinking":{"type":"enabled"}`),
		body(`null,[],{"role":1},{"content":[null]},{"content":[{"type":"tool_result","content":[{}]}]}`,
			`,"tools":[null],"tool_choice":{}`),
		`null`, `{}`, `[`, ``,
	} {
		f.Add([]byte(seed))
	}
	for _, x := range traffic.Read(f, "anthropic") {
		f.Add([]byte(x.Request))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		req, err := Messages.Decode(&http.Request{Header: keyed()}, text)
		if (req == nil) == (err == nil) {
			t.Fatalf("want a request or an error, got %v and %v", req, err)
		}
		if err != nil {
			return
		}
		if err := Messages.Check(req); err != nil && (err.Status != 400 || err.Message == "") {
			t.Fatalf("a refusal that says nothing: %+v", err)
		}
		reply := &dialect.Reply{Content: []dialect.Block{{Type: dialect.Text, Text: string(text)},
			{Type: dialect.ToolUse, Input: text}}}
		if a := Messages.Encode(req, reply); a.Status != 200 || len(a.Chunks) == 0 {
			t.Fatalf("no answer: %+v", a)
		}
	})
}
