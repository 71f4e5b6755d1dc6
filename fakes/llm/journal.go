package llm

import (
	"net/http"
	"slices"
	"time"
)

// Exchange is one request that reached the server, and what became of it.
type Exchange struct {
	// Number counts the exchanges of a server from 1; the trace's events carry it.
	Number int64
	// Dialect is "" for a request to a path or by a method that no dialect has.
	Dialect string
	Method  string
	Path    string
	Header  http.Header
	// Body is the request's body as it came. It is cut short where the caller hung up, or the body was over the limit.
	Body []byte
	// Request is the body in neutral form; nil where it could not be read.
	Request *Request
	// Owner is the mark of the script that the request belongs to; "" is the server's own rules. Marks are all
	// the marks that were seen in it, sorted: others than the owner's have leaked into the conversation.
	Owner string
	Marks []string
	// Rule describes the rule that answered, Miss says why none did, and Refused why the request was refused before any
	// was tried. At most one of them is set.
	Rule    string
	Miss    string
	Refused string
	// Status is the HTTP status that was sent; 0 while there is none, and when the caller hung up before.
	Status int
	// HungUp is true when the caller went away before the answer was whole.
	HungUp bool
	// Began is when the request had come in, Ended when the answer had been handed over or the caller hung up; zero
	// before that.
	Began, Ended time.Time
}

// Journal returns the exchanges so far, in the order in which the requests came in. What the pointers, slices
// and maps in it point to is the server's own: do not change it.
func (s *Server) Journal() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	exchanges := make([]Exchange, len(s.journal))
	for i, x := range s.journal {
		exchanges[i] = *x
	}
	return exchanges
}

// Requests returns the requests so far in neutral form, in the order in which they came in, without those that could not be read.
func (s *Server) Requests() []Request {
	var requests []Request
	for _, x := range s.Journal() {
		if x.Request != nil {
			requests = append(requests, *x.Request)
		}
	}
	return requests
}

// Unused describes the rules that were used less often than they must be, the server's own first, then those of the
// marks in order.
func (s *Server) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	unused := s.scripts[""].unused()
	for _, mark := range slices.Sorted(slices.Values(s.marks)) {
		unused = append(unused, s.scripts[mark].unused()...)
	}
	return unused
}
