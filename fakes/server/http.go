package server

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
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

	headerLastEvent = "Last-Event-Id"
)

// Handler returns the server's HTTP handler, which serves /mcp, for those who bring their own http.Server. That one should be closed
// before this one: Close waits for requests that are still being read.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if !s.begin(&s.handlers) {
			panic(http.ErrAbortHandler) // a handler that just returned would send an empty success
		}
		defer s.handlers.Done()
		defer s.ownFault()
		s.serve(w, r)
	})
	return mux
}

// ownFault notes a panic of ours before it breaks the connection: net/http would hush it up, and the client would seem to blame.
func (s *Server) ownFault() {
	if p := recover(); p != nil {
		if p != http.ErrAbortHandler { //nolint:errorlint // panics are compared as net/http does
			s.problem(scope{}, "the server panicked: %v\n%s", p, debug.Stack())
		}
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if why := forbidden(r); why != "" {
		s.refuse(&inbound{w: w, r: r}, http.StatusForbidden, rpcErrorf(codeInvalidRequest, "%s", why))
		return
	}
	withSessions := len(s.legacy) > 0 && !slices.Contains(s.modern, Revision(headerOf(r, headerVersion)))
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r)
	case r.Method == http.MethodGet && withSessions:
		s.get(w, r)
	case r.Method == http.MethodDelete && withSessions:
		s.delete(w, r)
	case withSessions:
		s.notAllowed(w, r, "POST, GET, DELETE")
	default:
		s.notAllowed(w, r, "POST") // no GET stream and no sessions (2026-07-28, basic/transports/streamable-http#earlier-streamable-http-revisions)
	}
}

func (s *Server) notAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	s.refuse(&inbound{w: w, r: r}, http.StatusMethodNotAllowed, rpcErrorf(codeInvalidRequest, "the MCP endpoint takes %s, not %s", allowed, r.Method))
}

// headerOf returns a header's values as one: a header that came twice is none that anybody sent once.
func headerOf(r *http.Request, name string) string { return strings.Join(r.Header.Values(name), ", ") }

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
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// post takes in one message and hands it to the era it belongs to.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxBody))
	in := &inbound{raw: raw, w: w, r: r}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		in.raw = nil
		s.refuse(in, http.StatusRequestEntityTooLarge, rpcErrorf(codeInvalidRequest, "the body is over the limit of %d bytes", s.opts.MaxBody))
		return
	case err != nil:
		s.refuse(in, http.StatusBadRequest, rpcErrorf(codeParse, "the body could not be read: %v", err))
		return
	}
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		s.refuse(in, http.StatusUnsupportedMediaType, rpcErrorf(codeInvalidRequest, "Content-Type must be application/json, got %q", r.Header.Get("Content-Type")))
		return
	}
	if batch := s.postedBatch(in); len(batch) > 0 {
		if why := tooMany(batch); why != nil {
			s.refuse(in, http.StatusBadRequest, why)
		} else {
			s.takePosted(in, batch)
		}
		return
	}
	m, bad := parse(raw)
	if bad != nil {
		s.refuse(in, http.StatusBadRequest, bad)
		return
	}
	in.message = m
	s.take(in)
}

// take hands a message to the era it belongs to.
func (s *Server) take(in *inbound) {
	if s.isModern(in) {
		s.takeModern(in)
	} else {
		s.takeLegacy(in)
	}
}

// isModern tells in which era a message speaks (2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions).
func (s *Server) isModern(m *inbound) bool {
	if len(s.modern) == 0 && !s.opts.TellsVersions {
		return false
	}
	if len(s.legacy) == 0 {
		return true
	}
	if m.Method == nil || *m.Method == "initialize" {
		return false
	}
	return *m.Method == "server/discover" || Revision(m.header(headerVersion)).Modern() || m.meta[metaVersion] != nil
}

// received records a message of the client, and the session that it names.
func (s *Server) received(of scope, session string, in *inbound) {
	frame := trace.Frame{Dir: trace.FromClient, Raw: in.raw, Session: session}
	if in.conn != nil {
		frame.Session = in.conn.name
	} else {
		if frame.HTTP = s.http(in.r.Method, 0, in.r.Header); frame.HTTP != nil {
			frame.HTTP.Address = trace.SelectAddress(in.r.URL, s.opts.Planted)
		}
	}
	s.frame(of, frame)
}

// refuse records the request and answers it with a status and an error. What is no request (no message, or a notification or
// response) gets an error without an id (2025-11-25, basic/transports#sending-messages-to-the-server).
func (s *Server) refuse(in *inbound, status int, why *RPCError) {
	if in.conn != nil {
		in.conn.refuse(in, why)
		return
	}
	session := in.header(headerSession)
	s.received(scope{}, session, in)
	var id json.RawMessage
	if in.message != nil && in.isRequest() {
		id = in.ID
	}
	newExchange(s, in, scope{}, session).respond(status, errorFrame(id, why), false)
}

// result answers a request with a result of ours.
func (s *Server) result(x *exchange, id json.RawMessage, revision Revision, name schema.Name, result any) {
	raw := mustEncode(result)
	s.validFrame(x.scope, revision, name, raw)
	s.answer(x, resultFrame(id, raw), false)
}

// fail answers a request with an error that HTTP has no status for.
func (s *Server) fail(x *exchange, id json.RawMessage, why *RPCError) {
	s.answer(x, errorFrame(id, why), false)
}

// answer sends a response in the way that the options ask for.
func (s *Server) answer(x *exchange, frame []byte, hostile bool) {
	if x.responses == SSE {
		x.open("post")
	}
	x.respond(http.StatusOK, frame, hostile)
}

// toolList is the tools of the server as tools/list gives them.
func (s *Server) toolList() []Tool {
	tools := []Tool{}
	for _, t := range s.tools {
		if t.Carrier == "" {
			tools = append(tools, t.Tool)
		}
	}
	return tools
}

// callParams are the params of a tools/call, or of another request that carries a play.
type callParams struct {
	method         string
	arguments      json.RawMessage
	meta           object
	inputResponses json.RawMessage
	requestState   json.RawMessage
}

// readCall finds the tool that a tools/call is for, or the prompt or resource of another request that carries a play, also where the call
// is wrong otherwise: it is that tool's, then. An unknown tool is a protocol error, as is what is no CallToolRequest; arguments that do not fit the tool are for the model to mend, and so a result
// (2025-11-25, server/tools#error-handling).
func (s *Server) readCall(m *message) (callParams, *offered, *RPCError) {
	method := *m.Method
	member := namedBy[method]
	name, named := m.params.text(member)
	tool := s.byName[method+" "+name]
	p := callParams{method, m.params["arguments"], m.meta, m.params["inputResponses"], m.params["requestState"]}
	switch {
	case m.params == nil:
		return p, nil, rpcErrorf(codeInvalidParams, "params of %s must be an object, got %s", method, show(m.Params))
	case !named:
		return p, nil, rpcErrorf(codeInvalidParams, "%s of %s must be a string, got %s", member, method, show(m.params[member]))
	case tool == nil:
		return p, nil, rpcErrorf(codeInvalidParams, "unknown %s: %s", kindOf[method], clip([]byte(name)))
	case p.arguments != nil && objectOf(p.arguments) == nil:
		return p, tool, rpcErrorf(codeInvalidParams, "arguments of %s must be an object, got %s", method, show(p.arguments))
	}
	return p, tool, nil
}

// show is a value as an error message has it.
func show(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return clip(raw)
}

func clip(b []byte) string {
	if len(b) > 80 {
		return string(b[:80]) + "…"
	}
	return string(b)
}
