package cassettes

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Option is a setting of [Open].
type Option func(*transport)

// AllowUnused lets a test pass that does not make all the requests of the cassette.
func AllowUnused() Option { return func(t *transport) { t.allowUnused = true } }

// Open returns a transport that answers from testdata/cassettes/NAME.yaml, or where there is no such file from the embedded recording of
// that name, and never from the network. A request that was not recorded gets a 404 that says so and that SDKs do not try again, and
// fails the test at its end, as do interactions that were not played. The transport is safe for concurrent use.
func Open(t llm.TB, name string, options ...Option) http.RoundTripper {
	t.Helper()
	file := filepath.Join("testdata", "cassettes", name+extension)
	if _, err := os.Stat(file); err == nil {
		name = file
	}
	r, err := load(name)
	if err != nil {
		t.Fatalf("opening the cassette: %v; in %s are %s", err, filepath.Dir(file), list(inFolder(filepath.Dir(file))))
		return nil // a TB of somebody else's may go on
	}
	tr := &transport{player: newPlayer(r)}
	for _, o := range options {
		o(tr)
	}
	t.Cleanup(func() {
		t.Helper()
		tr.mu.Lock()
		defer tr.mu.Unlock()
		for _, miss := range tr.misses {
			t.Errorf("%v", miss)
		}
		if tr.allowUnused {
			return
		}
		for _, i := range tr.player.unused() {
			t.Errorf("%v was not played: the request was not made", i)
		}
	})
	return tr
}

// transport plays a cassette to an HTTP client.
type transport struct {
	player      *Player
	allowUnused bool

	mu     sync.Mutex
	misses []error
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer, err := t.player.find(newRequest(kindOf(r.Method, r.URL), cleaner(r.Header, r.URL).Replace(string(body))))
	if err != nil {
		t.mu.Lock()
		t.misses = append(t.misses, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err))
		t.mu.Unlock()
		answer = missing(err)
	}
	return respond(r, answer), nil
}

// missing is the answer to a request that was not recorded: an error, since SDKs take no connection for one that was lost, and in a
// shape in which those of OpenAI and of Anthropic find the message.
func missing(why error) dialect.Answer {
	return dialect.Answer{
		Status: http.StatusNotFound,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}},
		Chunks: [][]byte{dialect.Marshal(map[string]any{"type": "error", "error": map[string]any{
			"type": "not_found_error", "code": "not_recorded", "param": nil, "message": why.Error()}})},
	}
}

// respond makes a response of an answer, whose body is read a chunk at a time.
func respond(r *http.Request, a dialect.Answer) *http.Response {
	readers, length := make([]io.Reader, len(a.Chunks)), int64(0)
	for i, chunk := range a.Chunks {
		readers[i] = bytes.NewReader(chunk)
		length += int64(len(chunk))
	}
	if a.Stream {
		length = -1
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)), StatusCode: a.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.Header, Body: io.NopCloser(io.MultiReader(readers...)), ContentLength: length, Request: r,
	}
}
