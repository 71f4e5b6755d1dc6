package llm

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/openai"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// route is a codec's pattern, for conversations or side requests.
type route struct {
	method   string
	literal  string   // the path, if it has no wildcard
	segments []string // "" is a wildcard
	open     bool     // more segments may follow
	target
}

// target is a codec's conversations or its side requests.
type target struct {
	dialect.Codec
	side dialect.SideRequests // nil for conversations
}

// routes returns all routes, side requests first: what no codec claims there may be a conversation. Codecs may share
// patterns, or have patterns that overlap without one being more specific, which [http.ServeMux] rejects.
func routes() []route {
	var sideRoutes, conversations []route
	for _, d := range dialects.Codecs {
		if a, ok := d.(dialect.SideRequests); ok {
			for _, pattern := range a.SideRequestPatterns() {
				sideRoutes = append(sideRoutes, newRoute(pattern, target{d, a}))
			}
		}
		for _, pattern := range d.Patterns() {
			conversations = append(conversations, newRoute(pattern, target{Codec: d}))
		}
	}
	return append(sideRoutes, conversations...)
}

// newRoute parses a pattern of [http.ServeMux]: a method and a path with {name} for a segment, a final {name...} for
// several, or a final {$}.
func newRoute(pattern string, to target) route {
	method, path, _ := strings.Cut(strings.TrimSuffix(pattern, "{$}"), " ")
	r := route{method: method, target: to, segments: strings.Split(path, "/")}
	if !strings.Contains(path, "{") {
		r.literal = path
	}
	for i, s := range r.segments {
		if !strings.HasPrefix(s, "{") {
			continue
		}
		r.segments[i] = ""
		if strings.HasSuffix(s, "...}") {
			r.segments, r.open = r.segments[:i], true
		}
	}
	return r
}

func (r *route) matches(path string) bool {
	if r.literal != "" {
		return path == r.literal
	}
	rest, more := path, true
	for i, want := range r.segments {
		if !more {
			return false
		}
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if i > 0 && want == "" && segment == "" || i > 0 && want != "" && segment != want || i == 0 && segment != "" {
			return false
		}
	}
	return more == r.open
}

// apartPaths are those of [dialect.Facts].Apart that are not empty.
var apartPaths = func() (paths []string) {
	for _, d := range dialects.Codecs {
		if path := d.Facts().Apart; path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}()

// apart removes [dialect.Facts].Apart from the path of a request, and notes that in the request.
func apart(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, path := range apartPaths {
			if r.URL.Path != path && !strings.HasPrefix(r.URL.Path, path+"/") {
				continue
			}
			r = dialect.BelowApart(r)
			r.URL.Path = cmp.Or(strings.TrimPrefix(r.URL.Path, path), "/")
			r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, path)
		}
		serve(w, r)
	}
}

// find returns the target of a request, or the error response for an unknown one.
func (s *Server) find(r *http.Request) (target, *routingError) {
	if from := s.foreign(r); from != "" {
		return target{}, &routingError{url: r.URL, header: r.Header, status: http.StatusForbidden, text: fmt.Sprintf(
			"%s is not served: this is a test's model server, for 127.0.0.1, localhost and [::1] only", from)}
	}
	var allowed []string
	for i := range s.routes {
		at := &s.routes[i]
		switch {
		case !at.matches(r.URL.Path) || at.side != nil && !at.side.Claims(r):
		case at.method != r.Method:
			if !slices.Contains(allowed, at.method) {
				allowed = append(allowed, at.method)
			}
		default:
			return at.target, nil
		}
	}
	if !s.hasKey(r) {
		return target{}, &routingError{url: r.URL, header: r.Header, status: http.StatusUnauthorized, text: noKey}
	}
	if len(allowed) > 0 {
		methods := strings.Join(allowed, ", ")
		return target{}, &routingError{url: r.URL, header: r.Header, status: http.StatusMethodNotAllowed, allow: methods,
			text: fmt.Sprintf("%s %s is not served: expected %s", r.Method, r.URL.Path, methods)}
	}
	return target{}, &routingError{url: r.URL, header: r.Header, status: http.StatusNotFound, text: fmt.Sprintf(
		"%s %s is not served: %s", r.Method, r.URL.Path, served(r.URL.Path))}
}

// served names the pattern that ends like a path, whose base URL is probably wrong, or else those below its base URL,
// or the base URLs.
func served(path string) string {
	var patterns, bases []string
	for _, d := range dialects.Codecs {
		pattern := d.Patterns()[0]
		_, full, _ := strings.Cut(pattern, " ")
		top := topOf(full)
		if top == topOf(path) {
			name := d.Name()
			if below := d.Facts().Apart; below != "" {
				name += "; its base URL ends in " + below
			}
			patterns = append(patterns, fmt.Sprintf("%s (%s)", pattern, name))
		}
		if !slices.Contains(bases, top) {
			bases = append(bases, top)
		}
		if base := d.Facts().Base; strings.HasSuffix(path, strings.TrimPrefix(full, base)) && len(full) > len(base) {
			return fmt.Sprintf("is the base URL wrong? That of %s is the address of this server%s", d.Name(), base)
		}
	}
	if patterns == nil {
		return "paths begin with " + strings.Join(bases, ", ")
	}
	return "there are " + strings.Join(patterns, ", ")
}

// topOf returns the first segment of a path, such as /v1.
func topOf(path string) string {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + top
}

const noKey = "the key is missing or wrong: this model server is exposed to other machines, and wants the key it was " +
	"started with"

// hasKey reports whether a request has the key, where any provider expects it. Only an exposed server requires it.
func (s *Server) hasKey(r *http.Request) bool {
	if !s.options.Exposed {
		return true
	}
	all := []string{strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.URL.Query().Get("key")}
	for _, d := range dialects.Codecs {
		all = append(all, r.Header.Get(d.Facts().KeyHeader))
	}
	for _, given := range all {
		if subtle.ConstantTimeCompare([]byte(given), []byte(s.options.Key)) == 1 {
			return true
		}
	}
	return false
}

// foreign returns the host or the origin for which a request is refused: a page in a browser must not reach the
// server.
// It is "" for others.
func (s *Server) foreign(r *http.Request) string {
	if s.options.Exposed {
		return ""
	}
	if !s.local(r.Host) {
		return fmt.Sprintf("host %q", r.Host)
	}
	for _, origin := range r.Header["Origin"] {
		if u, err := url.Parse(origin); err != nil || !s.local(u.Host) {
			return fmt.Sprintf("origin %q", origin)
		}
	}
	return ""
}

// local reports whether a request's host is this machine or the listener's address. Any other host may be a browser
// attack by DNS rebinding.
func (s *Server) local(hostport string) bool {
	if s.address != "" && hostport == s.address {
		return true
	}
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return true
	}
	return strings.EqualFold(host, "localhost") || host == s.host
}

// routingError is a request outside all dialects.
type routingError struct {
	url    *url.URL
	header http.Header
	status int
	text   string
	allow  string
}

// answer writes the error in the shape of the API that has the path; Anthropic and OpenAI share /v1.
func (m *routingError) answer() dialect.Answer {
	nearest, longest := dialects.Codecs[0], -1
	for _, d := range dialects.Codecs {
		_, path, _ := strings.Cut(d.Patterns()[0], " ")
		same := 0
		for ; same < min(len(path), len(m.url.Path)) && path[same] == m.url.Path[same]; same++ {
		}
		if d.Name() == dialect.Anthropic && m.header.Get("Anthropic-Version") != "" && topOf(m.url.Path) == topOf(path) {
			same = len(path)
		}
		if same > longest && same > 1 {
			nearest, longest = d, same
		}
	}
	if longest < 0 || topOf(m.url.Path) == "/native" {
		nearest = openai.Chat // the shape that most SDKs read
	}
	e := &Error{Status: m.status, Code: notServed, Message: m.text, Header: http.Header{"X-Should-Retry": {"false"}}}
	if m.allow != "" {
		e.Header.Set("Allow", m.allow)
	}
	return nearest.EncodeError(e.At(m.url))
}

// notServed is the code of what the server does not answer, where an API has codes.
const notServed = "not_served"
