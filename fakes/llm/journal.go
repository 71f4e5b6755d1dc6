package llm

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Exchange is one request that reached the server, and its answer.
type Exchange struct {
	// Number counts a server's exchanges from 1. The trace's events carry it.
	Number int64
	// Dialect is "" if no dialect serves the path and method.
	Dialect string
	// SideRequest is true for a request outside conversations, such as for the model list. No rule applies to it.
	SideRequest bool
	Method      string
	Path        string
	Header      http.Header
	// Body is the request's body. It is incomplete if the caller hung up or the body exceeded the limit.
	Body []byte
	// Request is the neutral form, decoded again by each call of [Server.Journal]. Nil: the body is unreadable.
	Request *Request
	// Owner is the mark of the request's script; "" means the server's own rules. Marks are all marks in the
	// request, sorted: others than Owner leaked into the conversation.
	Owner string
	Marks []string
	// Host is true for a request of the host's own, which [Options.Agent] answers.
	Host bool
	// Rule describes the rule that answered, Miss says why none did, Refused why the server refused the request before
	// rules applied. At most one is set.
	Rule    string
	Miss    string
	Refused string
	// Fault names the rule's delivery faults; "" for none.
	Fault string
	// Status is the HTTP status sent; 0 while pending, or if the caller hung up before it.
	Status int
	// HungUp is true if the caller left before the answer was complete.
	HungUp bool
	// Closed is true if the server closed before the answer was complete.
	Closed bool
	// Began is when the request was read, Ended when the answer was written or the caller hung up. Zero before that.
	Began, Ended time.Time

	codec     dialect.Codec // nil if the body is unreadable
	completed []byte        // the body with what it refers to; nil if it does not refer to anything
	url       *url.URL
	dropped   bool // from the journal
}

// journal keeps a server's last exchanges within limits. The server's mutex guards it.
type journal struct {
	kept    []*Exchange // oldest first
	bytes   int64       // estimated memory
	number  int64       // of the last exchange
	dropped int64       // since the last reset
	misses  int64       // among those dropped
}

// exchangeCost estimates the memory of an exchange without its body, in bytes.
const exchangeCost = 2 << 10

func (x *Exchange) cost() int64 { return exchangeCost + int64(len(x.Body)+len(x.completed)) }

func (j *journal) open(x *Exchange, exchanges int, bytes int64) {
	j.number++
	x.Number, x.Began = j.number, time.Now()
	before := &Exchange{}
	if n := len(j.kept); n > 0 {
		before = j.kept[n-1]
	}
	x.detach(before)
	j.kept = append(j.kept, x)
	j.bytes += x.cost()
	for len(j.kept) > 1 && (len(j.kept) > exchanges || j.bytes > bytes) {
		oldest := j.kept[0]
		j.kept[0], j.kept = nil, j.kept[1:]
		j.bytes -= oldest.cost()
		j.dropped++
		if oldest.Miss != "" {
			j.misses++
		}
		oldest.dropped = true
	}
}

// detach copies the header and URL, which the request's sender or handler may reuse. It shares them with the previous
// exchange if they are equal, as for most clients, to save memory.
func (x *Exchange) detach(before *Exchange) {
	if maps.EqualFunc(x.Header, before.Header, slices.Equal) {
		x.Header = before.Header
	} else {
		x.Header = x.Header.Clone()
	}
	if before.url != nil && *x.url == *before.url {
		x.url, x.Path = before.url, before.Path
	} else {
		copied := *x.url
		x.url = &copied
	}
}

func (j *journal) end(x *Exchange, status int, h endReason) {
	x.Status, x.HungUp, x.Closed, x.Ended = status, h == hungUp, h == closed, time.Now()
}

// Journal returns the exchanges in order of arrival, without dropped ones: see [Server.Dropped]. Pointers, slices and
// maps in it belong to the server: do not change their contents.
func (s *Server) Journal() []Exchange {
	s.mu.Lock()
	exchanges := make([]Exchange, len(s.journal.kept))
	for i, x := range s.journal.kept {
		exchanges[i] = *x
	}
	s.mu.Unlock()
	for i := range exchanges {
		exchanges[i].decode()
	}
	return exchanges
}

// decode sets Request. The journal stores only bodies: they are smaller and cheaper for the garbage collector.
func (x *Exchange) decode() {
	if x.codec == nil {
		return
	}
	r := &http.Request{Method: x.Method, URL: x.url, Header: x.Header}
	body := x.Body
	if x.completed != nil {
		body = x.completed
	}
	req, refused := x.codec.Decode(r, body)
	if refused == nil { // always, as the first decoding succeeded
		req.Decoded = nil // internal to the codec
		x.Request = req
	}
}

// Dropped returns how many of the oldest exchanges the journal has dropped to stay within its limits.
func (s *Server) Dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.dropped
}

// Reset empties the journal and marks all rules unused. Exchanges in flight continue, and so does the numbering.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = journal{number: s.journal.number}
	s.stored = storage{}
	for _, script := range s.scripts {
		script.reset()
	}
}

// Requests returns the readable requests in neutral form, in order of arrival.
func (s *Server) Requests() []Request {
	var requests []Request
	for _, x := range s.Journal() {
		if x.Request != nil {
			requests = append(requests, *x.Request)
		}
	}
	return requests
}

// overused describes the rules that answered very often, in the order of Unused.
func (s *Server) overused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	often := s.scripts[""].overused()
	for _, mark := range slices.Sorted(slices.Values(s.marks)) {
		often = append(often, s.scripts[mark].overused()...)
	}
	return often
}

// Unused describes the rules that answered too rarely: the server's own first, then those of each mark in order.
func (s *Server) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	unused := s.scripts[""].unused()
	for _, mark := range slices.Sorted(slices.Values(s.marks)) {
		unused = append(unused, s.scripts[mark].unused()...)
	}
	return unused
}
