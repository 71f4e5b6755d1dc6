package anthropic

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const (
	user     = `{"role":"user","content":"hi"}`
	use1     = `{"type":"tool_use","id":"u1","name":"add","input":{"a":1}}`
	use2     = `{"type":"tool_use","id":"u2","name":"add","input":{}}`
	uses     = `{"role":"assistant","content":[` + use1 + `,` + use2 + `]}`
	result1  = `{"type":"tool_result","tool_use_id":"u1","content":"1"}`
	result2  = `{"type":"tool_result","tool_use_id":"u2","content":[{"type":"text","text":"2"}],"is_error":true}`
	system   = `{"role":"system","content":"be kind"}`
	results  = `{"role":"user","content":[` + result1 + `,` + result2 + `]}`
	add      = `{"name":"add","description":"adds","input_schema":{"type":"object"}}`
	image    = `{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlh"}}`
	document = `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"}`
	thinking = `{"type":"thinking","thinking":"hm","signature":"Er=="}`
	redacted = `{"type":"redacted_thinking","data":"xyz"}`
)

// body returns a request with the messages and more members.
func body(messages, more string) string {
	return `{"model":"claude-x","max_tokens":100,"messages":[` + messages + `]` + more + `}`
}

func TestOnlyNewerModelsAcceptSystemMessages(t *testing.T) {
	for model, takes := range map[string]bool{
		"claude-3-5-sonnet-latest": false, "claude-2.1": false, "claude-sonnet-4-5": false,
		"claude-haiku-4-5-20251001": false,
		"claude-opus-4-20250514":    false, "claude-opus-4-1-20250805": false, "claude-opus-4-7": false,
		"claude-opus-4@20250514": false, "claude-opus-4.5": false,
		"claude-opus-4-8": true, "claude-opus-4-8-20260528": true, "claude-opus-4-10": true, "claude-opus-5": true,
		"claude-sonnet-5": true, "m": true,
	} {
		err := codectest.Refusal(Messages, keyed(), strings.Replace(body(user+`,`+system, ""), "claude-x", model, 1))
		if takes {
			require.Nil(t, err, model)
			continue
		}
		require.NotNil(t, err, model)
		require.Equal(t, "messages.1.role: role 'system' is not supported on this model", err.Message)
	}
}

func TestErrors(t *testing.T) {
	const id = "^req_01[A-Za-z0-9]{22}$"
	for _, c := range []struct {
		err         dialect.Error
		kind, retry string
	}{
		{*codectest.Refusal(Messages, nil, body(user, "")), "authentication_error", "false"},
		{*codectest.Refusal(Messages, keyed(), body(`{"role":"human","content":"hi"}`, "")),
			"invalid_request_error", "false"},
		{dialect.Error{Status: 402}, "billing_error", "false"},
		{dialect.Error{Status: 403}, "permission_error", "false"},
		{dialect.Error{Status: 404, Message: "a < b"}, "not_found_error", "false"},
		{dialect.Error{Status: 413}, "request_too_large", "false"},
		{dialect.Error{Status: 415}, "invalid_request_error", "false"},
		{dialect.Error{Status: 408}, "invalid_request_error", "true"},
		{dialect.Error{Status: 429, Header: http.Header{"Retry-After": {"7"}}}, "rate_limit_error", "true"},
		{dialect.Error{Status: 500}, "api_error", "true"},
		{dialect.Error{Status: 502}, "api_error", "true"},
		{dialect.Error{Status: 504}, "timeout_error", "true"},
		{dialect.Error{Status: 529}, "overloaded_error", "true"},
		{dialect.Error{Status: 529, Kind: "api_error", Header: http.Header{"X-Should-Retry": {"false"}}},
			"api_error", "false"},
	} {
		t.Run(http.StatusText(c.err.Status)+c.kind, func(t *testing.T) {
			a := Messages.EncodeError(&c.err)
			require.Equal(t, c.err.Status, a.Status)
			require.False(t, a.Stream)
			require.Len(t, a.Chunks, 1)
			requestID := a.Header.Get("Request-Id")
			require.Regexp(t, id, requestID)
			require.Equal(t, `{"type":"error","error":{"type":"`+c.kind+`","message":`+string(jsonvalue.Marshal(c.err.Message))+
				`},"request_id":"`+requestID+`"}`, string(a.Chunks[0]))
			require.Equal(t, "application/json", a.Header.Get("Content-Type"))
			require.Equal(t, c.retry, a.Header.Get("X-Should-Retry"))
			require.Equal(t, c.err.Header.Get("Retry-After"), a.Header.Get("Retry-After"))
			require.Equal(t, c.err.Status == 429, a.Header.Get("Anthropic-Ratelimit-Requests-Reset") != "")
			require.Equal(t, c.err.Status == 401, a.Header.Get("Anthropic-Organization-Id") == "")
		})
	}
	event := string(Messages.EncodeErrorEvent(nil, nil, 0, &dialect.Error{Status: 529, Message: "busy"}))
	require.Regexp(t, `^event: error\ndata: {"type":"error","error":{"details":null,"type":"overloaded_error",`+
		`"message":"busy"},"request_id":"req_01[A-Za-z0-9]{22}"}\n\n$`, event)
}

func TestCheck(t *testing.T) {
	codectest.Check(t, Messages, "testdata/check.txtar", "/v1/messages", keyed())
}
