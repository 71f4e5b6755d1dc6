// Package tap records what passes between a client and a server, over Streamable HTTP or stdio, and between a client
// and its model. Bytes pass unchanged and at once; a message is recorded before its last byte goes on.
//
// Here belong the pass-through of each wire and the trace that comes of it. What the messages mean is for the packages
// that read traces; only [Recording.Traces] finds out to which call of a tool a message belongs, as checks need it.
package tap

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// Frames turns what crosses a wire into frames. It is safe for concurrent use.
type Frames struct {
	record func(trace.Frame)

	mu      sync.Mutex
	streams map[string]int // how many of a kind there were
	events  map[delivery]bool
	moved   map[*byte]bool  // the first byte of each message that was redirected, and came again elsewhere
	posts   map[*byte]*byte // by a message to the client, the one in whose HTTP response it came; both by first byte
}

// NewFrames returns a recorder of frames, which calls record with each, in order.
func NewFrames(record func(trace.Frame)) *Frames {
	return &Frames{record: record, streams: map[string]int{}, events: map[delivery]bool{}, moved: map[*byte]bool{},
		posts: map[*byte]*byte{}}
}

// streamName names a stream, such as "post 2".
func (f *Frames) streamName(kind string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams[kind]++
	return kind + " " + strconv.Itoa(f.streams[kind])
}

// delivery is an event that was delivered, with a hash of its data: a server may give several events one id by mistake.
type delivery struct {
	session, id string
	data        [sha256.Size]byte
}

// delivered notes an event, and reports whether it was delivered before.
func (f *Frames) delivered(session, id string, data []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	event := delivery{session, id, sha256.Sum256(data)}
	before := f.events[event]
	f.events[event] = true
	return before
}

// isMoved reports whether the server redirected a message, so that it did not get it.
func (f *Frames) isMoved(raw []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(raw) > 0 && f.moved[&raw[0]]
}

// cameFor notes in which request's HTTP response a message came.
func (f *Frames) cameFor(request, message []byte) {
	if len(request) == 0 || len(message) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posts[&message[0]] = &request[0]
}

// postOf returns the first byte of the request in whose HTTP response a message came; nil if that is unknown.
func (f *Frames) postOf(message []byte) *byte {
	if len(message) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.posts[&message[0]]
}

// RoundTripper returns a transport that sends requests through next and records them with their responses. It asks for
// uncompressed responses.
func (f *Frames) RoundTripper(next http.RoundTripper) http.RoundTripper { return &transport{f, next} }

type transport struct {
	frames *Frames
	next   http.RoundTripper
}

const sessionHeader = "Mcp-Session-Id"

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Accept-Encoding", "identity")
	frame := trace.Frame{Dir: trace.FromClient, Session: r.Header.Get(sessionHeader),
		HTTP: &trace.HTTP{Method: r.Method, Header: trace.SelectHeader(r.Header, nil)}}
	if r.Body != nil && r.Body != http.NoBody {
		raw, err := io.ReadAll(r.Body)
		if err = firstError(err, r.Body.Close()); err != nil {
			return nil, err
		}
		frame.Raw, out.Body = raw, io.NopCloser(bytes.NewReader(raw))
	}
	t.frames.record(frame)
	resp, err := t.next.RoundTrip(out)
	if err != nil {
		if r.Context().Err() != nil {
			t.frames.record(trace.Frame{Dir: trace.FromClient, Session: frame.Session, Closed: true})
		}
		return nil, err
	}
	if resp.StatusCode/100 == 3 {
		if len(frame.Raw) > 0 {
			t.frames.mu.Lock()
			t.frames.moved[&frame.Raw[0]] = true
			t.frames.mu.Unlock()
		}
		return resp, nil
	}
	head := &trace.HTTP{Status: resp.StatusCode, Header: trace.SelectHeader(resp.Header, nil)}
	session := resp.Header.Get(sessionHeader)
	if session == "" || resp.StatusCode/100 != 2 { // some servers give a session even to a request that they refuse
		session = frame.Session
	}
	kind := strings.ToLower(r.Method)
	if sse.IsStream(resp.Header.Get("Content-Type")) {
		resp.Body = &stream{frames: t.frames, body: resp.Body, head: head, name: t.frames.streamName(kind), session: session,
			request: frame.Raw, ends: kind == "post", left: r.Context().Done()}
		return resp, nil
	}
	return t.whole(resp, frame.Raw, head, session), nil
}

// whole records a response with a body of its own. An empty one says nothing if it is a success.
func (t *transport) whole(resp *http.Response, request []byte, head *trace.HTTP, session string) *http.Response {
	raw, cut := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	body := []io.Reader{bytes.NewReader(raw)}
	if cut != nil { // the client gets as much
		body = append(body, failing{cut})
	}
	resp.Body = io.NopCloser(io.MultiReader(body...))
	if len(raw) > 0 || head.Status >= 300 {
		t.frames.cameFor(request, raw)
		t.frames.record(trace.Frame{Dir: trace.ToClient, Raw: raw, Session: session, HTTP: head})
	}
	return resp
}

// failing is the end of a body that the server cut.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stream passes on an event stream. It records each event before it returns the event's last byte.
type stream struct {
	frames        *Frames
	body          io.ReadCloser
	head          *trace.HTTP // until a frame has it
	name, session string
	request       []byte
	ends          bool            // it is over with the response to its request
	left          <-chan struct{} // closed when the client has left
	cut           sse.Cutter
	reader        sse.Reader
	over          bool
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.body.Read(b)
	for _, event := range s.cut.Cut(b[:n]) {
		s.event(event)
	}
	if err != nil {
		select {
		case <-s.left:
			s.end(trace.FromClient)
		default:
			s.end(trace.ToClient)
		}
	}
	return n, err
}

// Close closes the stream from the client's side.
func (s *stream) Close() error {
	s.end(trace.FromClient)
	return s.body.Close()
}

func (s *stream) event(raw []byte) {
	before := s.reader.ID
	s.reader.ID, s.reader.Retry = "", 0
	var data []byte
	_ = s.reader.Events(bytes.NewReader(raw), func(d []byte) bool { // never fails in memory
		data = bytes.Clone(d)
		return true
	})
	frame := trace.Frame{Dir: trace.ToClient, Raw: data, Stream: s.name, Session: s.session,
		Event: s.reader.ID, Type: s.reader.Type, Retry: s.reader.Retry}
	if s.reader.ID == "" {
		s.reader.ID = before
	}
	if data == nil && frame.Event == "" && frame.Retry == 0 {
		return // a comment
	}
	s.frames.cameFor(s.request, data)
	frame.Resent = frame.Event != "" && s.frames.delivered(s.session, frame.Event, data)
	if m := trace.ReadMessage(data); m.Method == "" && m.ID != nil {
		s.over = s.over || s.ends
	}
	s.record(frame)
}

// end records who ended a stream that had more to say.
func (s *stream) end(by trace.Direction) {
	if s.over {
		return
	}
	s.over = true
	s.record(trace.Frame{Dir: by, Stream: s.name, Session: s.session, Closed: true})
}

func (s *stream) record(f trace.Frame) {
	if f.Dir == trace.ToClient {
		f.HTTP, s.head = s.head, nil
	}
	s.frames.record(f)
}
