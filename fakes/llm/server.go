package llm

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/anthropic"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/gemini"
	"github.com/mcp-conform/mcp-conform/fakes/llm/native"
	"github.com/mcp-conform/mcp-conform/fakes/llm/ollama"
	"github.com/mcp-conform/mcp-conform/fakes/llm/openai"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// served are the dialects, each with what a client is told: the base URL that its SDK expects, relative to the server's.
var served = []struct {
	dialect.Codec
	base string
}{
	{native.Codec, "/native"},
	{openai.Chat, "/v1"},
	{openai.Responses, "/v1"},
	{anthropic.Messages, ""},     // SDKs append /v1/messages
	{gemini.GenerateContent, ""}, // and /v1beta/models/…
	{ollama.Chat, ""},            // and /api/chat
	{openai.Mistral, "/mistral/v1"},
	{openai.OpenRouter, "/openrouter/v1"},
	{openai.Groq, "/groq/v1"},
	{openai.XAI, "/xai/v1"},
	{openai.IndexFromOne, "/index-from-one/v1"},
}

// The limits when none are given: of a request's body, and of the journal.
const (
	defaultMaxBody      = 32 << 20
	defaultMaxExchanges = 10_000
	defaultMaxJournal   = 8 << 20
)

// Options say how a server behaves. The zero value is a strict server on a loopback port of its own.
type Options struct {
	// Record is given every event; nil records nothing. Event.Case is the mark of the owner, or "". It is called from
	// several goroutines at once, for the events of one exchange in order, and before the caller can see what they tell of.
	// Where the last chunk could not be written after all, a second ModelEnd corrects the first.
	Record func(trace.Event) trace.Ref
	// Key is the planted API key, which is kept in the trace where other credentials become tokens.
	Key string
	// Lenient leaves out the provider's own rules of histories, roles and tools.
	Lenient bool
	// Listener is what to serve on, and closed by Close; nil is a free port of 127.0.0.1.
	Listener net.Listener
	// Source answers in place of rules; nil: the rules do.
	Source Source
	// Pace is how fast the model speaks where a rule does not say.
	Pace Pace
	// MaxBody limits a request's body, in bytes; 0: 32 MiB.
	MaxBody int64
	// MaxExchanges and MaxJournal, in bytes of memory, roughly, limit the journal: the oldest exchanges are dropped for new ones, but
	// never the newest. 0: 10,000 exchanges and 8 MiB.
	MaxExchanges int
	MaxJournal   int64
}

// planted reports whether a text holds the planted key.
func (o *Options) planted(text string) bool { return o.Key != "" && strings.Contains(text, o.Key) }

// Source answers requests, as a cassette does. It is called from several goroutines at once. Its error is a miss, which the
// caller gets in the provider's shape.
type Source interface {
	Answer(*Request) (Answer, error)
}

// Server is a scripted model server. Its methods are safe for concurrent use.
type Server struct {
	// URL is where the server is, without a path and without a slash at its end.
	URL string

	options Options
	address string // of the listener
	host    string // in it
	routes  []route
	known   map[string]*route // of them, by path
	http    *http.Server
	closing chan struct{} // closed when Close is called
	ended   chan struct{} // closed when http serves no more

	mu       sync.Mutex
	scripts  map[string]*script // by mark; "" are the server's own rules
	marks    []string
	journal  journal
	closed   bool
	inFlight sync.WaitGroup
}

// Start starts a server with rules, to be closed by the caller. It fails when a rule makes no sense, when there are rules
// beside a Source, or when it cannot listen.
func Start(o Options, rules ...*Rule) (*Server, error) {
	if o.Source != nil && len(rules) > 0 {
		return nil, errors.New("starting the model server: there are rules and a Source: want one of them")
	}
	if err := o.Pace.Validate(); err != nil {
		return nil, fmt.Errorf("starting the model server: it %w", err)
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
		if o.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("starting the model server: %w", err)
		}
	}
	address := o.Listener.Addr().String()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address // of a listener that knows no ports
	}
	all := routes()
	s := &Server{
		URL:     "http://" + address,
		options: o, address: address, host: host, routes: all, known: known(all),
		scripts: map[string]*script{"": own},
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serveUntilClosed)}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(o.Listener) // ends by Close
	}()
	return s, nil
}

// OpenAI is the base URL for OpenAI's SDKs, for chat and responses: OPENAI_BASE_URL.
func (s *Server) OpenAI() string { return s.Bases()[dialect.OpenAIChat] }

// Anthropic is the base URL for Anthropic's SDKs: ANTHROPIC_BASE_URL.
func (s *Server) Anthropic() string { return s.Bases()[dialect.Anthropic] }

// Ollama is the address for Ollama's clients: OLLAMA_HOST.
func (s *Server) Ollama() string { return s.Bases()[dialect.Ollama] }

// Gemini is the base URL for Google's SDKs, of the Gemini API and of Vertex AI: GOOGLE_GEMINI_BASE_URL, GOOGLE_VERTEX_BASE_URL.
func (s *Server) Gemini() string { return s.Bases()[dialect.Gemini] }

// Native is the address of the native dialect, to which an adapter posts a CreateMessageRequestParams.
func (s *Server) Native() string { return s.Bases()[dialect.Native] }

// Bases returns the base URL of each dialect, by its name: what a client in that dialect has to be told.
func (s *Server) Bases() map[string]string {
	bases := map[string]string{}
	for _, d := range served {
		bases[d.Name()] = s.URL + d.base
	}
	return bases
}

// Script adds the rules of one marked conversation. The mark is a word of at least six of a-z and 0-9 that stands somewhere
// in the conversation's requests; none may contain another. Requests with the mark are answered by these rules only. With a
// [Source] there are no rules, and the mark only tells conversations apart.
func (s *Server) Script(mark string, rules ...*Rule) error {
	if s.options.Source != nil && len(rules) > 0 {
		return fmt.Errorf("script of mark %q: there are rules and a Source: want one of them", mark)
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

// Handler returns the server's handler, to be mounted elsewhere. It goes on after Close, which ends only its waits and stalls.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

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

// Close closes the listener and every connection at once, and returns when the exchanges in flight have ended. It may be
// called again.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	_ = s.http.Close() // what could not be closed is gone
	<-s.ended
	s.inFlight.Wait()
}
