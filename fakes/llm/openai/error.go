package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// kindOf and codeOf are OpenAI's usual words for a status.
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

// errorDetails are what OpenAI says of an error.
type errorDetails struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// errorBody is {"error":{message,type,param,code}}.
func errorBody(e *dialect.Error) map[string]errorDetails {
	kind, code := cmp.Or(e.Kind, kindOf(e.Status)), cmp.Or(e.Code, codeOf(e.Status))
	return map[string]errorDetails{"error": {e.Message, kind, optional(e.Param), optional(code)}}
}

// errorBody is the body in the server's own shape. OpenRouter's code is the status, and there is nothing else.
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

// EncodeErrorEvent writes an event of the stream whose data is the error's body.
func (c chat) EncodeErrorEvent(_ *dialect.Request, _ *dialect.Reply, _ int, e *dialect.Error) []byte {
	return append(append([]byte("data: "), dialect.Marshal(c.errorBody(e))...), "\n\n"...)
}

// EncodeError writes {"error":{message,type,param,code}}. What the SDKs would try again by the status alone they may; every
// other error says that they should not.
func (s style) EncodeError(e *dialect.Error) dialect.Answer {
	h := s.header("application/json; charset=utf-8", dialect.MintID("req_", 32, int64(e.Status), len(e.Message)))
	switch {
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict, e.Status == http.StatusTooManyRequests, e.Status >= 500:
	default:
		h.Set("X-Should-Retry", "false")
	}
	maps.Copy(h, e.Header)
	return dialect.Answer{Status: e.Status, Header: h, Chunks: [][]byte{indented(s.errorBody(e))}}
}

// optional returns nil, which is null on the wire, for the empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// indented writes JSON as OpenAI does outside streams: by two spaces, with a last newline.
func indented(v any) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, dialect.Marshal(v), "", "  "); err != nil {
		panic(err) // Marshal writes JSON
	}
	out.WriteByte('\n')
	return out.Bytes()
}
