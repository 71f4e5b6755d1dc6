package llm

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// route is a path and method of a dialect's conversations, or of what some serve besides, or of both.
type route struct {
	http.Handler // never called: the mux only finds the route
	codec        dialect.Codec
	asides       []dialect.Codec // in the order in which they are asked; each has [dialect.Asides]
}

// wrongMethod is a path of one.
type wrongMethod struct {
	http.Handler
	allowed string
}

// target is what a request is meant for: a codec's conversation, or an aside of it.
type target struct {
	dialect.Codec
	aside dialect.Asides // nil for a conversation
}

// routes is asked for routes, not to serve: it would answer unknown paths in its own way.
func routes() *http.ServeMux {
	byPattern, methods := map[string]*route{}, map[string][]string{}
	at := func(pattern string) *route {
		if byPattern[pattern] == nil {
			byPattern[pattern] = &route{}
			method, path, _ := strings.Cut(pattern, " ")
			methods[path] = append(methods[path], method)
		}
		return byPattern[pattern]
	}
	for _, d := range served {
		for _, pattern := range d.Patterns() {
			at(pattern).codec = d.Codec
		}
		if asides, ok := d.Codec.(dialect.Asides); ok {
			for _, pattern := range asides.AsidePatterns() {
				r := at(pattern)
				r.asides = append(r.asides, d.Codec)
			}
		}
	}
	mux := http.NewServeMux()
	for pattern, r := range byPattern {
		mux.Handle(pattern, r)
	}
	for path, allowed := range methods {
		mux.Handle(path, wrongMethod{allowed: strings.Join(allowed, ", ")})
	}
	return mux
}

// find returns what a request is meant for, or the answer for one that is meant for nothing here.
func (s *Server) find(r *http.Request) (target, *misdirected) {
	if !s.local(r.Host) {
		return target{}, &misdirected{status: http.StatusForbidden, text: fmt.Sprintf(
			"host %q is not served: this is a test's model server, for 127.0.0.1, localhost and [::1] only", r.Host)}
	}
	h, _ := s.mux.Handler(r)
	switch h := h.(type) {
	case *route:
		for _, codec := range h.asides {
			if aside := codec.(dialect.Asides); aside.Claims(r) {
				return target{codec, aside}, nil
			}
		}
		if h.codec != nil {
			return target{Codec: h.codec}, nil
		}
	case wrongMethod:
		return target{}, &misdirected{status: http.StatusMethodNotAllowed, allow: h.allowed, text: fmt.Sprintf(
			"%s %s is not served: want %s", r.Method, r.URL.Path, h.allowed)}
	}
	var there []string
	for _, d := range served {
		patterns := d.Patterns()
		if asides, ok := d.Codec.(dialect.Asides); ok {
			patterns = slices.Concat(patterns, asides.AsidePatterns())
		}
		for _, pattern := range patterns {
			there = append(there, fmt.Sprintf("%s (%s)", pattern, d.Name()))
		}
	}
	return target{}, &misdirected{status: http.StatusNotFound, text: fmt.Sprintf(
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
