package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// kinds are OpenAI's usual words for a status; others are invalid_request_error.
var kinds = map[int]string{
	http.StatusTooManyRequests:     "requests",
	http.StatusInternalServerError: "server_error",
	http.StatusBadGateway:          "server_error",
	http.StatusServiceUnavailable:  "server_error",
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
	kind := e.Kind
	if kind == "" {
		kind = "invalid_request_error"
		if word, ok := kinds[e.Status]; ok {
			kind = word
		}
	}
	return map[string]errorDetails{"error": {e.Message, kind, optional(e.Param), optional(e.Code)}}
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
