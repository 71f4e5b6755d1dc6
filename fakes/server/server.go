package server

import (
	"context"
	"errors"
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
	// a play that asks for one waits until the client has opened it.
	JSON
)

// Options are the settings of a server. The zero value is a server that speaks all revisions.
type Options struct {
	// Name is the server's name as it tells clients; "" is "mcp-conform".
	Name string
	// Revisions are those the server speaks; nil for all. With both eras among them it serves each client in the
	// era in which the client opens (2026-07-28, basic/versioning).
	Revisions []Revision
	// Responses says whether answers come as streams or as plain JSON.
	Responses Responses
	// Record is told of every frame, in order, with the name of the tool as the event's Case. Nil: nothing is recorded.
	Record func(trace.Event) trace.Ref
	// Seed makes session ids and request states; equal seeds make equal ones, so that runs can be compared.
	Seed int64
	// Listener is where the server listens; nil for a free port of 127.0.0.1.
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
	byName map[string]*offered
	http   *http.Server

	ctx    context.Context
	cancel context.CancelFunc
	plays  sync.WaitGroup
	served chan struct{}

	mu       sync.Mutex
	closed   bool
	rnd      *rand.Rand
	sessions map[string]*legacySession
	calls    map[*offered]int    // how often each tool was called
	byState  map[string]*parking // calls of the second era that wait, or have waited, for a retry
	byInput  map[string]*parking
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
	for _, r := range o.Revisions {
		if !slices.Contains(Revisions(), r) {
			return nil, fmt.Errorf("revision %q is unknown: want one of %v", r, Revisions())
		}
	}
	if o.Record == nil {
		o.Record = func(trace.Event) trace.Ref { return trace.Ref{} }
	}
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	if o.Name == "" {
		o.Name = "mcp-conform"
	}
	s := &Server{
		opts: o, legacy: only(o.Revisions, false), modern: only(o.Revisions, true),
		byName: map[string]*offered{}, sessions: map[string]*legacySession{},
		calls: map[*offered]int{}, byState: map[string]*parking{}, byInput: map[string]*parking{},
		rnd: rand.New(rand.NewPCG(uint64(o.Seed), 0x6d6370)), served: make(chan struct{}),
	}
	for i, t := range tools {
		compiled, err := compileTool(t, i)
		if err != nil {
			return nil, err
		}
		if s.byName[t.Name] != nil {
			return nil, fmt.Errorf("tool %s is offered twice", t.Name)
		}
		s.tools = append(s.tools, compiled)
		s.byName[t.Name] = compiled
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
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 256 << 10,
		ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(o.Listener) // ends with ErrServerClosed, on Close
	}()
	return s, nil
}

// playGrace is how long Close waits for plays after their contexts have ended.
const playGrace = 5 * time.Second

// Close ends every play and every connection at once and waits for the plays to return. It returns an error that counts the
// plays that did not return although their context had ended. Further calls return nil.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	err := s.http.Close()
	<-s.served
	ended := make(chan struct{})
	go func() {
		s.plays.Wait()
		close(ended)
	}()
	grace := time.NewTimer(playGrace)
	defer grace.Stop()
	select {
	case <-ended:
		return err
	case <-grace.C:
		return errors.New("a play did not return although its context had ended: have it watch s.Context()")
	}
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
	s.opts.Record(trace.Event{Case: of.tool, Call: of.call, Mark: &trace.Mark{Name: name, Text: text}})
}

func (s *Server) frame(of scope, f trace.Frame) {
	s.opts.Record(trace.Event{Case: of.tool, Call: of.call, Frame: &f})
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
