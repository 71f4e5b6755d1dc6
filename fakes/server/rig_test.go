package server_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// rig is a server under test with its trace. At the end of the test it closes the server, compares the problems with
// the expected ones, and validates every frame of the server.
type rig struct {
	*server.Server
	t        testing.TB
	http     *http.Client
	expected []string // parts of the problems, in order

	mu     sync.Mutex
	events []trace.Event
	grown  chan struct{} // closed, and replaced, with each event
	closed bool
}

// start starts a server with default options in the test's bubble.
func start(t testing.TB, tools ...server.Tool) *rig {
	t.Helper()
	return startWith(t, server.Options{}, tools...)
}

// startWith starts a server in the test's bubble.
func startWith(t testing.TB, o server.Options, tools ...server.Tool) *rig {
	t.Helper()
	listener, client := network(t)
	return startOn(t, o, listener, client, tools...)
}

// startOnLoopback starts a server on a real socket.
func startOnLoopback(t testing.TB, o server.Options, tools ...server.Tool) *rig {
	t.Helper()
	return startOn(t, o, nil, &http.Client{Transport: &http.Transport{}}, tools...)
}

func startOn(t testing.TB, o server.Options, l net.Listener, client *http.Client, tools ...server.Tool) *rig {
	t.Helper()
	r := &rig{t: t, http: client, grown: make(chan struct{})}
	o.Listener, o.Record = l, r.record
	var err error
	r.Server, err = server.Start(o, tools...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, r.Close())
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
		client.CloseIdleConnections()
		problems := r.Problems()
		require.Len(t, problems, len(r.expected), "problems: %q", problems)
		for i, problem := range problems {
			require.Contains(t, problem, r.expected[i])
		}
		newest := server.V20260728
		if o.Revisions != nil {
			newest = slices.Max(o.Revisions)
		}
		validFrames(t, r.trace(), newest)
	})
	return r
}

// network returns an in-memory listener, and a client that reaches it.
func network(t testing.TB) (net.Listener, *http.Client) {
	t.Helper()
	network := memnet.New()
	listener, err := network.Listen("127.0.0.1:0")
	require.NoError(t, err)
	return listener, network.Client()
}

// bothProtocols has a legacy and a modern revision.
var bothProtocols = []server.Revision{server.V20251125, server.V20260728}

// inBubble runs a subtest in a bubble.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// inEach runs a test in a bubble for each revision.
func inEach(t *testing.T, revisions []server.Revision, test func(t *testing.T, revision server.Revision)) {
	t.Helper()
	for _, revision := range revisions {
		inBubble(t, string(revision), func(t *testing.T) { test(t, revision) })
	}
}

// inCall runs test as the handler of a call, in a bubble for each revision.
func inCall(t *testing.T, revisions []server.Revision, capabilities string, test func(s *server.Session)) {
	t.Helper()
	inEach(t, revisions, func(t *testing.T, revision server.Revision) {
		c := start(t, tool("tool", does(test))).client(revision, capabilities)
		require.Equal(t, "done", c.call(1, "tool").text())
	})
}

func tool(name string, handler server.Handler) server.Tool {
	return server.Tool{Name: name, Handler: handler}
}

// always is a handler that returns its arguments.
func always(value any, err error) server.Handler {
	return func(*server.Session) (any, error) { return value, err }
}

// does is a handler that calls f and returns "done".
func does(f func(s *server.Session)) server.Handler {
	return func(s *server.Session) (any, error) {
		f(s)
		return "done", nil
	}
}

// ask is a handler that samples once and returns the result.
func ask(s *server.Session) (any, error) { return s.Sample(s.Ask("what is it?")) }

// samples is a handler that samples once with the params.
func samples(params any, options ...server.RequestOption) server.Handler {
	return func(s *server.Session) (any, error) { return s.Sample(params, options...) }
}

func (r *rig) record(e trace.Event) trace.Ref {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.t.Errorf("recorded after Close had returned: %+v", e)
	}
	r.events = append(r.events, e)
	close(r.grown)
	r.grown = make(chan struct{})
	return trace.Ref{}
}

// trace returns what was recorded so far.
func (r *rig) trace() []trace.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// frames returns the recorded frames that match.
func (r *rig) frames(match func(*trace.Frame) bool) []*trace.Frame {
	var found []*trace.Frame
	for _, e := range r.trace() {
		if e.Frame != nil && match(e.Frame) {
			found = append(found, e.Frame)
		}
	}
	return found
}

func (r *rig) hostile() []*trace.Frame {
	return r.frames(func(f *trace.Frame) bool { return f.Hostile })
}

// forget drops what was recorded so far, so that it is not validated.
func (r *rig) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// until waits for a line of a tool's story.
func (r *rig) until(tool, line string) {
	r.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		grown := r.grown
		r.mu.Unlock()
		if slices.Contains(r.story(tool), line) {
			return
		}
		select {
		case <-grown:
		case <-deadline:
			require.Contains(r.t, r.story(tool), line)
		}
	}
}

// requireStory compares a tool's story with lines that commas separate. Abbreviations: "start" and "end" are the marks
// of the handler, "call" is the client's tools/call, "sample" and "input" are the server's requests.
func (r *rig) requireStory(tool, want string, note ...any) {
	r.t.Helper()
	require.Equal(r.t, want, strings.Join(r.story(tool), ", "), note...)
}

// abbreviations of the lines of a story.
var abbreviations = map[string]string{
	"mark handler-started": "start", "mark handler-ended": "end", "client tools/call": "call",
	"server sampling/createMessage": "sample", "server input_required": "input",
}

// story returns what was recorded of a tool, one line for each event: the sender, the kind of message, and its marks.
func (r *rig) story(tool string) []string {
	var lines []string
	for _, e := range r.trace() {
		if e.Case != tool {
			continue
		}
		var line, number string
		if e.Mark != nil {
			line = "mark " + e.Mark.Name
		} else {
			line = describe(e.Frame)
		}
		if e.Call > 1 {
			number = fmt.Sprintf(" (call %d)", e.Call)
		}
		for long, short := range abbreviations {
			if rest, ok := strings.CutPrefix(line, long); ok {
				line = short + rest
			}
		}
		lines = append(lines, line+number)
	}
	return lines
}

func describe(f *trace.Frame) string {
	words := []string{"server"}
	if f.Dir == trace.FromClient {
		words[0] = "client"
	}
	if f.Raw != nil {
		switch m := loosely(f.Raw); {
		case m.Method != "":
			words = append(words, m.Method)
		case m.Error != nil:
			words = append(words, "error")
		case strings.Contains(string(m.Result), "input_required"):
			words = append(words, "input_required")
		case m.Result != nil:
			words = append(words, "result")
		case len(f.Raw) > 100:
			words = append(words, fmt.Sprintf("%d bytes", len(f.Raw)))
		default:
			words = append(words, fmt.Sprintf("%q", f.Raw))
		}
	}
	if f.HTTP != nil && f.HTTP.Status >= 400 {
		words = append(words, fmt.Sprint(f.HTTP.Status))
	}
	if f.Closed {
		words = append(words, "closed")
	}
	if f.Lost {
		words = append(words, "lost")
	}
	if f.Hostile {
		words = append(words, "hostile")
	}
	return strings.Join(words, " ")
}
