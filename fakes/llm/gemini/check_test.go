package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

func TestErrors(t *testing.T) {
	const rpc = "type.googleapis.com/google.rpc."
	for _, c := range []struct {
		err  dialect.Error
		want string
	}{
		{dialect.Error{Status: 400, Message: "a < b"}, `{"code":400,"message":"a < b","status":"INVALID_ARGUMENT"}`},
		{*invalid("contents", "none"), `{"code":400,"message":"none","status":"INVALID_ARGUMENT","details":[{"@type":"` +
			rpc + `BadRequest","fieldViolations":[{"field":"contents","description":"none"}]}]}`},
		{dialect.Error{Status: 400, Code: "API_KEY_INVALID", Message: "bad key"},
			`{"code":400,"message":"bad key","status":"INVALID_ARGUMENT","details":[
			{"@type":"` + rpc + `ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com",
			"metadata":{"service":"generativelanguage.googleapis.com"}},
			{"@type":"` + rpc + `LocalizedMessage","locale":"en-US","message":"bad key"}]}`},
		{dialect.Error{Status: 401, Message: "m"}, `{"code":401,"message":"m","status":"UNAUTHENTICATED"}`},
		{dialect.Error{Status: 403, Message: "m"}, `{"code":403,"message":"m","status":"PERMISSION_DENIED"}`},
		{dialect.Error{Status: 404, Message: "m"}, `{"code":404,"message":"m","status":"NOT_FOUND"}`},
		{dialect.Error{Status: 413, Message: "m"}, `{"code":413,"message":"m","status":"FAILED_PRECONDITION"}`},
		{dialect.Error{Status: 500, Message: "m"}, `{"code":500,"message":"m","status":"INTERNAL"}`},
		{dialect.Error{Status: 503, Message: "m"}, `{"code":503,"message":"m","status":"UNAVAILABLE"}`},
		{dialect.Error{Status: 504, Message: "m"}, `{"code":504,"message":"m","status":"DEADLINE_EXCEEDED"}`},
		{dialect.Error{Status: 529, Message: "m"}, `{"code":529,"message":"m","status":"UNKNOWN"}`},
		{dialect.Error{Status: 400, Kind: "FAILED_PRECONDITION", Message: "m"},
			`{"code":400,"message":"m","status":"FAILED_PRECONDITION"}`},
	} {
		t.Run(fmt.Sprint(c.err.Status, c.err.Code), func(t *testing.T) {
			a := GenerateContent.EncodeError(&c.err)
			require.Equal(t, c.err.Status, a.Status)
			require.False(t, a.Stream)
			require.JSONEq(t, `{"error":`+c.want+`}`, string(join(a)))
			require.Equal(t, "application/json; charset=UTF-8", a.Header.Get("Content-Type"))
		})
	}
	a := GenerateContent.EncodeError(&dialect.Error{Status: 429, Message: "slow",
		Header: http.Header{"Retry-After": {"7"}}})
	require.Equal(t, "7", a.Header.Get("Retry-After"))
	var got struct {
		Error struct {
			Status  string
			Details []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(join(a), &got))
	require.Equal(t, "RESOURCE_EXHAUSTED", got.Error.Status)
	require.Equal(t, "7s", got.Error.Details[2]["retryDelay"])
}

func TestErrorsInsideAStream(t *testing.T) {
	broken := &dialect.Error{Status: 503, Message: "overloaded"}
	sse := decode(t, flash+streamGenerate+"?alt=sse", body(user, ""))
	require.Equal(t, `data: {"error": {"code": 503,"message": "overloaded","status": "UNAVAILABLE"}}`+"\r\n\r\n",
		string(GenerateContent.EncodeErrorEvent(sse, nil, 0, broken)))
	array := decode(t, flash+streamGenerate, body(user, ""))
	text := append([]byte(`[{}`), GenerateContent.EncodeErrorEvent(array, nil, 0, broken)...)
	require.JSONEq(t, `[{},{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, string(text))
}

func TestErrorsBeforeAnArrayStreamAreInAnArray(t *testing.T) {
	refused := &dialect.Error{Status: 400, Message: "no"}
	const want = `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`
	for to, wrapped := range map[string]bool{
		flash + generate: false, flash + streamGenerate + "?alt=sse": false, flash + streamGenerate: true,
	} {
		u, err := url.Parse(to)
		require.NoError(t, err)
		got := string(join(GenerateContent.EncodeError(refused.At(u))))
		if wrapped {
			require.JSONEq(t, "["+want+"]", got, to)
		} else {
			require.JSONEq(t, want, got, to)
		}
	}
	require.Nil(t, refused.URL, "the error itself is as it was")
}

func TestCheck(t *testing.T) {
	codectest.Check(t, GenerateContent, "testdata/check.txtar", flash+generate, http.Header{"X-Goog-Api-Key": {"k"}})
}
