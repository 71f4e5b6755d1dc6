package server

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// checkModern holds headers and _meta against each other and against what the server speaks
// (2026-07-28, basic/transports/streamable-http#server-validation, basic/index#meta). A connection has no headers
// (basic/transports/stdio#request-metadata).
func (s *Server) checkModern(m *inbound) (int, *RPCError) {
	mismatch := func(format string, args ...any) (int, *RPCError) {
		return http.StatusBadRequest, rpcErrorf(codeHeaderMismatch, format, args...)
	}
	said, hasMeta := m.meta.text(metaVersion)
	if !hasMeta && len(s.legacy) == 0 && *m.Method == "initialize" {
		wanted, _ := m.params.text("protocolVersion")
		return s.unsupported(wanted)
	}
	version := m.header(headerVersion)
	switch {
	case m.conn != nil && hasMeta && !slices.Contains(s.modern, Revision(said)):
		return s.unsupported(said)
	case m.conn != nil:
		return checkMeta(m.message)
	case version == "":
		return mismatch("header %s is missing", headerVersion)
	case hasMeta && said != version:
		return mismatch("header %s is %q, _meta has %q", headerVersion, version, said)
	case !slices.Contains(s.modern, Revision(version)):
		return s.unsupported(version)
	}
	if got := m.header(headerMethod); got != *m.Method {
		return mismatch("header %s is %q, the body's method is %q", headerMethod, got, *m.Method)
	}
	if member := namedBy[*m.Method]; member != "" {
		if m.r.Header[headerName] == nil {
			return mismatch("header %s is missing", headerName)
		}
		name, _ := m.params.text(member)
		got, err := HeaderValue(m.header(headerName))
		if err != nil {
			return mismatch("header %s %v", headerName, err)
		}
		if got != name {
			return mismatch("header %s is %q, the body has %q", headerName, got, name)
		}
	}
	return checkMeta(m.message)
}

// checkMeta wants what every request has to say of itself (2026-07-28, basic/index#meta).
func checkMeta(m *message) (int, *RPCError) {
	if _, ok := m.meta.text(metaVersion); !ok {
		return http.StatusBadRequest, rpcErrorf(codeInvalidParams, "_meta has no string %s", metaVersion)
	}
	if objectOf(m.meta[metaCapabilities]) == nil {
		return http.StatusBadRequest, rpcErrorf(codeInvalidParams, "_meta has no object %s", metaCapabilities)
	}
	return 0, nil
}

// unsupported is the answer to a revision that the server does not speak.
func (s *Server) unsupported(requested string) (int, *RPCError) {
	supported := slices.Concat(s.modern, s.legacy)
	err := rpcErrorf(codeUnsupportedVersion, "unsupported protocol version: this server speaks %v", supported)
	err.Data = mustEncode(map[string]any{"supported": supported, "requested": requested})
	return http.StatusBadRequest, err
}

// namedBy is the member of the params that Mcp-Name repeats, for the methods that need it.
var namedBy = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// HeaderValue decodes the sentinel form of a header value, which everything but visible ASCII, space and tab has to have
// (2026-07-28, basic/transports/streamable-http#value-encoding). A value in no such form is returned as it is. Its error says what is
// wrong with the value, and reads on after the header's name.
func HeaderValue(value string) (string, error) {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", errors.New("holds a character that is not ASCII: it has to be sent as =?base64?…?=")
		}
	}
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok || !strings.HasSuffix(encoded, "?=") {
		return value, nil
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(encoded, "?="))
	if err != nil {
		return "", errors.New("has the form =?base64?…?= and holds no base64")
	}
	return string(decoded), nil
}
