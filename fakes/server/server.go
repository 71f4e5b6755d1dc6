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
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Responses says how the server answers a request that came by POST. Clients have to take both ways (2025-11-25,
// basic/transports#sending-messages-to-the-server).
type Responses int

const (
	// Auto answers a tools/call of the first era with a stream, because the play may have more to say, and all else with JSON.
	Auto Responses = iota
	// SSE answers every request with a stream.
	SSE
	// JSON answers every request with plain JSON. In the first era, samples then go out on the client's GET stream, and
	// a play that asks for one waits until the client has opened it. In the second, only [Session.Send] and [Session.Progress] make
	// a stream of a response.
	JSON
)

// Options are the settings of a server. The zero value is a server that speaks all revisions.
type Options struct {
	// Name is the server's name as it tells clients; "" is "mcp-conform".
	Name string
	// Revisions are those the server speaks; nil for all. With both eras among them it serves each client in the
	// era in which the client opens (2026-07-28, basic/versioning).
	Revisions []Revision
	// TellsVersions has a server that speaks no revision of the second era answer requests of that era with the list of what it speaks (UnsupportedProtocolVersionError,
	// 2026-07-28, basic/versioning#protocol-version-negotiation), as one does that has dropped that revision. Without it such a server knows nothing of the
	// era: to it they are requests that come before initialize.
	TellsVersions bool
	// Responses says whether answers come as streams or as plain JSON.
	Responses Responses
	// Record is told of every frame, with the name of the tool as the event's Case: of a question before the client can answer it, of
	// what the client sends before anything is made of it. It is called from several goroutines at once, may keep what it
	// is given, and must not call the server. After Close has returned, and not an error, it is called no more. Nil:
	// nothing is recorded.
	Record func(trace.Event) trace.Ref
	// Planted reports whether a text holds a secret that was planted to see whether the client gives it away. Headers with one are recorded
	// as they are, where other credentials become tokens. It may be called from several goroutines at once. Nil: nothing was planted.
	Planted func(string) bool
	// Seed makes session ids and request states; equal seeds make equal ones, so that runs can be compared.
	Seed int64
	// Listener is where the server listens, and closed by Close; nil for a free port of 127.0.0.1.
	Listener net.Listener
	// MaxBody bounds the body of a POST, in bytes; 0 for 64 MiB.
	MaxBody int64
	// NoMetaEcho leaves the _meta of the carrying call out of the sampling requests made during it. Some clients tie the two
	// together by what they find there, so by default it is echoed, but for progressToken and what the protocol reserves.
	NoMetaEcho bool
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	// URL is the MCP endpoint.
	URL string

	opts   Options
	legacy []Revision // newest first
	modern []Revision
	tools  []*offered
	byName map[string]*offered // by the request that calls it, and what that says
	host   *http.Server

	ctx      context.Context
	cancel   context.CancelFunc
	served   chan struct{} // closed when nothing is accepted any more
	ended    chan struct{} // closed when Close has done its work
	plays    sync.WaitGroup
	handlers sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	rnd      *rand.Rand
	sessions map[string]*legacySession
	streams  map[string]int          // how many there were of each kind
	calls    map[*offered]int        // how often each tool was called
	parked   map[parkedAs][]*parking // calls of the second era that wait, or have waited, for a retry
	known    map[*offered][]known    // the same, in the order in which they began to wait
	playing  map[scope]struct{}
	problems []string
}

// TB is the part of [testing.TB] that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// New starts a server with default options that closes itself at the end of the test. It fails the test where the server could not be
// started, and where a play had the server break the protocol without saying that it meant to (see [Hostile]).
func New(t TB, tools ...Tool) *Server {
	t.Helper()
	srv, err := Start(Options{}, tools...)
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
	})
	return srv
}

// Start starts a server. Its error names the tool that cannot be offered, the revision that is unknown, or the address that cannot
// be listened on. The caller closes the server.
func Start(o Options, tools ...Tool) (*Server, error) {
	if o.Revisions == nil {
		o.Revisions = Revisions()
	}
	if len(o.Revisions) == 0 {
		return nil, fmt.Errorf("no revision to speak: want some of %v, or nil for all", Revisions())
	}
	for _, r := range o.Revisions {
		if !slices.Contains(Revisions(), r) {
			return nil, fmt.Errorf("revision %q is unknown: want one of %v", r, Revisions())
		}
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	if o.Name == "" {
		o.Name = "mcp-conform"
	}
	s := &Server{
		opts: o, legacy: only(o.Revisions, false), modern: only(o.Revisions, true),
		byName: map[string]*offered{}, sessions: map[string]*legacySession{}, streams: map[string]int{},
		calls: map[*offered]int{}, parked: map[parkedAs][]*parking{}, known: map[*offered][]known{}, playing: map[scope]struct{}{},
		rnd: rand.New(rand.NewPCG(uint64(o.Seed), 0x6d6370)), served: make(chan struct{}), ended: make(chan struct{}),
	}
	for i, t := range tools {
		compiled, err := compileTool(t, i)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.tools, func(o *offered) bool { return o.Name == t.Name }) {
			return nil, fmt.Errorf("tool %s is offered twice", t.Name)
		}
		s.tools = append(s.tools, compiled)
		s.byName[compiled.key()] = compiled
	}
	if o.Listener == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("the fake MCP server cannot listen: %w", err)
		}
		o.Listener = listener
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.URL = "http://" + o.Listener.Addr().String() + "/mcp"
	s.host = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 256 << 10,
		ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.served)
		_ = s.host.Serve(o.Listener) // ends with ErrServerClosed, on Close
	}()
	return s, nil
}

// Problems returns what the server did wrong by its own rules: frames that a play wanted sent and that are no valid
// protocol, panics of plays. They are never the client's fault.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// scope is what an event of the trace belongs to: a call of a tool, or, where it is zero, the session.
type scope struct {
	tool string
	call int
}

// problem notes a fault of our own, in the trace and for Problems.
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

// http returns what the trace keeps of an HTTP message.
func (s *Server) http(method string, status int, header http.Header) *trace.HTTP {
	if s.opts.Record == nil {
		return nil
	}
	return &trace.HTTP{Method: method, Status: status, Header: trace.SelectHeader(header, s.opts.Planted)}
}

// count returns how often the tool has been called, this time included.
func (s *Server) count(tool *offered) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[tool]++
	return s.calls[tool]
}

// token returns a fresh word of 32 characters for a session id or a request state.
func (s *Server) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%016x%016x", s.rnd.Uint64(), s.rnd.Uint64())
}

// streamName names the next stream of a kind, "post" or "get".
func (s *Server) streamName(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[kind]++
	return fmt.Sprintf("%s-%d", kind, s.streams[kind])
}
