package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Headers of the transport.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// Handler returns the server's HTTP handler, which serves /mcp, for those who bring their own http.Server.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if why := forbidden(r); why != "" {
			s.refuse(w, r, nil, http.StatusForbidden, rpcErrorf(codeInvalidRequest, "%s", why))
			return
		}
		switch r.Method {
		case http.MethodPost:
			s.post(w, r)
		case http.MethodGet:
			s.get(w, r)
		case http.MethodDelete:
			s.delete(w, r)
		default:
			w.Header().Set("Allow", "POST, GET, DELETE")
			s.refuse(w, r, nil, http.StatusMethodNotAllowed, rpcErrorf(codeInvalidRequest, "method %s is not for the MCP endpoint", r.Method))
		}
	})
	return mux
}

// forbidden returns why the request may not come in, or "": a page in a browser could otherwise reach the server by DNS
// rebinding (2025-11-25, basic/transports#security-warning).
func forbidden(r *http.Request) string {
	if !loopback(r.Host) {
		return "host " + r.Host + " is not this machine's loopback"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !loopback(u.Host) {
			return "origin " + origin + " is not this machine's loopback"
		}
	}
	return ""
}

func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// post takes in one message and hands it to the era it belongs to.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.refuse(w, r, nil, http.StatusRequestEntityTooLarge, rpcErrorf(codeInvalidRequest, "the body is over the limit of %d bytes", s.opts.MaxBody))
		return
	case err != nil:
		s.refuse(w, r, raw, http.StatusBadRequest, rpcErrorf(codeParse, "the body could not be read: %v", err))
		return
	}
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		s.refuse(w, r, raw, http.StatusUnsupportedMediaType, rpcErrorf(codeInvalidRequest, "Content-Type must be application/json, got %q", r.Header.Get("Content-Type")))
		return
	}
	m, bad := parse(raw)
	if bad != nil {
		s.refuse(w, r, raw, http.StatusBadRequest, bad)
		return
	}
	if s.isModern(r, m) {
		s.postModern(w, r, raw, m)
	} else {
		s.postLegacy(w, r, raw, m)
	}
}

// isModern tells in which era a message speaks (2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions).
func (s *Server) isModern(r *http.Request, m *message) bool {
	if len(s.modern) == 0 {
		return false
	}
	if len(s.legacy) == 0 {
		return true
	}
	if m.Method == nil || *m.Method == "initialize" {
		return false
	}
	return *m.Method == "server/discover" || Revision(r.Header.Get(headerVersion)).Modern() || metaOf(m.Params)[metaVersion] != nil
}

// metaOf returns the _meta of a request's params; nil where there is none.
func metaOf(params json.RawMessage) map[string]json.RawMessage {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // what is no object has no _meta
	return p.Meta
}

// received records a message of the client.
func (s *Server) received(of scope, r *http.Request, raw []byte) {
	s.frame(of, trace.Frame{Dir: trace.FromClient, Raw: raw, Session: r.Header.Get(headerSession),
		HTTP: &trace.HTTP{Method: r.Method, Header: trace.SelectHeader(r.Header, "")}})
}

// refuse records the request and answers it with a status and an error without an id.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, raw []byte, status int, why *RPCError) {
	s.received(scope{}, r, raw)
	newExchange(s, w, scope{}, r.Header.Get(headerSession), "").respond(status, errorFrame(nil, why))
}

// result answers a request of the session with a result of ours, in the way that the options ask for.
func (s *Server) result(x *exchange, id json.RawMessage, revision Revision, name schema.Name, result any) {
	raw := mustEncode(result)
	s.validFrame(x.scope, revision, name, raw)
	if s.opts.Responses == SSE {
		x.open()
	}
	x.respond(http.StatusOK, resultFrame(id, raw))
}

// toolList is the tools of the server as tools/list gives them.
func (s *Server) toolList() []Tool {
	tools := make([]Tool, len(s.tools))
	for i, t := range s.tools {
		tools[i] = t.Tool
	}
	return tools
}

// callParams are the params of a tools/call.
type callParams struct {
	Name           string                     `json:"name"`
	Arguments      json.RawMessage            `json:"arguments"`
	Meta           map[string]json.RawMessage `json:"_meta"`
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
	RequestState   json.RawMessage            `json:"requestState"`
}

// readCall finds the tool that a tools/call is for. An unknown tool is a protocol error; arguments that do not fit are for the model
// to mend, and so a result (2025-11-25, server/tools#error-handling).
func (s *Server) readCall(params json.RawMessage) (callParams, *offered, *RPCError) {
	var p callParams
	if err := json.Unmarshal(params, &p); err != nil {
		return p, nil, rpcErrorf(codeInvalidParams, "params of tools/call: %v", err)
	}
	if arguments := bytes.TrimSpace(p.Arguments); len(arguments) > 0 && arguments[0] != '{' {
		return p, nil, rpcErrorf(codeInvalidParams, "arguments of tools/call must be an object, got %s", clip(arguments))
	}
	tool := s.byName[p.Name]
	if tool == nil {
		return p, nil, rpcErrorf(codeInvalidParams, "unknown tool: %s", clip([]byte(p.Name)))
	}
	return p, tool, nil
}

func clip(b []byte) string {
	if len(b) > 80 {
		return string(b[:80]) + "…"
	}
	return string(b)
}

// startPlay runs a play on a goroutine of its own, unless the server is being closed.
func (s *Server) startPlay(play func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.plays.Add(1)
	go func() {
		defer s.plays.Done()
		play()
	}()
	return true
}
