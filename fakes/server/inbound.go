package server

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// inbound is a message of the client, and the way it came: in an HTTP request, or as a line of a connection.
type inbound struct {
	raw      []byte
	*message // nil for what is none

	conn *conn // nil over HTTP
	r    *http.Request
	w    http.ResponseWriter
}

// header returns a header of the request; a connection has none.
func (in *inbound) header(name string) string {
	if in.r == nil {
		return ""
	}
	return headerOf(in.r, name)
}

// accepted says that a message was taken in to which no response is due, where there is a way to say it.
func (in *inbound) accepted() {
	if in.conn == nil {
		in.w.WriteHeader(http.StatusAccepted)
	}
}

// onOneLine takes the line ends out of JSON that is to be sent as a line: between its tokens they mean nothing, and within one there are
// none. What is no JSON stays as it is.
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
