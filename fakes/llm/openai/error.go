package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// noQuota is kind and code of an account without credit.
const noQuota = "insufficient_quota"

// words returns the error's kind and code, or the defaults for the status.
func (s *style) words(e *dialect.Error) (kind, code string) {
	switch {
	case e.Code == noQuota:
		kind = noQuota
	case e.Status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case e.Status >= http.StatusInternalServerError:
		kind = "server_error"
	case e.Status == http.StatusNotFound && s.isOpenAI && e.Kind == "":
		kind, code = "invalid_request_error", "model_not_found"
	case e.Status == http.StatusUnauthorized && (s.isOpenAI || s.isGroq):
		kind, code = "invalid_request_error", "invalid_api_key"
	default:
		kind = "invalid_request_error"
	}
	return cmp.Or(e.Kind, kind), cmp.Or(e.Code, code)
}

func errorObject(e *dialect.Error, kind, code string) json.RawMessage {
	return e.Object("message", e.Message, "type", kind, "param", orNull(e.Param), "code", orNull(code))
}

// orNull returns nil, null on the wire, for "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// xaiCodes are the codes of xAI's errors by status: the descriptions of gRPC.
var xaiCodes = map[int]string{
	http.StatusBadRequest:      "Client specified an invalid argument",
	http.StatusUnauthorized:    "The request does not have valid authentication credentials",
	http.StatusForbidden:       "The caller does not have permission to execute the specified operation",
	http.StatusNotFound:        "Some requested entity was not found",
	http.StatusTooManyRequests: "Some resource has been exhausted",
}

// errorBody returns the error in the server's shape, most often {"error":{message,type,param,code}}.
func (s *style) errorBody(e *dialect.Error) json.RawMessage {
	kind, code := s.words(e)
	switch {
	case s.isRouter:
		return jsonvalue.Ordered("error", e.Object("code", e.Status, "message", e.Message))
	case s.isMistral && e.Status == http.StatusUnauthorized:
		return e.Object("detail", e.Message)
	case s.isMistral:
		return e.Object("object", "error", "message", e.Message, "type", kind, "param", orNull(e.Param),
			"code", orNull(code), "raw_status_code", e.Status)
	case s.isGroq:
		return jsonvalue.Ordered("error", e.Object("message", e.Message, "type", kind, "code", jsonvalue.OrAbsent(code)))
	case s.isXAI:
		own := e.Code
		if e.Kind != "" { // OpenAI's words, of a refused request
			own = ""
		}
		return e.Object("code", cmp.Or(own, xaiCodes[e.Status], "Internal error"), "error", e.Message)
	}
	return jsonvalue.Ordered("error", errorObject(e, kind, code))
}

// EncodeErrorEvent writes an event with the error body.
func (c chat) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	return append(append([]byte("data: "), c.errorBody(e)...), "\n\n"...)
}

// EncodeError writes {"error":{message,type,param,code}}. A header prevents retries by the SDKs unless the status alone
// invites them.
func (s style) EncodeError(e *dialect.Error) dialect.Answer {
	h := s.header("application/json; charset=utf-8", dialect.GenerateID("req_", 32, int64(e.Status), len(e.Message)))
	switch {
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict,
		e.Status == http.StatusTooManyRequests, e.Status >= http.StatusInternalServerError:
	default:
		h.Set("X-Should-Retry", "false")
	}
	maps.Copy(h, e.Header)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{indented(s.errorBody(e))}}
}

// indented indents JSON by two spaces with a final newline, like OpenAI outside streams.
func indented(v any) []byte { return append(jsonvalue.Indented(v), '\n') }
