package cassettes

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// Recorder is a transport that records what passes through it. It is made by [Record], and safe for concurrent use until it is
// closed.
type Recorder struct {
	path   string
	origin Origin
	real   http.RoundTripper
	before *recording // what the file has already; nil for a recording that begins anew
	found  *stamp     // of the file, when the recording began
	hidden []string   // what must not be in the file, whoever says it

	mu        sync.Mutex
	exchanges []*exchange
	closed    bool
	outcome   error
}

// Record returns a transport that sends requests on by real, and whose Close writes them with their answers to the file at path, which ends
// in .yaml and is replaced where it is there. Origin says what kind of model is at the other end; real nil is [http.DefaultTransport].
// Answers, streams too, reach the caller as they come; when each piece came is kept in a file beside, NAME.timing.json, of recordings of a
// real provider. Interactions stand in the file in the order in which the requests were made. A request that failed without an
// answer is not recorded. Record fails where the file could not be written, as in a folder that is read-only.
func Record(path string, real http.RoundTripper, origin Origin) (*Recorder, error) {
	switch {
	case !strings.HasSuffix(path, extension):
		return nil, fmt.Errorf("recording to %q: want the path of a file that ends in %s", path, extension)
	case origin != Scripted && origin != Recorded:
		return nil, fmt.Errorf("recording to %s: the origin is %q: want %q or %q", path, origin, Scripted, Recorded)
	}
	return newRecorder(path, real, origin, nil)
}

// newRecorder returns a recorder that adds to what the file has already; nil for one that begins anew, of which it is known at once whether it can
// be written: what is asked may cost.
func newRecorder(path string, real http.RoundTripper, origin Origin, before *recording) (*Recorder, error) {
	if real == nil {
		real = http.DefaultTransport
	}
	if before == nil {
		if err := writable(path); err != nil {
			return nil, fmt.Errorf("recording to %s: %w", path, err)
		}
	}
	return &Recorder{path: path, origin: origin, real: real, before: before, found: stampOf(path)}, nil
}

// RoundTrip implements [http.RoundTripper]. The request and its answer are the caller's, as without a recorder.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x, body, err := newExchange(req)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.exchanges = append(r.exchanges, x)
	r.mu.Unlock()
	out := req.Clone(req.Context())
	out.Body = body
	resp, err := r.real.RoundTrip(out)
	if err != nil {
		r.drop(x)
		return nil, err
	}
	resp.Request = req
	x.answered(resp)
	return resp, nil
}

// drop leaves out an exchange that came to nothing.
func (r *Recorder) drop(x *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = slices.DeleteFunc(r.exchanges, func(other *exchange) bool { return other == x })
}

// Close writes the file, whole or not at all. An answer that is still coming is recorded as one that was cut short. Close fails where
// nothing was recorded, where something could not be (all else is written), where the file has been changed since by somebody else, and
// where it would not be read again as what was recorded. A second call returns what the first did.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		if err := r.save(); err != nil {
			r.outcome = fmt.Errorf("recording to %s: %w", r.path, err)
		}
	}
	return r.outcome
}

// saving is held by who looks whether a file is as it was, and writes it.
var saving sync.Mutex

// ofConflict returns the first of the paths beside one where there is no file yet.
func ofConflict(path string) string {
	for n := 1; ; n++ {
		if other := fmt.Sprintf("%s.conflict-%d%s", strings.TrimSuffix(path, extension), n, extension); stampOf(other) == nil {
			return other
		}
	}
}

// save writes what was taken down.
func (r *Recorder) save() error {
	c := cassette.New(strings.TrimSuffix(r.path, extension))
	var when []timing
	var left []error
	if r.before != nil {
		c.Interactions = slices.Clone(r.before.interactions)
		when = r.before.allTimings()
	}
	secrets := r.secrets()
	answered := slices.DeleteFunc(slices.Clone(r.exchanges), func(x *exchange) bool { return !x.isAnswered() }) // not yet, and now it is too late
	for n, x := range answered {
		i, t, err := x.taken()
		if err != nil {
			left = append(left, fmt.Errorf("request %d, %s %s, was not recorded: %w", n+1, x.interaction.Request.Method, withoutQuery(x.interaction.Request.URL), err))
			continue
		}
		i.ID = len(c.Interactions)
		edits, err := scrub(i, t.Cut != wholeAnswer, secrets)
		if err != nil {
			left = append(left, fmt.Errorf("request %d was not recorded: %w", n+1, err))
			continue
		}
		t.ID = i.ID
		t.fit(edits)
		c.Interactions, when = append(c.Interactions, i), append(when, t)
	}
	switch {
	case len(answered) == 0 && r.before != nil:
		return nil // nothing was missing
	case len(answered) == 0:
		return errors.New("nothing was recorded: not one request was answered")
	case len(c.Interactions) == 0:
		return errors.Join(left...)
	}
	document, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	document = append([]byte("---\n"), document...) // as go-vcr begins its files
	if r.origin == Scripted {
		when = nil // which is the machine's, and another one each time
	}
	saving.Lock()
	defer saving.Unlock()
	path, conflict := r.path, error(nil)
	if !stampOf(path).is(r.found) {
		path = ofConflict(path)
		conflict = fmt.Errorf("somebody else has written the file since the recording began: what was recorded here is in %s", path)
	}
	return errors.Join(append(left, write(path, r.origin, c.Interactions, document, when), conflict)...)
}

// secrets are those that no interaction may show: what was given, and the credentials of all requests, since the key for one provider may be
// said to another.
func (r *Recorder) secrets() *cleaning {
	c := &cleaning{}
	c.add(r.hidden...)
	for _, x := range r.exchanges {
		u, _ := url.Parse(x.interaction.Request.URL) // what cannot be read has none
		c.addCredentials(x.interaction.Request.Headers, u)
	}
	return c
}

// stamp tells whether a file is the one that it was. It is nil for one that is not there, or will be complained of when it is written.
type stamp struct{ os.FileInfo }

func stampOf(path string) *stamp {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return &stamp{info}
}

// is reports whether both are of one file that nobody has written to in between.
func (s *stamp) is(other *stamp) bool {
	if s == nil || other == nil {
		return s == other
	}
	return os.SameFile(s.FileInfo, other.FileInfo) && s.Size() == other.Size() && s.ModTime().Equal(other.ModTime())
}

// withoutQuery leaves out of an address what may be a secret.
func withoutQuery(address string) string {
	path, _, _ := strings.Cut(address, "?")
	return path
}
