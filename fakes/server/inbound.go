package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// inbound is a message from the client and how it came: in an HTTP request, or as a line of a connection.
type inbound struct {
	raw      []byte
	*message // nil when raw is not a valid message

	conn *conn // nil over HTTP
	r    *http.Request
	w    http.ResponseWriter
}

// header returns a header of the request; "" on a connection.
func (in *inbound) header(name string) string {
	if in.r == nil {
		return ""
	}
	return headerOf(in.r, name)
}

// takesEvents reports whether the client accepts an event stream. Media types are case-insensitive (RFC 9110, 8.3.1).
func (in *inbound) takesEvents() bool {
	return strings.Contains(strings.ToLower(in.header("Accept")), "text/event-stream")
}

// accepted acknowledges a message that gets no response. A connection has no way to do that.
func (in *inbound) accepted() {
	if in.conn == nil {
		in.w.WriteHeader(http.StatusAccepted)
	}
}

// onOneLine replaces the line ends of JSON that goes out as a line with spaces. Invalid JSON stays as it is.
func (s *Session) onOneLine(raw json.RawMessage) json.RawMessage {
	if !s.lines || !bytes.ContainsAny(raw, "\r\n") || !json.Valid(raw) {
		return raw
	}
	return bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, raw)
}
