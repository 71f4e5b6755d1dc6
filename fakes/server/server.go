package server

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// ResponseMode selects how the server responds to a POST. Clients must support both ways (2025-11-25,
// basic/transports#sending-messages-to-the-server).
type ResponseMode int

const (
	// Auto responds to a legacy tools/call with a stream, because the handler may send more, and to all else with JSON.
	Auto ResponseMode = iota
	// SSE responds to every request with a stream.
	SSE
	// JSON responds to every request with plain JSON. Legacy samples then go out on the client's GET stream, and a
	// handler that samples waits until the client has opened one. In modern revisions, only [Transport.Send] and
	// [Session.Progress] turn a response into a stream.
	JSON
)

// Options configures a server. The zero value is a server that speaks all revisions.
type Options struct {
	// Name is the server's name in serverInfo; "" is "mcp-conform".
	Name string
	// Revisions lists what the server speaks; nil is all. With legacy and modern ones among them, it serves each client
	// by how that client opens (2026-07-28, basic/versioning).
	Revisions []Revision
	// ListVersionsToModern makes a server without modern revisions respond to modern requests with
	// UnsupportedProtocolVersionError, which lists its revisions (2026-07-28,
	// basic/versioning#protocol-version-negotiation). Without it, such a server treats them as requests before
	// initialize.
	ListVersionsToModern bool
	// AnswerDiscover makes such a server respond to server/discover with a result that lists its revisions.
	AnswerDiscover bool
	// ResponseMode selects streams or plain JSON.
	ResponseMode ResponseMode
	// ToolsPerPage is how many tools a result of tools/list has at most (2025-11-25, server/utilities/pagination); 0 for
	// all.
	ToolsPerPage int
	// Record receives every frame, with the name of the tool as the event's Case: a server frame before the client can
	// respond, a client frame before it is parsed. Several goroutines call it at once. It may keep the event and must
	// not call the server. There are no calls after Close has returned nil. Nil records nothing.
	Record func(trace.Event) trace.Ref
	// IsPlantedSecret reports whether a text holds a secret that was planted to detect leaks. A header with one is
	// recorded as it is; other credentials become tokens. It must be safe for concurrent use. Nil means that nothing was
	// planted.
	IsPlantedSecret func(string) bool
	// Seed determines session ids and request states: equal seeds give equal ones, so that runs can be compared.
	Seed int64
	// Listener accepts the connections, and Close closes it. Nil is a free port of 127.0.0.1, or memory in a synctest
	// bubble.
	Listener net.Listener
	// Prefix is a path before /mcp, such as "/k3J9", which [Server.URL] then has. A request without it gets 404, is
	// counted in [Server.Strangers], and is not recorded.
	Prefix string
	// MaxBody limits the body of a POST, and a line on a connection, in bytes; 0 is 64 MiB.
	MaxBody int64
	// NoMetaEcho stops the server from copying the _meta of a tools/call into its sampling requests. Some clients match
	// the two by it, so by default it is copied, without progressToken and the fields that the protocol reserves.
	NoMetaEcho bool
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	// URL is the MCP endpoint.
	URL string

	opts   Options
	legacy []Revision // newest first
	modern []Revision
	tools  []*serverTool
	byName map[string]*serverTool // by serverTool.key
	host   *http.Server
	client *http.Client
	replay *replayed // nil unless a recording is served

	ctx      context.Context
	cancel   context.CancelFunc
	served   chan struct{}  // closed when nothing is accepted any more
	ended    chan struct{}  // closed when Close has done its work
	handlers sync.WaitGroup // of tools
	requests sync.WaitGroup // of HTTP, and connections
	strange  atomic.Int64

	mu       sync.Mutex
	closed   bool
	rnd      *rand.Rand
	sessions map[string]*legacySession
	streams  map[string]int                 // the number of streams of each kind
	calls    map[*serverTool]int            // the number of calls
	waiters  map[*serverTool][]registration // modern calls that wait, or have waited, for a retry; oldest first
	running  map[scope]struct{}             // handlers
	problems []string
	journal  []*Call // oldest first
}

// TB is the part of [testing.TB] that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// New is [NewWith] with default options.
func New(t TB, tools ...Tool) *Server {
	t.Helper()
	return NewWith(t, Options{}, tools...)
}

// NewWith starts a server and closes it at the end of the test. It fails the test when the server cannot start, when a
// handler breaks the protocol without [Hostile], and when a tool is never called that is not [Tool.Optional].
func NewWith(t TB, o Options, tools ...Tool) *Server {
	t.Helper()
	srv, err := Start(o, tools...)
	return started(t, srv, err)
}

// started closes the server at the end of the test, and fails the test for what went wrong.
func started(t TB, srv *Server, err error) *Server {
	t.Helper()
	if err != nil {
		t.Fatalf("starting the fake MCP server: %v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Errorf("closing the fake MCP server: %v", err)
		}
		for _, problem := range srv.Problems() {
			t.Errorf("fake MCP server: %s", problem)
		}
		for _, uncalled := range srv.Uncalled() {
			t.Errorf("fake MCP server: %s", uncalled)
		}
	})
	return srv
}

// Start starts a server, which the caller closes. The error names the invalid tool, the unknown revision, or the
// address that is in use.
func Start(o Options, tools ...Tool) (*Server, error) { return start(o, nil, tools...) }

func start(o Options, recorded *replayed, tools ...Tool) (*Server, error) {
	if o.Revisions == nil {
		o.Revisions = AllRevisions()
	}
	if len(o.Revisions) == 0 {
		return nil, fmt.Errorf("Options.Revisions is empty: expected some of %v, or nil for all", AllRevisions())
	}
	for _, r := range o.Revisions {
		if !slices.Contains(AllRevisions(), r) {
			return nil, fmt.Errorf("unknown revision %q: expected one of %v", r, AllRevisions())
		}
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	if o.Name == "" {
		o.Name = "mcp-conform"
	}
	s := &Server{
		replay: recorded, opts: o, legacy: only(o.Revisions, false), modern: only(o.Revisions, true),
		byName: map[string]*serverTool{}, sessions: map[string]*legacySession{}, streams: map[string]int{},
		calls: map[*serverTool]int{}, waiters: map[*serverTool][]registration{},
		running: map[scope]struct{}{}, rnd: rand.New(rand.NewPCG(uint64(o.Seed), 0x6d6370)),
		served: make(chan struct{}), ended: make(chan struct{}),
	}
	for i, t := range tools {
		compiled, err := compileTool(t, i)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.tools, func(o *serverTool) bool { return o.Name == t.Name }) {
			return nil, fmt.Errorf("two tools are named %s", t.Name)
		}
		s.tools = append(s.tools, compiled)
		s.byName[compiled.key()] = compiled
	}
	if o.Listener == nil {
		listener, err := memnet.ListenLocally()
		if err != nil {
			return nil, fmt.Errorf("the fake MCP server cannot listen: %w", err)
		}
		o.Listener = listener
	}
	s.client = memnet.ClientOf(o.Listener)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.URL = "http://" + o.Listener.Addr().String() + o.Prefix + "/mcp"
	s.host = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: 256 << 10,
		ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.served)
		_ = s.host.Serve(o.Listener) // returns ErrServerClosed after Close
	}()
	return s, nil
}

// headerTimeout is how long a client may take to send the headers of a request, also of the first one on a connection
// that it keeps ready. It is no round number: a client whose own limit ends at the same moment would respond on a
// connection that is being closed.
const headerTimeout = 97 * time.Second

// Client returns an HTTP client that reaches the server, also in a synctest bubble: there the server listens in memory.
func (s *Server) Client() *http.Client { return s.client }

// Problems returns the faults of the server and its handlers: invalid frames that were not marked [Hostile], and
// panics. They are never the client's fault. Of a [Replay], they are what the client sent otherwise than recorded.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// scope is the call that an event of the trace belongs to. The zero scope is the session.
type scope struct {
	tool string
	call int
}

func (s *Server) problem(of scope, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.problems = append(s.problems, text)
	s.mu.Unlock()
	s.mark(of, trace.MarkHarnessError, text)
}

func (s *Server) mark(of scope, name, text string) {
	if s.opts.Record != nil {
		s.opts.Record(trace.Event{Case: of.tool, Call: of.call, Mark: &trace.Mark{Name: name, Text: text}})
	}
}

func (s *Server) frame(of scope, f trace.Frame) {
	if s.opts.Record != nil {
		s.opts.Record(trace.Event{Case: of.tool, Call: of.call, Frame: &f})
	}
}

func (s *Server) http(method string, status int, header http.Header) *trace.HTTP {
	if s.opts.Record == nil {
		return nil
	}
	return &trace.HTTP{Method: method, Status: status, Header: trace.SelectHeader(header, s.opts.IsPlantedSecret)}
}

// count counts a call of the tool and returns its number, from 1.
func (s *Server) count(tool *serverTool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[tool]++
	return s.calls[tool]
}

// token returns 32 new characters for a session id or a request state.
func (s *Server) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%016x%016x", s.rnd.Uint64(), s.rnd.Uint64())
}

// streamName names the next stream of a kind: "post", "get" or "conn".
func (s *Server) streamName(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[kind]++
	return fmt.Sprintf("%s-%d", kind, s.streams[kind])
}
