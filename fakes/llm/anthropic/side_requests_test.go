package anthropic

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func TestSideRequests(t *testing.T) {
	asides := Messages.(dialect.SideRequests)
	require.Equal(t, []string{"GET /v1/models", "GET /v1/models/{id}", "POST /v1/messages/count_tokens"},
		asides.SideRequestPatterns())
	const haiku = `{"type":"model","id":"claude-haiku-4-5-20251001","display_name":"Claude Haiku 4.5","created_at":` +
		`"2025-10-15T00:00:00Z"}`
	question := `{"model":"m","messages":[` + user + `]}`
	for _, c := range []struct {
		name, method, path string
		header             http.Header
		body               string
		status             int
		want               string
	}{
		{"models", "GET", "/v1/models?limit=1000", keyed(), "", 200, `{"data":[` + haiku + `,{"type":"model"`},
		{"a model of the list", "GET", "/v1/models/claude-haiku-4-5-20251001", keyed(), "", 200, haiku},
		{"another model", "GET", "/v1/models/claude-next", keyed(), "", 200,
			`{"type":"model","id":"claude-next","display_name":"claude-next","created_at":"1970-01-01T00:00:00Z"}`},
		{"somebody else's model", "GET", "/v1/models/gpt-4o", keyed(), "", 404,
			`"type":"not_found_error","message":"model: there is no \"gpt-4o\": expected one whose name begins with claude-"`},
		{"models without a key", "GET", "/v1/models", http.Header{"Anthropic-Version": {"2023-06-01"}}, "", 401,
			`"type":"authentication_error"`},
		{"tokens", "POST", "/v1/messages/count_tokens", keyed(), question, 200, `{"input_tokens":22}`},
		{"tokens of tools", "POST", "/v1/messages/count_tokens", keyed(),
			strings.Replace(question, "{", `{"tools":[`+add+`],"tool_choice":{"type":"any"},`, 1), 200, `{"input_tokens":`},
		{"tokens without a version", "POST", "/v1/messages/count_tokens", http.Header{"X-Api-Key": {"sk"}}, question, 400,
			`anthropic-version: header is required`},
		{"tokens of no JSON", "POST", "/v1/messages/count_tokens", keyed(), "hi", 400, `not valid JSON`},
		{"tokens with a limit", "POST", "/v1/messages/count_tokens", keyed(), body(user, ""), 400,
			`max_tokens: Extra inputs are not permitted`},
		{"tokens of an open tool use", "POST", "/v1/messages/count_tokens", keyed(),
			`{"model":"m","messages":[` + user + `,` + uses + `]}`, 400, "`tool_use` ids were found without `tool_result`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			r.Header = c.header
			require.True(t, asides.Claims(r))
			a := asides.AnswerSideRequest(r, []byte(c.body))
			require.Equal(t, c.status, a.Status)
			require.Contains(t, join(a), c.want)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
			require.Regexp(t, "^req_01[A-Za-z0-9]{22}$", a.Header.Get("Request-Id"))
		})
	}
	require.False(t, asides.Claims(httptest.NewRequest("GET", "/v1/models", nil)), "OpenAI has a list there, too")
}
