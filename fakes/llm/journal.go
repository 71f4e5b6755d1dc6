package llm

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Exchange is one request that reached the server, and what became of it.
type Exchange struct {
	// Number counts the exchanges of a server from 1; the trace's events carry it.
	Number int64
	// Dialect is "" for a request to a path or by a method that no dialect has.
	Dialect string
	// Aside is true for a request beside the conversation, such as one for the list of models. No rule is asked about it.
	SideRequest bool
	Method      string
	Path        string
	Header      http.Header
	// Body is the request's body as it came. It is cut short where the caller hung up, or the body was over the limit.
	Body []byte
	// Request is the body in neutral form, read anew for each call of [Server.Journal]; nil where it could not be read.
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
	// Fault names what the rule let go wrong with the answer; "" is nothing.
	Fault string
	// Status is the HTTP status that was sent; 0 while there is none, and when the caller hung up before.
	Status int
	// HungUp is true when the caller went away before the answer was whole.
	HungUp bool
	// Closed is true when the server was closed before the answer was whole.
	Closed bool
	// Began is when the request had come in, Ended when the answer had been handed over or the caller hung up; zero
	// before that.
	Began, Ended time.Time

	codec   dialect.Codec // that can read the body; nil where none can
	url     *url.URL
	dropped bool // from the journal
}

// journal keeps the last exchanges of a server, within limits. The server's mutex guards it.
type journal struct {
	kept    []*Exchange // the oldest first
	bytes   int64       // they take, roughly
	number  int64       // of the last exchange
	dropped int64       // since the start or the last reset
	misses  int64       // among those dropped
}

// exchangeCost is what an exchange takes beside its body: itself, its headers and its texts.
const exchangeCost = 2 << 10

func (x *Exchange) cost() int64 { return exchangeCost + int64(len(x.Body)) }

func (j *journal) open(x *Exchange, exchanges int, bytes int64) {
	j.number++
	x.Number, x.Began = j.number, time.Now()
	before := &Exchange{}
	if n := len(j.kept); n > 0 {
		before = j.kept[n-1]
	}
	x.own(before)
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

// own makes the header and the address the journal's own, for those of the request are whoever's who sent or serves it. What is the same as in the
// exchange before, as it mostly is where one client asks again and again, is taken from there: so the journal holds it once.
func (x *Exchange) own(before *Exchange) {
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

func (j *journal) end(x *Exchange, status int, h how) {
	x.Status, x.HungUp, x.Closed, x.Ended = status, h == hungUp, h == closed, time.Now()
}

// Journal returns the exchanges so far, in the order in which the requests came in, without those that were dropped: see [Server.Dropped].
// What the pointers, slices and maps in it point to is the server's own: do not change it.
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

// decode sets the Request. The journal keeps only what came in, which is smaller, and spares the garbage collector its parts.
func (x *Exchange) decode() {
	if x.codec == nil {
		return
	}
	r := &http.Request{Method: x.Method, URL: x.url, Header: x.Header}
	req, refused := x.codec.Decode(r, x.Body)
	if refused == nil { // which it was not the first time either
		req.Decoded = nil // a codec's own
		x.Request = req
	}
}

// Dropped is how many exchanges the journal has dropped, the oldest first, because of its limits.
func (s *Server) Dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.dropped
}

// Reset empties the journal and lets the rules begin anew, as if they had not been used. Exchanges in flight go on; the numbers of
// exchanges do, too.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = journal{number: s.journal.number}
	for _, script := range s.scripts {
		script.reset()
	}
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
