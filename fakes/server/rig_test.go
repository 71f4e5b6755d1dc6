package server_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// rig is a server under test, on a network in memory or on loopback, with all that it recorded. When the test ends it is closed, has to
// have no problems but those expected, and every frame that it sent has to be valid.
type rig struct {
	*server.Server
	t        testing.TB
	http     *http.Client
	expected []string // what problems have to contain, in order

	mu     sync.Mutex
	events []trace.Event
	grown  chan struct{} // closed, and made anew, with each event
	closed bool
}

// inMemory starts a server on a network in memory, inside of the bubble that the test runs in.
func inMemory(t testing.TB, o server.Options, tools ...server.Tool) *rig {
	t.Helper()
	listener, client := network(t)
	return start(t, o, listener, client, tools...)
}

// onLoopback starts a server on a real socket.
func onLoopback(t testing.TB, o server.Options, tools ...server.Tool) *rig {
	t.Helper()
	return start(t, o, nil, newClient(), tools...)
}

func start(t testing.TB, o server.Options, listener net.Listener, client *http.Client, tools ...server.Tool) *rig {
	t.Helper()
	r := &rig{t: t, http: client, grown: make(chan struct{})}
	o.Listener, o.Record = listener, r.record
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
		validFrames(t, r.trace(), newest(o.Revisions))
	})
	return r
}

func newest(revisions []server.Revision) server.Revision {
	if revisions == nil {
		revisions = server.Revisions()
	}
	return slices.Max(revisions)
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

// forget drops what was recorded so far, so that nobody holds it to anything.
func (r *rig) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// story returns what was recorded of a tool so far, one line for each event: who, what, and what is special about it.
func (r *rig) story(tool string) []string {
	var lines []string
	for _, e := range r.trace() {
		if e.Case != tool {
			continue
		}
		line := ""
		switch {
		case e.Mark != nil:
			line = "mark " + e.Mark.Name
		case e.Frame.Dir == trace.FromClient:
			line = "client"
		default:
			line = "server"
		}
		if f := e.Frame; f != nil {
			line += tell(f)
		}
		if e.Call > 1 {
			line += fmt.Sprintf(" (call %d)", e.Call)
		}
		lines = append(lines, line)
	}
	return lines
}

func tell(f *trace.Frame) string {
	var words []string
	m := message{}
	if f.Raw != nil {
		switch m = loosely(f.Raw); {
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
	for word, is := range map[string]bool{"closed": f.Closed, "lost": f.Lost, "hostile": f.Hostile} {
		if is {
			words = append(words, word)
		}
	}
	return " " + strings.Join(words, " ")
}

// bare is a client that has said nothing yet.
func (r *rig) bare() *wire {
	return &wire{t: r.t, url: r.URL, http: r.http, header: http.Header{}}
}

// What clients declare.
const (
	nothing  = `{}`
	sampling = `{"sampling":{}}`
	tools    = `{"sampling":{"tools":{}}}`
)

// legacy is a client of the first era, past initialize.
func (r *rig) legacy(revision server.Revision, capabilities string) *wire {
	r.t.Helper()
	w := r.bare()
	reply := w.post(request(`"init"`, "initialize", initializeParams(revision, capabilities)))
	require.Equal(r.t, http.StatusOK, reply.StatusCode)
	require.Contains(r.t, reply.last().raw, fmt.Sprintf(`"protocolVersion":%q`, revision))
	w.header.Set("Mcp-Session-Id", reply.Header.Get("Mcp-Session-Id"))
	if revision > server.V20250326 {
		w.header.Set("Mcp-Protocol-Version", string(revision))
	}
	require.Equal(r.t, http.StatusAccepted, w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).StatusCode)
	return w
}

func initializeParams(revision server.Revision, capabilities string) string {
	return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"raw","version":"0"}}`, revision, capabilities)
}

// modern is a client of the second era, which differs in nothing but the headers that it sends.
func (r *rig) modern() *wire {
	w := r.bare()
	w.header.Set("Mcp-Protocol-Version", string(server.V20260728))
	return w
}

// meta is what a request of the second era says of the client, with more members, each followed by a comma.
func meta(capabilities, more string) string {
	return fmt.Sprintf(`"_meta":{%s"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}`, more, server.V20260728, capabilities)
}

// callModern calls a tool in the second era. More are further params, each with a comma before it.
func (w *wire) callModern(id any, tool, capabilities, more string, headers ...string) *reply {
	w.t.Helper()
	return w.post(modernCall(id, tool, capabilities, more), append([]string{"Mcp-Method", "tools/call", "Mcp-Name", tool}, headers...)...)
}

func modernCall(id any, tool, capabilities, more string) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":%q%s,%s}`, tool, more, meta(capabilities, "")))
}

// call calls a tool in the first era.
func (w *wire) call(id any, tool string) *reply {
	w.t.Helper()
	return w.post(request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)))
}

// newClient is a client with connections of its own.
func newClient() *http.Client { return &http.Client{Transport: &http.Transport{}} }
