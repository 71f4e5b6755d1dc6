package cassettes

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// Request is a request to be compared. Its body has no secrets; otherwise it is as the client wrote it.
type Request struct {
	Method string
	URL    *url.URL
	Body   []byte
}

// Dialect returns the model's wire format; "" if the address has none.
func (r *Request) Dialect() string {
	if d := dialectOf(kindOf(r.Method, r.URL)); d != nil {
		return d.name
	}
	return ""
}

// Decode returns the request in neutral form: its messages, tools and parameters.
func (r *Request) Decode() (*dialect.Request, error) {
	d := dialectOf(kindOf(r.Method, r.URL))
	if d == nil {
		return nil, fmt.Errorf("%s %s is not a request to a model", r.Method, r.URL.Path)
	}
	return dialects.Decode(d.name, r.URL.Path, r.Body)
}

// rules say when two requests are equal, beyond what the dialect says.
type rules struct {
	ignored   [][]string // paths of members
	normalize []func(*Request)
	equal     func(recorded, sent *Request) bool // nil: by dialect and body
}

// Ignore excludes members of the JSON body from the comparison of requests, such as "max_tokens". A dot separates the
// names on the path to an inner member: "thinking.budget_tokens" or, in every element, "messages.cache_control".
func Ignore(members ...string) Option {
	return func(s *settings) {
		for _, member := range members {
			for name := range strings.SplitSeq(member, ".") {
				if name == "" || strings.ContainsAny(name, "[]$*") {
					s.wrong = fmt.Errorf("cannot ignore the member %q: expected names with dots between them, "+
						`without indexes, * and $, such as "messages.cache_control"`, member)
				}
			}
		}
		s.ignored = append(s.ignored, paths(members)...)
	}
}

// Normalize edits requests before they are compared: f replaces what differs between two runs, such as a date or a
// folder in a prompt. It gets copies of recorded and sent requests. What is sent and recorded does not change. It must
// be safe for concurrent use.
func Normalize(f func(*Request)) Option {
	return func(s *settings) { s.normalize = append(s.normalize, f) }
}

// WithMatcher replaces the comparison of requests: equal reports whether the answer to a recorded request is the answer
// to a sent one. Interactions are asked in recorded order, used ones only if no other is equal. It must be safe for
// concurrent use.
func WithMatcher(equal func(recorded, sent *Request) bool) Option {
	return func(s *settings) { s.equal = equal }
}

// request returns the comparable form of a request whose secrets have been removed.
func (m *rules) request(q *Request, header http.Header, clean *scrubber) *request {
	address := *q.URL
	q.URL = &address
	for _, edit := range m.normalize {
		edit(q)
	}
	r := newRequest(clean.Replace(kindOf(q.Method, q.URL)), header, string(q.Body))
	eachMember(r.body, m.ignored, func(o map[string]any, name string) { delete(o, name) })
	r.written = q
	return r
}
