package anthropic

import (
	"maps"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const overloaded = 529

// kinds are Anthropic's words by status. The default is invalid_request_error below 500, api_error above.
var kinds = map[int]string{
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusGatewayTimeout:        "timeout_error",
	overloaded:                       "overloaded_error",
}

func kindOf(e *dialect.Error) string {
	word, known := kinds[e.Status]
	switch {
	case e.Kind != "":
		return e.Kind
	case known:
		return word
	case e.Status >= http.StatusInternalServerError:
		return "api_error"
	}
	return "invalid_request_error"
}

func errorID(e *dialect.Error) string { return requestID(int64(e.Status), len(e.Message)) }

// EncodeError writes {"type":"error","error":{type,message},"request_id"}. The SDKs retry by the header x-should-retry.
func (messages) EncodeError(e *dialect.Error) dialect.Answer {
	id := errorID(e)
	h := header("application/json", id)
	retry := "false"
	switch {
	case e.Status == http.StatusUnauthorized: // without a key the account is unknown
		h.Del(accountHeader)
	case e.Status == http.StatusTooManyRequests:
		retry = "true"
		addLimits(h)
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict,
		e.Status >= http.StatusInternalServerError:
		retry = "true"
	}
	h.Set("X-Should-Retry", retry)
	maps.Copy(h, e.Header)
	var more any = jsonvalue.Absent
	if e.Code != "" {
		more = jsonvalue.Ordered("error_code", e.Code)
	}
	details := e.Object("type", kindOf(e), "message", e.Message, "details", more)
	body := jsonvalue.Ordered("type", "error", "error", details, "request_id", id)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{body}}
}

// EncodeErrorEvent writes an error event: the error body plus details, which are null.
func (messages) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	details := e.Object("details", nil, "type", kindOf(e), "message", e.Message)
	return event("error", "error", details, "request_id", errorID(e))
}
