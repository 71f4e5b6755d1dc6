package openai

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// words returns the error's kind and code, or OpenAI's defaults for the status.
func words(e *dialect.Error) (kind, code string) {
	switch {
	case e.Status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case e.Status >= http.StatusInternalServerError:
		kind = "server_error"
	default:
		kind = "invalid_request_error"
	}
	return cmp.Or(e.Kind, kind), cmp.Or(e.Code, code)
}

func errorObject(e *dialect.Error, kind, code string) json.RawMessage {
	return dialect.Ordered("message", e.Message, "type", kind, "param", orNull(e.Param), "code", orNull(code))
}

// orNull returns nil, null on the wire, for "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// errorBody returns {"error":…} in the server's shape. OpenRouter has only a message and the status as code.
func (s *style) errorBody(e *dialect.Error) json.RawMessage {
	if s.numericCode {
		return dialect.Ordered("error", dialect.Ordered("code", e.Status, "message", e.Message))
	}
	kind, code := words(e)
	return dialect.Ordered("error", errorObject(e, kind, code))
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
func indented(v any) []byte { return append(dialect.Indented(v), '\n') }
