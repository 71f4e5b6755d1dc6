package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// kindOf and codeOf are OpenAI's default words for a status.
func kindOf(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "requests"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}

func codeOf(status int) string {
	if status == http.StatusTooManyRequests {
		return "rate_limit_exceeded"
	}
	return ""
}

// errorDetails is OpenAI's error object.
type errorDetails struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// errorBody returns {"error":{message,type,param,code}}.
func errorBody(e *dialect.Error) map[string]errorDetails {
	kind, code := cmp.Or(e.Kind, kindOf(e.Status)), cmp.Or(e.Code, codeOf(e.Status))
	return map[string]errorDetails{"error": {e.Message, kind, optional(e.Param), optional(code)}}
}

// errorBody returns the body in the server's shape. OpenRouter has only a message and the status as code.
func (s *style) errorBody(e *dialect.Error) any {
	if !s.numericCode {
		return errorBody(e)
	}
	type details struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return map[string]details{"error": {e.Status, e.Message}}
}

// EncodeErrorEvent writes an event with the error body.
func (c chat) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	return append(append([]byte("data: "), dialect.Marshal(c.errorBody(e))...), "\n\n"...)
}

// EncodeError writes {"error":{message,type,param,code}}. A header prevents retries by the SDKs unless the status alone
// invites them.
func (s style) EncodeError(e *dialect.Error) dialect.Answer {
	h := s.header("application/json; charset=utf-8", dialect.GenerateID("req_", 32, int64(e.Status), len(e.Message)))
	switch {
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict, e.Status == http.StatusTooManyRequests, e.Status >= 500:
	default:
		h.Set("X-Should-Retry", "false")
	}
	maps.Copy(h, e.Header)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{indented(s.errorBody(e))}}
}

// optional returns nil, null on the wire, for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// indented indents JSON by two spaces with a final newline, like OpenAI outside streams.
func indented(v any) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, dialect.Marshal(v), "", "  "); err != nil {
		panic(err) // Marshal writes JSON
	}
	out.WriteByte('\n')
	return out.Bytes()
}
