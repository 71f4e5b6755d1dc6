package llm

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// Default limits.
const (
	defaultMaxBody      = 32 << 20
	defaultMaxExchanges = 10_000
	defaultMaxJournal   = 8 << 20
)

// Options configure a server. The zero value is a strict server on a free loopback port.
type Options struct {
	// Record receives every event; may be nil. Event.Case is the owner's mark or "". Calls are concurrent, but in order
	// for one exchange, and precede the caller's view of the event. If the last chunk could not be written, a second
	// ModelEnd corrects the first.
	Record func(trace.Event) trace.Ref
	// Key is the planted API key. The trace keeps it, but replaces other credentials by tokens.
	Key string
	// Exposed also answers callers on other machines, under any host name. Every request must then have the Key: as
	// bearer token, in x-api-key, api-key or x-goog-api-key, or as ?key=. Without it, only requests for this machine are
	// answered, and any key is accepted.
	Exposed bool
	// Prefix is a path before all others, such as "/k3J9", which [Server.URL] and all base URLs then have. A request
	// without it is not the business of this server: it gets 404, is counted in [Server.Strangers], and is not recorded.
	Prefix string
	// Lenient disables the provider's rules for histories, roles and tools.
	Lenient bool
	// Listener is where to serve; Close closes it. Nil: a free port of 127.0.0.1, or memory in a synctest bubble.
	Listener net.Listener
	// Source answers instead of rules; may be nil.
	Source Source
	// Agent answers the host's own requests, and those that belong to no mark; nil for a caller without such requests.
	Agent *Agent
	// Pace applies to rules without their own.
	Pace Pace
	// MaxBody limits a request's body, in bytes. 0: 32 MiB.
	MaxBody int64
	// MaxExchanges and MaxJournal (estimated bytes) limit the journal, which drops its oldest exchanges but never the
	// newest. 0: 10,000 exchanges, 8 MiB.
	MaxExchanges int
	MaxJournal   int64
}

// planted reports whether the text contains the planted key.
func (o *Options) planted(text string) bool { return o.Key != "" && strings.Contains(text, o.Key) }

// Source answers requests, for example from a cassette. It must be safe for concurrent use. An error is a miss, which
// the caller receives in the provider's shape.
type Source interface {
	Answer(*Request) (Answer, error)
}

// Server is a scripted model server. It is safe for concurrent use.
type Server struct {
	// URL is the server's address, without path (except [Options].Prefix) or final slash. It is one of this machine, also
	// if the listener has all addresses.
	URL string

	options Options
	address string // of the listener
	host    string // of the address
	routes  []route
	http    *http.Server
	client  *http.Client
	agent   *agent // nil for none
	strange atomic.Int64
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when http has stopped

	refusals atomic.Bool // permitted in a test

	mu       sync.Mutex
	scripts  map[string]*script // by mark; "" for the server's own rules
	marks    []string
	journal  journal
	stored   storage
	closed   bool
	inFlight sync.WaitGroup
}

// Start starts a server with rules; the caller must close it. It fails if a rule is invalid, if there are both rules
// and a Source, or if it cannot listen.
func Start(o Options, rules ...*Rule) (*Server, error) {
	if o.Source != nil && len(rules) > 0 {
		return nil, errors.New("starting the model server: both rules and a Source are given: expected one of them")
	}
	if o.Exposed && o.Key == "" {
		return nil, errors.New("starting the model server: it is exposed to other machines without a Key: expected one")
	}
	if err := o.Pace.Validate(); err != nil {
		return nil, fmt.Errorf("starting the model server: the configuration %w", err)
	}
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.MaxExchanges <= 0 {
		o.MaxExchanges = defaultMaxExchanges
	}
	if o.MaxJournal <= 0 {
		o.MaxJournal = defaultMaxJournal
	}
	own, err := newScript("the server", firstSerial(""), rules)
	if err != nil {
		return nil, fmt.Errorf("starting the model server: %w", err)
	}
	if o.Listener == nil {
		if o.Listener, err = memnet.ListenLocally(); err != nil {
			return nil, fmt.Errorf("starting the model server: %w", err)
		}
	}
	address := o.Listener.Addr().String()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address // a listener without ports
	}
	s := &Server{
		URL:     "http://" + reachable(address) + o.Prefix,
		options: o, address: address, host: host, routes: routes(),
		scripts: map[string]*script{"": own}, agent: newAgent(o.Agent), client: memnet.ClientOf(o.Listener),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	s.http = &http.Server{Handler: s.prefixed(s.serveUntilClosed)}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(o.Listener) // returns after Close
	}()
	return s, nil
}

// reachable returns the address at which this machine reaches a listener: that of a listener on all addresses, such as
// 0.0.0.0, is not one.
func reachable(address string) string {
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return address
}

// OpenAI returns the base URL for OpenAI's SDKs, chat and responses: OPENAI_BASE_URL.
func (s *Server) OpenAI() string { return s.BaseURLs()[dialect.OpenAIChat] }

// Azure returns the endpoint for the SDKs of Azure OpenAI: AZURE_OPENAI_ENDPOINT. The deployment is the model. OpenAI's
// SDK for Go needs azure.WithUnsafeAllowHTTP, too.
func (s *Server) Azure() string { return s.URL }

// Anthropic returns the base URL for Anthropic's SDKs: ANTHROPIC_BASE_URL.
func (s *Server) Anthropic() string { return s.BaseURLs()[dialect.Anthropic] }

// Ollama returns the address for Ollama's clients: OLLAMA_HOST.
func (s *Server) Ollama() string { return s.BaseURLs()[dialect.Ollama] }

// Gemini returns the base URL for Google's SDKs: GOOGLE_GEMINI_BASE_URL (Gemini API), GOOGLE_VERTEX_BASE_URL (Vertex
// AI).
func (s *Server) Gemini() string { return s.BaseURLs()[dialect.Gemini] }

// Native returns the URL to which an adapter posts a CreateMessageRequestParams.
func (s *Server) Native() string { return s.BaseURLs()[dialect.Native] }

// BaseURLs returns the base URL of each dialect by name, as its clients expect it.
func (s *Server) BaseURLs() map[string]string {
	bases := map[string]string{}
	for _, d := range dialects.Codecs {
		bases[d.Name()] = s.URL + d.Facts().Apart + d.Facts().Base
	}
	return bases
}

// Script adds the rules of one marked conversation. The mark is a word of at least six characters a-z and 0-9 in the
// conversation's requests; no mark may contain another. Only these rules answer requests with the mark. With a [Source]
// there are no rules, and the mark only identifies the conversation.
func (s *Server) Script(mark string, rules ...*Rule) error {
	if s.options.Source != nil && len(rules) > 0 {
		return fmt.Errorf("script of mark %q: both rules and a Source are given: expected one of them", mark)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := checkMark(mark, s.scripts); err != nil {
		return err
	}
	added, err := newScript("mark "+mark, firstSerial(mark), rules)
	if err != nil {
		return err
	}
	s.scripts[mark] = added
	s.marks = append(s.marks, mark)
	return nil
}

// Handler returns the server's handler, for another server. It works after Close, which only ends its waits and stalls.
func (s *Server) Handler() http.Handler { return s.prefixed(s.serve) }

// Client returns an HTTP client that reaches the server, also in a synctest bubble: there the server listens in memory.
func (s *Server) Client() *http.Client { return s.client }

// Strangers returns how many requests came without [Options].Prefix.
func (s *Server) Strangers() int64 { return s.strange.Load() }

func (s *Server) prefixed(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, s.options.Prefix+"/") {
			s.strange.Add(1)
			http.NotFound(w, r)
			return
		}
		http.StripPrefix(s.options.Prefix, apart(serve)).ServeHTTP(w, r)
	})
}

func (s *Server) serveUntilClosed(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.inFlight.Add(1)
	s.mu.Unlock()
	defer s.inFlight.Done()
	s.serve(w, r)
}

// Close closes the listener and all connections, and returns when the exchanges in flight have ended. It may be called
// again.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	s.client.CloseIdleConnections()
	_ = s.http.Close() // a failed connection is closed too
	<-s.ended
	s.inFlight.Wait()
}
