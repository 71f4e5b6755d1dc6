package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

const (
	user   = `{"role":"user","content":"hi"}`
	calls  = `{"role":"assistant","content":null,"tool_calls":[` + call1 + `,` + call2 + `]}`
	call1  = `{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}}`
	call2  = `{"id":"c2","type":"function","function":{"name":"add","arguments":"{}"}}`
	reply1 = `{"role":"tool","tool_call_id":"c1","content":"1"}`
	reply2 = `{"role":"tool","tool_call_id":"c2","content":"2"}`
	add    = `{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{}}}}`
)

// body returns a request with the messages and more members.
func body(messages, more string) string {
	return `{"model":"gpt-4o","messages":[` + messages + `]` + more + `}`
}

func TestErrors(t *testing.T) {
	retry := "X-Should-Retry"
	for _, c := range []struct {
		err    dialect.Error
		body   string
		header map[string]string
	}{
		{*codectest.Refusal(Chat, nil, body(`{"role":"human","content":"hi"}`,
			"")), `{"error":{"message":"Invalid value: 'human'. Supported values are: 'system', 'assistant', 'user', ` +
			`'function', 'tool', and 'developer'.",
			"type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}`,
			map[string]string{retry: "false"}},
		{dialect.Error{Status: 404, Message: "a < b"},
			`{"error":{"message":"a < b","type":"invalid_request_error","param":null,"code":"model_not_found"}}`,
			map[string]string{retry: "false"}},
		{dialect.Error{Status: 429, Message: "slow", Header: http.Header{"Retry-After": {"7"}}},
			`{"error":{"message":"slow","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
			map[string]string{retry: "", "Retry-After": "7"}},
		{dialect.Error{Status: 429, Code: "insufficient_quota", Message: "no"},
			`{"error":{"message":"no","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
			map[string]string{retry: ""}},
		{dialect.Error{Status: 500, Message: "oops", Extra: map[string]any{"b": 1, "a": []int{2}}},
			`{"error":{"message":"oops","type":"server_error","param":null,"code":null,"a":[2],"b":1}}`,
			map[string]string{retry: ""}},
		{dialect.Error{Status: 500, Message: "oops"},
			`{"error":{"message":"oops","type":"server_error","param":null,"code":null}}`, map[string]string{retry: ""}},
		{dialect.Error{Status: 529, Message: "oops"},
			`{"error":{"message":"oops","type":"server_error","param":null,"code":null}}`, map[string]string{retry: ""}},
		{dialect.Error{Status: 503, Kind: "overloaded", Message: "oops"},
			`{"error":{"message":"oops","type":"overloaded","param":null,"code":null}}`, map[string]string{retry: ""}},
	} {
		t.Run(fmt.Sprint(c.err.Status), func(t *testing.T) {
			a := Chat.EncodeError(&c.err)
			require.Equal(t, c.err.Status, a.Status)
			require.False(t, a.Stream)
			require.Len(t, a.Chunks, 1)
			require.JSONEq(t, c.body, string(a.Chunks[0]))
			require.True(t, json.Valid(a.Chunks[0]))
			require.Equal(t, "application/json; charset=utf-8", a.Header.Get("Content-Type"))
			require.Regexp(t, "^req_[A-Za-z0-9]{32}$", a.Header.Get("X-Request-Id"))
			for name, value := range c.header {
				require.Equal(t, value, a.Header.Get(name), name)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	codectest.Check(t, Chat, "testdata/chat.txtar", "/v1/chat/completions", http.Header{})
}

func TestCheckOfCompatibleServers(t *testing.T) {
	codectest.Check(t, Compatible, "testdata/compatible.txtar", "/compatible/v1/chat/completions", http.Header{})
	codectest.Check(t, Mistral, "testdata/mistral.txtar", "/mistral/v1/chat/completions", http.Header{})
	codectest.Check(t, XAIResponses, "testdata/xai_responses.txtar", "/xai/v1/responses", http.Header{})
}

func TestCheckAccepts128Tools(t *testing.T) {
	tools := func(tool string, n int) string {
		return `,"tools":[` + strings.TrimSuffix(strings.Repeat(tool+",", n), ",") + `]`
	}
	require.Nil(t, codectest.Refusal(Chat, nil, body(user, tools(add, 128))))
	refused := codectest.Refusal(Chat, nil, body(user, tools(add, 129)))
	require.Equal(t, tooLong("tools", "array", "an", 128, 129).Message, refused.Message)
	require.Nil(t, codectest.Refusal(Responses, nil, input(userItem, tools(flatAdd, 128))))
	err := codectest.Refusal(Responses, nil, input(userItem, tools(flatAdd, 129)))
	require.Equal(t, tooLong("tools", "array", "an", 128, 129).Message, err.Message)
	require.Equal(t, "array_above_max_length", err.Code)
}

func TestCheckResponses(t *testing.T) {
	codectest.Check(t, Responses, "testdata/responses.txtar", "/v1/responses", http.Header{})
}
