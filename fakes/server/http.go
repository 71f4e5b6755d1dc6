package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// Headers of the transport.
const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerLastEvent = "Last-Event-Id"
)

// Strangers returns how many requests came without [Options].Prefix. Clients may look for /.well-known there.
func (s *Server) Strangers() int64 { return s.strange.Load() }

// Handler returns the server's HTTP handler, which serves /mcp behind the prefix, for use in another http.Server. Close
// that one first: Close waits for requests that are still being read.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, s.opts.Prefix+"/") {
			s.strange.Add(1)
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc(s.opts.Prefix+"/mcp", func(w http.ResponseWriter, r *http.Request) {
		if !s.begin(&s.requests) {
			panic(http.ErrAbortHandler) // returning would send an empty success
		}
		defer s.requests.Done()
		defer s.reportPanic()
		s.serve(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions { // asks what is here: no message, and not recorded
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// reportPanic records a panic of the server before it breaks the connection: net/http would hide it, and the client
// would get the blame.
func (s *Server) reportPanic() {
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
	default: // 2026-07-28, basic/transports/streamable-http#earlier-streamable-http-revisions
		s.notAllowed(w, r, "POST")
	}
}

func (s *Server) notAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	s.refuse(&inbound{w: w, r: r}, http.StatusMethodNotAllowed,
		rpcErrorf(codeInvalidRequest, "the MCP endpoint takes %s, not %s", allowed, r.Method))
}

// headerOf joins the values of a header, so that one that was sent twice matches nothing.
func headerOf(r *http.Request, name string) string { return strings.Join(r.Header.Values(name), ", ") }

// forbidden returns why the request is refused, or "". Otherwise a page in a browser could reach the server by DNS
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

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	bounded := http.MaxBytesReader(w, r.Body, s.opts.MaxBody)
	if r.ContentLength > s.opts.MaxBody {
		_, _ = io.Copy(io.Discard, bounded) // as much as a server takes before it refuses
	}
	raw, err := io.ReadAll(bounded)
	in := &inbound{raw: raw, w: w, r: r}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		in.raw = nil
		s.refuse(in, http.StatusRequestEntityTooLarge,
			rpcErrorf(codeInvalidRequest, "the body is over the limit of %d bytes", s.opts.MaxBody))
		return
	case err != nil:
		s.refuse(in, http.StatusBadRequest, rpcErrorf(codeParse, "the body could not be read: %v", err))
		return
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		s.refuse(in, http.StatusUnsupportedMediaType, rpcErrorf(codeInvalidRequest,
			"Content-Type must be application/json, found %q", r.Header.Get("Content-Type")))
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

func (s *Server) take(in *inbound) {
	if s.isModern(in) {
		s.takeModern(in)
	} else {
		s.takeLegacy(in)
	}
}

// isModern reports whether a message is in a modern revision (2026-07-28,
// basic/versioning#backward-compatibility-with-initialization-based-versions).
func (s *Server) isModern(m *inbound) bool {
	if len(s.modern) == 0 && !s.opts.ListVersionsToModern && !s.opts.AnswerDiscover {
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
