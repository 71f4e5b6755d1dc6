package cassettes

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Transport answers requests from a cassette, or from the provider, as its mode says. [New] makes one. It is safe for
// concurrent use until it is closed.
type Transport struct {
	settings
	player   *Player   // nil: nothing is replayed
	recorder *recorder // nil: nothing is recorded

	mu     sync.Mutex
	misses []error
	kept   bool // unused interactions stay
}

// open opens a cassette by path.
func open(name string, s settings) (*Transport, error) {
	t := &Transport{settings: s}
	var r *recording
	var err error
	if s.mode == ReplayOnly || s.mode.adds() {
		if r, err = load(name); err != nil && (s.mode == ReplayOnly || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	if r != nil && s.paced && r.timed && r.timings == nil {
		return nil, fmt.Errorf("cassette %s: Paced needs its timings: restore %s, record again, or leave out Paced",
			name, timingFile(name))
	}
	if r != nil {
		t.player = newPlayer(s.rules, r)
	}
	if s.mode.adds() || s.mode == RecordAnew {
		if t.recorder, err = newRecorder(name, s, r); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// adds reports whether a mode adds to an existing cassette.
func (m Mode) adds() bool { return m == RecordMissing || m == Update }

// RoundTrip responds from the cassette or, in modes that record, sends the request. It is safe for concurrent use.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.player == nil {
		return t.send(r)
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	i, err := t.find(r, body)
	switch {
	case err == nil:
		return t.play(r, i)
	case t.mode.adds():
		resend := r.Clone(r.Context())
		resend.Body = body.resend
		return t.send(resend)
	}
	if err := body.resend.Close(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.misses = append(t.misses, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err))
	t.mu.Unlock()
	return respond(r, missing(err), nil, false), nil
}

func (t *Transport) find(r *http.Request, body *requestBody) (*interaction, error) {
	if body.wrong != nil {
		return nil, body.wrong
	}
	clean := newScrubber(r.Header, r.URL, t.secrets...)
	q := &Request{r.Method, r.URL, []byte(clean.request(body.text))}
	return t.player.find(t.rules.request(q, r.Header, clean))
}

func (t *Transport) send(r *http.Request) (*http.Response, error) {
	if t.recorder != nil {
		return t.recorder.RoundTrip(r)
	}
	return t.real.RoundTrip(r)
}

func (t *Transport) play(r *http.Request, i *interaction) (*http.Response, error) {
	answer := i.answer
	answer.Header = answer.Header.Clone()
	i.leadOn(answer.Header, r.URL)
	if t.paced && i.when != nil {
		if err := pause(r.Context(), nil, i.when.First); err != nil {
			return nil, err
		}
	}
	return respond(r, answer, i.when, t.paced), nil
}

// leadOn adapts a redirect within the provider to the provider's current address.
func (i *interaction) leadOn(h http.Header, now *url.URL) {
	to, err := url.Parse(h.Get("Location"))
	was := i.address
	if err != nil || to.Host == "" || to.Scheme != was.Scheme || withoutPort(to.Host) != withoutPort(was.Host) {
		return
	}
	to.Scheme, to.Host = now.Scheme, now.Host
	h.Set("Location", to.String())
}

// Close writes the recording. It returns the requests that were not found, the unused interactions (without
// [AllowUnused]), and the error of writing the file.
func (t *Transport) Close() error { return errors.Join(t.finish()...) }

func (t *Transport) keepUnused() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = true
}

func (t *Transport) finish() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	wrong := t.misses
	switch {
	case t.player == nil:
	case t.mode == Update && !t.kept:
		t.recorder.unused = t.player.unused()
	case t.mode != Update && !t.allowUnused:
		for _, i := range t.player.unused() {
			wrong = append(wrong, fmt.Errorf("%v was not used: no such request was made", i))
		}
	}
	if t.recorder != nil {
		if err := t.recorder.Close(); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// missing is the response to a request that is not recorded. It has a status, because SDKs retry lost connections.
func missing(why error) dialect.Answer {
	return dialect.Answer{Status: http.StatusNotFound, Header: doNotRetry.Clone(),
		Chunks: [][]byte{errorBody("not_found_error", "not_recorded", why.Error())}}
}

// doNotRetry is the header of an error of ours, which SDKs do not retry.
var doNotRetry = http.Header{"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}}

// errorBody is an error of ours, in a shape in which the SDKs of OpenAI and Anthropic find the message.
func errorBody(kind string, code any, message string) []byte {
	return jsonvalue.Marshal(map[string]any{"type": "error",
		"error": map[string]any{"type": kind, "code": code, "param": nil, "message": message}})
}
