package llm

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// route is a path and method of a dialect, wrongMethod a path of one.
type route struct {
	http.Handler // never called: the mux only finds the route
	dialect.Codec
}

type wrongMethod struct {
	http.Handler
	allowed string
}

// routes is asked for routes, not to serve: it would answer unknown paths in its own way.
func routes() *http.ServeMux {
	mux, paths := http.NewServeMux(), map[string]string{}
	for _, d := range served {
		for _, pattern := range d.Patterns() {
			method, path, _ := strings.Cut(pattern, " ")
			mux.Handle(pattern, route{Codec: d.Codec})
			paths[path] = strings.TrimPrefix(paths[path]+", "+method, ", ")
		}
	}
	for path, methods := range paths {
		mux.Handle(path, wrongMethod{allowed: methods})
	}
	return mux
}

// find returns the codec of a request, or the answer for one that has none.
func (s *Server) find(r *http.Request) (dialect.Codec, *misdirected) {
	if !s.local(r.Host) {
		return nil, &misdirected{status: http.StatusForbidden, text: fmt.Sprintf(
			"host %q is not served: this is a test's model server, for 127.0.0.1, localhost and [::1] only", r.Host)}
	}
	h, _ := s.mux.Handler(r)
	switch h := h.(type) {
	case route:
		return h.Codec, nil
	case wrongMethod:
		return nil, &misdirected{status: http.StatusMethodNotAllowed, allow: h.allowed, text: fmt.Sprintf(
			"%s %s is not served: want %s", r.Method, r.URL.Path, h.allowed)}
	}
	var there []string
	for _, d := range served {
		for _, pattern := range d.Patterns() {
			there = append(there, fmt.Sprintf("%s (%s)", pattern, d.Name()))
		}
	}
	return nil, &misdirected{status: http.StatusNotFound, text: fmt.Sprintf(
		"%s %s is not served: there are %s", r.Method, r.URL.Path, strings.Join(there, ", "))}
}

// local reports whether a request is for this machine, or for the host that the listener itself names. Others come from a
// browser that was led here under a foreign name.
func (s *Server) local(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return true
	}
	return strings.EqualFold(host, "localhost") || host == s.host
}

// misdirected is a request that reaches no dialect, and so gets no provider's error.
type misdirected struct {
	status int
	text   string
	allow  string
}

func (m *misdirected) answer() dialect.Answer {
	h := http.Header{"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}}
	if m.allow != "" {
		h.Set("Allow", m.allow)
	}
	return dialect.Answer{Status: m.status, Header: h, Chunks: [][]byte{dialect.Marshal(map[string]string{"error": m.text})}}
}
