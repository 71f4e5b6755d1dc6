package server

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// checkModern compares a request's headers, _meta and body with each other and with what the server speaks (2026-07-28,
// basic/transports/streamable-http#server-validation, basic/index#meta). A connection has no headers
// (basic/transports/stdio#request-metadata).
func (s *Server) checkModern(m *inbound) (int, *RPCError) {
	inMeta, hasMeta := m.meta.text(metaVersion)
	if !hasMeta && len(s.legacy) == 0 && *m.Method == "initialize" {
		requested, _ := m.params.text("protocolVersion")
		return s.unsupported(requested)
	}
	version := m.header(headerVersion)
	switch {
	case s.opts.AnswerDiscover && *m.Method == "server/discover":
		return 0, nil
	case m.conn != nil && hasMeta && !slices.Contains(s.modern, Revision(inMeta)):
		return s.unsupported(inMeta)
	case m.conn != nil:
		return checkMeta(m.message)
	case version == "":
		return mismatch("header %s is missing", headerVersion)
	case hasMeta && inMeta != version:
		return mismatch("header %s is %q, _meta has %q", headerVersion, version, inMeta)
	case !slices.Contains(s.modern, Revision(version)):
		return s.unsupported(version)
	}
	if status, why := checkRouting(m); why != nil {
		return status, why
	}
	return checkMeta(m.message)
}

// checkRouting compares the headers that repeat the method and the name with the body.
func checkRouting(m *inbound) (int, *RPCError) {
	if got := m.header(headerMethod); got != *m.Method {
		return mismatch("header %s is %q, the body's method is %q", headerMethod, got, *m.Method)
	}
	member := replay.Carriers[*m.Method]
	if member == "" {
		return 0, nil
	}
	if m.r.Header[headerName] == nil {
		return mismatch("header %s is missing", headerName)
	}
	got, err := DecodeHeaderValue(m.header(headerName))
	if err != nil {
		return mismatch("header %s %v", headerName, err)
	}
	if name, _ := m.params.text(member); got != name {
		return mismatch("header %s is %q, the body has %q", headerName, got, name)
	}
	return 0, nil
}

func mismatch(format string, args ...any) (int, *RPCError) {
	return http.StatusBadRequest, rpcErrorf(codeHeaderMismatch, format, args...)
}

// checkMeta checks what each request must state about the client (2026-07-28, basic/index#meta).
func checkMeta(m *message) (int, *RPCError) {
	if _, ok := m.meta.text(metaVersion); !ok {
		return http.StatusBadRequest, rpcErrorf(codeInvalidParams, "_meta has no string %s", metaVersion)
	}
	if objectOf(m.meta[metaCapabilities]) == nil {
		return http.StatusBadRequest, rpcErrorf(codeInvalidParams, "_meta has no object %s", metaCapabilities)
	}
	return 0, nil
}

func (s *Server) unsupported(requested string) (int, *RPCError) {
	supported := slices.Concat(s.modern, s.legacy)
	err := rpcErrorf(codeUnsupportedVersion, "unsupported protocol version: this server speaks %v", supported)
	err.Data = mustEncode(map[string]any{"supported": supported, "requested": requested})
	return http.StatusBadRequest, err
}

// DecodeHeaderValue decodes a header value that may have the sentinel form =?base64?…?=, which all but visible ASCII,
// space and tab require (2026-07-28, basic/transports/streamable-http#value-encoding). Any other value is returned as
// it is. The error is a predicate of the header's name, such as "contains a character that is not ASCII".
func DecodeHeaderValue(value string) (string, error) {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", errors.New("contains a character that is not ASCII: encode it as =?base64?…?=")
		}
	}
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok || !strings.HasSuffix(encoded, "?=") {
		return value, nil
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(encoded, "?="))
	if err != nil {
		return "", errors.New("has the form =?base64?…?= with invalid base64")
	}
	return string(decoded), nil
}
