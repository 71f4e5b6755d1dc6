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

// recorder is a transport that records what passes through it. The caller gets answers and streams as they arrive.
type recorder struct {
	settings
	path   string
	before *recording // existing content of the file; nil: record anew
	found  *stamp     // of the file, when the recording began

	mu        sync.Mutex
	exchanges []*exchange
	closed    bool
	outcome   error
}

// newRecorder returns a recorder that adds to an existing recording (nil: a new one). For a new one it first checks
// that the file can be written: requests may cost money.
func newRecorder(path string, s settings, before *recording) (*recorder, error) {
	if before == nil {
		if err := writable(path); err != nil {
			return nil, fmt.Errorf("recording to %s: %w", path, err)
		}
	}
	return &recorder{settings: s, path: path, before: before, found: stampOf(path)}, nil
}

// RoundTrip implements [http.RoundTripper]. A request that fails without an answer is not recorded.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
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

func (r *recorder) drop(x *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = slices.DeleteFunc(r.exchanges, func(other *exchange) bool { return other == x })
}

// Close writes the file, all of it or nothing, with the interactions in the order of the requests. An answer that has
// not ended is recorded as cut short. Close returns an error if nothing was recorded, if an exchange could not be
// recorded (the others are written), if another program has changed the file since, or if the file would not read back
// as recorded. A second call returns the result of the first.
func (r *recorder) Close() error {
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

// saving is held from the check that a file is unchanged until it is written.
var saving sync.Mutex

// conflictPath returns the first free path of the form NAME.conflict-N.yaml.
func conflictPath(path string) string {
	for n := 1; ; n++ {
		other := fmt.Sprintf("%s.conflict-%d%s", strings.TrimSuffix(path, extension), n, extension)
		if stampOf(other) == nil {
			return other
		}
	}
}

func (r *recorder) save() error {
	c := cassette.New(strings.TrimSuffix(r.path, extension))
	var when []timing
	if r.before != nil {
		c.Interactions = slices.Clone(r.before.interactions)
		when = r.before.allTimings()
	}
	answered := slices.DeleteFunc(slices.Clone(r.exchanges), func(x *exchange) bool { return !x.isAnswered() })
	var failed []error
	secrets := r.credentials()
	for n, x := range answered {
		i, t, err := x.save(len(c.Interactions), secrets)
		if err != nil {
			q := &x.interaction.Request
			err = fmt.Errorf("request %d, %s %s, was not recorded: %w", n+1, q.Method, withoutQuery(q.URL), err)
			failed = append(failed, err)
			continue
		}
		c.Interactions, when = append(c.Interactions, i), append(when, t)
	}
	switch {
	case len(answered) == 0 && r.before != nil:
		return nil // no request was missing
	case len(answered) == 0:
		return errors.New("nothing was recorded: no request was answered")
	case len(c.Interactions) == 0:
		return errors.Join(failed...)
	}
	document, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	document = append([]byte("---\n"), document...) // as go-vcr writes it
	if r.origin == Scripted {
		when = nil // it would differ with each run
	}
	saving.Lock()
	defer saving.Unlock()
	path, conflict := r.path, error(nil)
	if !stampOf(path).is(r.found) {
		path = conflictPath(path)
		conflict = fmt.Errorf("another program changed the file since the recording began: this recording is in %s", path)
	}
	return errors.Join(append(failed, write(path, r.origin, c.Interactions, document, when), conflict)...)
}

// save returns the scrubbed interaction with its number, and its timing.
func (x *exchange) save(id int, secrets *scrubber) (*cassette.Interaction, timing, error) {
	i, t, err := x.result()
	if err != nil {
		return nil, t, err
	}
	i.ID, t.ID = id, id
	t.fit(scrub(i, t.Cut != wholeAnswer, secrets))
	return i, t, nil
}

// credentials are the given secrets and those of all requests: a client may tell one provider the key of another.
func (r *recorder) credentials() *scrubber {
	c := &scrubber{}
	c.add(r.secrets...)
	for _, x := range r.exchanges {
		u, _ := url.Parse(x.interaction.Request.URL) // nil if invalid
		c.addCredentials(x.interaction.Request.Headers, u)
	}
	return c
}

// stamp identifies a version of a file. It is nil for a file that does not exist or cannot be read.
type stamp struct{ os.FileInfo }

func stampOf(path string) *stamp {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return &stamp{info}
}

// is reports whether both are the same version of the same file.
func (s *stamp) is(other *stamp) bool {
	if s == nil || other == nil {
		return s == other
	}
	return os.SameFile(s.FileInfo, other.FileInfo) && s.Size() == other.Size() && s.ModTime().Equal(other.ModTime())
}

// withoutQuery removes the part of an address that may be a secret.
func withoutQuery(address string) string {
	path, _, _ := strings.Cut(address, "?")
	return path
}
