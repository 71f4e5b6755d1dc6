package openai

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

const (
	userItem = `{"role":"user","content":"hi"}`
	itemA    = `{"type":"function_call","id":"fc_a","call_id":"a","name":"add","arguments":"{}"}`
	outputA  = `{"type":"function_call_output","call_id":"a","output":"1"}`
	thought  = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":` +
		`"sealed"}`
	flatAdd = `{"type":"function","name":"add","parameters":{"type":"object","properties":{}}}`
)

// input returns a request with the items and more members.
func input(items, more string) string {
	return `{"model":"gpt-4o","input":[` + items + `]` + more + `}`
}

func decodeResponses(t testing.TB, text string) *dialect.Request {
	t.Helper()
	req, err := Responses.Decode(&http.Request{Header: http.Header{"X": {"y"}}}, []byte(text))
	require.Nil(t, err)
	require.NotNil(t, req.Decoded)
	req.Decoded = nil // Check and Encode must work without it
	return req
}

func TestResponsesDecodeReadsEveryMember(t *testing.T) {
	text := input(`{"role":"system","content":"be kind"},{"type":"message","role":"developer","content":[{"type":`+
		`"input_text","text":"be quick"}]},`+userItem,
		`,"instructions":"be brief","max_output_tokens":70,"temperature":0.5,"stream":true,"tool_choice":"required",
		"tools":[`+flatAdd+`,{"type":"custom","name":"sh","description":"runs"},{"type":"web_search"}]`)
	maxTokens, temperature := int64(70), 0.5
	require.Equal(t, &dialect.Request{
		Dialect: "openai-responses", Model: "gpt-4o", System: "be brief\n\nbe kind\n\nbe quick",
		Messages: []dialect.Message{{
			Role: dialect.User, Path: "input[2]",
			Content: []dialect.Block{{Type: dialect.Text, Text: "hi", Path: "input[2].content"}},
		}},
		Tools: []dialect.Tool{
			{Name: "add", InputSchema: []byte(`{"type":"object","properties":{}}`), Path: "tools[0]"},
			{Name: "sh", Description: "runs", Path: "tools[1]"},
			{Name: "web_search", Path: "tools[2]"},
		},
		ToolChoice: "required", MaxTokens: &maxTokens, Temperature: &temperature, Stream: true,
		Body: []byte(text), Header: http.Header{"X": {"y"}},
	}, decodeResponses(t, text))
}

func TestResponsesDecodeReadsItems(t *testing.T) {
	codectest.Messages(t, Responses, "testdata/responses_messages.txtar", "")
}

func TestResponsesDecodeReadsToolChoices(t *testing.T) {
	for given, want := range map[string]string{
		`"auto"`: "auto", `"none"`: "none", `null`: "", `"any"`: "any", `7`: "7", `{"mode":"auto"}`: `{"mode":"auto"}`,
		`{"type":"function","name":"add"}`:                      "tool:add",
		`{"type":"custom","name":"sh"}`:                         "tool:sh",
		`{"type":"allowed_tools","mode":"required","tools":[]}`: "required",
		`{"type":"web_search"}`:                                 `{"type":"web_search"}`,
	} {
		require.Equal(t, want, decodeResponses(t, input(userItem, `,"tool_choice":`+given)).ToolChoice, given)
	}
}

// A decoded request can be checked and answered completely.
func FuzzResponsesDecode(f *testing.F) {
	codectest.Fuzz(f, Responses, nil, "openai-responses", []string{
		input(userItem+`,`+thought+`,`+itemA+`,`+outputA,
			`,"tools":[`+flatAdd+`],"tool_choice":"auto","stream":true,"reasoning":{"effort":"low"},"include":`+
				`["reasoning.encrypted_content"]`),
		input(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="},{"type":`+
			`"input_audio","input_audio":{}}]}`, `,"text":{},"tool_choice":{"type":"allowed_tools"}`),
		input(`null,[],{"role":1},{"type":"reasoning"},{"content":[null]},{"type":"function_call"}`,
			`,"tools":[null,{"type":"function","strict":true,"parameters":{}}],"tool_choice":{}`),
		`{"model":"m","input":"hi"}`, `null`, `{}`, `[`, ``,
	}, 400, 404)
}

func TestModelsAreListedInBothDialects(t *testing.T) {
	for _, codec := range []dialect.Codec{Chat, Responses} {
		asides := codec.(dialect.SideRequests)
		require.Equal(t, []string{"POST /v1/embeddings", "POST /openai/v1/embeddings", "POST /openai/embeddings",
			"POST /openai/deployments/{deployment}/embeddings", "GET /v1/models", "GET /v1/models/{model...}"},
			asides.SideRequestPatterns()[:6])
		ask := func(path string) string {
			r := httptest.NewRequest("GET", path, nil)
			require.True(t, asides.Claims(r))
			a := asides.AnswerSideRequest(r, nil)
			require.Equal(t, 200, a.Status)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
			return string(join(a))
		}
		require.JSONEq(t, `{"id":"openai/gpt-4o","object":"model","created":1715367049,"owned_by":"system"}`,
			ask("/v1/models/openai/gpt-4o"))
		for _, path := range []string{"/v1/models", "/v1/models/"} {
			require.Contains(t, ask(path), `"object": "list"`)
			require.Contains(t, ask(path), `"id": "gpt-5"`)
		}
		theirs := httptest.NewRequest("GET", "/v1/models", nil)
		theirs.Header.Set("Anthropic-Version", "2023-06-01")
		require.False(t, asides.Claims(theirs), "it is Anthropic's")
	}
}
