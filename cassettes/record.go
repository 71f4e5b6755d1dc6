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
	before *recording     // existing content of the file; nil: record anew
	unused []*interaction // of before, to be removed
	found  os.FileInfo    // of the file, when the recording began

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
	return &recorder{settings: s, path: path, before: before, found: versionOf(path)}, nil
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

func conflictPath(path string) string {
	for n := 1; ; n++ {
		other := fmt.Sprintf("%s.conflict-%d%s", strings.TrimSuffix(path, extension), n, extension)
		if versionOf(other) == nil {
			return other
		}
	}
}

func (r *recorder) save() error {
	answered := slices.DeleteFunc(slices.Clone(r.exchanges), func(x *exchange) bool { return !x.isAnswered() })
	all, when, err := r.base(answered)
	if err != nil || len(answered) == 0 && len(all) == len(r.before.interactions) { // nothing was missing
		return err
	}
	var failed []error
	secrets := r.credentials()
	for n, x := range answered {
		i, t, err := x.save(len(all), secrets)
		if err != nil {
			q := &x.interaction.Request
			err = fmt.Errorf("request %d, %s %s, was not recorded: %w", n+1, q.Method, withoutQuery(q.URL), err)
			failed = append(failed, err)
			continue
		}
		all, when = append(all, i), append(when, t)
	}
	if len(all) == 0 {
		return errors.Join(failed...)
	}
	document, err := encode(r.path, all)
	if err != nil {
		return err
	}
	if r.origin == Scripted {
		when = nil // it would differ with each run
	}
	saving.Lock()
	defer saving.Unlock()
	path, conflict := r.path, error(nil)
	if !sameVersion(versionOf(path), r.found) {
		path = conflictPath(path)
		conflict = fmt.Errorf("another program changed the file since the recording began: this recording is in %s", path)
	}
	return errors.Join(append(failed, write(path, r.origin, all, document, when), conflict)...)
}

// base returns the interactions that stay. It is an error if nothing is there to be written.
func (r *recorder) base(answered []*exchange) (all []*cassette.Interaction, when []timing, err error) {
	switch {
	case r.before == nil && len(answered) == 0:
		return nil, nil, errors.New("nothing was recorded: no request was answered")
	case r.before != nil:
		all, when = slices.Clone(r.before.interactions), r.before.allTimings()
	}
	if len(answered) > 0 || len(r.unused) < len(all) {
		all, when = without(r.unused, all, when)
	}
	return all, when, r.refuse(answered)
}

func encode(path string, all []*cassette.Interaction) ([]byte, error) {
	c := cassette.New(strings.TrimSuffix(path, extension))
	c.Interactions = all
	document, err := yaml.Marshal(c)
	return append([]byte("---\n"), document...), err
}

// refuse returns an error if there are new answers and all are errors that must not be recorded.
func (r *recorder) refuse(answered []*exchange) error {
	isError := func(x *exchange) bool { return x.interaction.Response.Code >= http.StatusBadRequest }
	if !r.noErrors || len(answered) == 0 || slices.ContainsFunc(answered, func(x *exchange) bool { return !isError(x) }) {
		return nil
	}
	first, _, err := answered[0].result()
	if err != nil {
		return err
	}
	body := r.credentials().Replace(strings.Join(strings.Fields(first.Response.Body), " "))
	return fmt.Errorf("nothing was recorded: all answers are errors (%d); the first is %s: %.300s", len(answered),
		first.Response.Status, body)
}

func without(
	unused []*interaction, all []*cassette.Interaction, when []timing,
) (left []*cassette.Interaction, timings []timing) {
	for n, it := range all {
		if slices.ContainsFunc(unused, func(i *interaction) bool { return i.number == n }) {
			continue
		}
		renumbered, t := *it, when[n]
		renumbered.ID, t.ID = len(left), len(left)
		left, timings = append(left, &renumbered), append(timings, t)
	}
	return left, timings
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

// versionOf identifies a version of a file. It is nil for a file that does not exist or cannot be read.
func versionOf(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

func sameVersion(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func withoutQuery(address string) string {
	path, _, _ := strings.Cut(address, "?")
	return path
}
