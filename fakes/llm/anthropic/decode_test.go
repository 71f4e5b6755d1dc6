package anthropic

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
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
	codectest.Messages(t, Messages, "testdata/messages.txtar", "")
}

func TestDecodeReadsToolChoices(t *testing.T) {
	for given, want := range map[string]string{
		`{"type":"auto"}`: "auto", `{"type":"none"}`: "none", `{"type":"any"}`: "required",
		`{"type":"tool","name":"add"}`: "tool:add",
		`{}`:                           "", `{"type":"required"}`: "required",
	} {
		require.Equal(t, want, decode(t, body(user, `,"tool_choice":`+given)).ToolChoice, given)
	}
}

// A decoded request can be checked and answered completely.
func FuzzDecode(f *testing.F) {
	codectest.Fuzz(f, Messages, keyed(), "anthropic", []string{
		body(user+`,`+uses+`,{"role":"user","content":[`+result1+`,`+result2+`]}`,
			`,"tools":[`+add+`],"tool_choice":{"type":"auto"},"stream":true,"system":"s"`),
		body(`{"role":"user","content":[`+image+`,`+document+`]},{"role":"assistant","content":[`+thinking+`,`+redacted+`]}`,
			`,"stop_sequences":["x"],"thinking":{"type":"enabled"}`),
		body(`null,[],{"role":1},{"content":[null]},{"content":[{"type":"tool_result","content":[{}]}]}`,
			`,"tools":[null],"tool_choice":{}`),
		`null`, `{}`, `[`, ``,
	}, 400)
}
