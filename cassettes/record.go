package cassettes

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// Recorder is a transport that records what passes through it. It is made by [Record], and safe for concurrent use until it is
// closed.
type Recorder struct {
	vcr   *recorder.Recorder
	close func() error
}

// Record returns a transport that sends requests on by real, and whose Close writes them with their answers to the file at path, which ends
// in .yaml and is replaced where it is there. Origin says what kind of model is at the other end. Streams arrive whole, when they
// have ended. Interactions stand in the file in the order in which their answers were complete.
func Record(path string, real http.RoundTripper, origin Origin) (*Recorder, error) {
	name, ok := strings.CutSuffix(path, extension)
	switch {
	case !ok:
		return nil, fmt.Errorf("recording to %q: want the path of a file that ends in %s", path, extension)
	case origin != Scripted && origin != Recorded:
		return nil, fmt.Errorf("recording to %s: the origin is %q: want %q or %q", path, origin, Scripted, Recorded)
	}
	f := &file{origin: origin}
	vcr, err := recorder.New(name,
		recorder.WithMode(recorder.ModeRecordOnly),
		recorder.WithRealTransport(real),
		recorder.WithSkipRequestLatency(true), // or each answer would take its time twice
		recorder.WithFS(f),
		recorder.WithMarshalFunc(f.marshal),
		recorder.WithHook(scrub, recorder.BeforeSaveHook))
	if err != nil {
		return nil, fmt.Errorf("recording to %s: %w", path, err)
	}
	return &Recorder{vcr: vcr, close: sync.OnceValue(func() error {
		if err := vcr.Stop(); err != nil {
			return fmt.Errorf("recording to %s: %w", path, err)
		}
		return nil
	})}, nil
}

// RoundTrip implements [http.RoundTripper].
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	// go-vcr puts a body of its own into the request, and keeps the headers: the caller's must be neither changed nor kept.
	return r.vcr.RoundTrip(req.Clone(req.Context()))
}

// Close writes the file, whole or not at all. Every answer must have come. It fails where nothing was recorded, and where the
// file would not be read again as what was recorded. A second call returns what the first did.
func (r *Recorder) Close() error { return r.close() }

// file is the file system of one recorder.
type file struct {
	origin Origin
	saved  *cassette.Cassette
}

// marshal is called with what goes into the file.
func (f *file) marshal(v any) ([]byte, error) {
	c, ok := v.(*cassette.Cassette)
	if !ok || len(c.Interactions) == 0 {
		return nil, errors.New("nothing was recorded: not one request was answered")
	}
	f.saved = c
	return yaml.Marshal(c)
}

// WriteFile writes under another name and renames, once it has been seen that the file can be read again: YAML of earlier versions lost
// spaces at the beginning of bodies, without a word.
func (f *file) WriteFile(name string, document []byte) error {
	framed := frame(f.origin, len(f.saved.Interactions), document)
	back, err := parse(name, framed)
	if err != nil {
		return err
	}
	for i, saved := range f.saved.Interactions {
		for _, pair := range [][2]any{{saved.Request, back.interactions[i].Request}, {saved.Response, back.interactions[i].Response}} {
			if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty()); diff != "" {
				return fmt.Errorf("interaction %d would not be read as it was recorded (-recorded +read):\n%s", i, diff)
			}
		}
	}
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(folder, "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // not there any more, if all went well
	_, err = temporary.Write(framed)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}

// ReadFile is not called while recording.
func (f *file) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// IsFileExists says no: a recording begins anew.
func (f *file) IsFileExists(string) bool { return false }
