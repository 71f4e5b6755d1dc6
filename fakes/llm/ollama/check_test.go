package ollama

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func TestErrors(t *testing.T) {
	a := Chat.EncodeError(&dialect.Error{Status: 404, Kind: "k", Code: "c", Param: "p", Message: "model <x> is not there",
		Header: http.Header{"Retry-After": {"7"}}})
	require.Equal(t, 404, a.Status)
	require.False(t, a.Stream)
	require.Equal(t, `{"error":"model \u003cx\u003e is not there"}`, string(join(a)))
	require.Equal(t, http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Retry-After": {"7"}}, a.Header)
	require.Equal(t, `{"error":"out of memory"}`+"\n",
		string(Chat.EncodeErrorEvent(nil, nil, 0, &dialect.Error{Message: "out of memory"})))
}

func TestErrorsOfEncodingJSONAreOllamas(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","messages":"hi"}`: "json: cannot unmarshal string into Go struct field ChatRequest.messages of type " +
			"[]api.Message",
		`{"model":"m","messages":[{"role":"user","content":[]}]}`: "json: cannot unmarshal array into Go struct field " +
			"ChatRequest.messages.content of type string",
		`{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{"type":["object"]}}}]}`: "json: " +
			"cannot unmarshal array into Go struct field ChatRequest.tools.function.parameters.type of type string",
		`{"model":"m","stream":"yes"}`: "json: cannot unmarshal string into Go struct field ChatRequest.stream of type bool",
	} {
		require.Equal(t, want, codectest.Refusal(Chat, nil, body).Message)
	}
}

func TestCheck(t *testing.T) {
	codectest.Check(t, Chat, "testdata/check.txtar", "/api/chat", http.Header{})
}
