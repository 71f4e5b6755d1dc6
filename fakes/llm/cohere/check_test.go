package cohere

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func keyed() http.Header { return http.Header{"Authorization": {"Bearer co"}} }

func TestCheck(t *testing.T) {
	codectest.Check(t, Chat, "testdata/check.txtar", "/v2/chat", keyed())
}

func TestErrors(t *testing.T) {
	a := Chat.EncodeError(&dialect.Error{Status: 429, Message: "slower, <please>",
		Header: http.Header{"Retry-After": {"7"}}})
	require.Equal(t, 429, a.Status)
	require.False(t, a.Stream)
	require.Regexp(t, `^{"id":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",`+
		`"message":"slower, <please>"}$`, string(join(a)))
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "7", a.Header.Get("Retry-After"))
	other := Chat.EncodeError(&dialect.Error{Status: 429, Message: "slower"})
	require.NotEqual(t, string(join(a))[:40], string(join(other))[:40], "another id")
	require.Equal(t, "event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"error\":\"busy\","+
		"\"finish_reason\":\"ERROR\"}}\n\n", string(Chat.EncodeErrorEvent(nil, nil, 0, &dialect.Error{Message: "busy"})))
}
