package cassettes

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// Mode says where answers come from, and whether they are recorded.
type Mode string

// The modes.
const (
	// ReplayOnly answers from the cassette and never uses the network.
	ReplayOnly Mode = "replay"
	// RecordMissing answers from the cassette. It sends other requests to the provider and adds them.
	RecordMissing Mode = "record-missing"
	// Update is RecordMissing, and removes the interactions that were not used: what no longer matches is recorded
	// again. It removes nothing if no interaction was used and nothing recorded, or if the test fails.
	Update Mode = "update"
	// RecordAnew sends every request to the provider and replaces the cassette.
	RecordAnew Mode = "record"
	// Passthrough sends every request to the provider and does not touch the cassette.
	Passthrough Mode = "passthrough"
)

var modes = []Mode{ReplayOnly, RecordMissing, Update, RecordAnew, Passthrough}

// ModeVariable is the environment variable with the mode. [WithMode] overrides it.
const ModeVariable = "MCP_CONFORM_CASSETTES"

// Option is a setting of [Open], [New], [NewProxy] and [StartProxy].
type Option func(*settings)

type settings struct {
	mode        Mode
	real        http.RoundTripper
	origin      Origin
	paced       bool
	allowUnused bool
	noErrors    bool
	upstreams   map[string]string // base URL by provider, for a proxy
	secrets     []string
	rules
	wrong error // of an option
}

// WithMode sets the mode. The default is the value of [ModeVariable], then [ReplayOnly].
func WithMode(m Mode) Option { return func(s *settings) { s.mode = m } }

// WithTransport sets the transport that reaches the provider; nil is [http.DefaultTransport].
func WithTransport(real http.RoundTripper) Option { return func(s *settings) { s.real = real } }

// WithOrigin says what kind of model answers. The default is [Recorded]: a provider.
func WithOrigin(o Origin) Option { return func(s *settings) { s.origin = o } }

// Paced replays answers and streams at the recorded pace. The default is without delay.
func Paced() Option { return func(s *settings) { s.paced = true } }

// AllowUnused accepts that some interactions of the cassette are not used.
func AllowUnused() Option { return func(s *settings) { s.allowUnused = true } }

// RefuseErrors writes nothing, and makes it an error, if all new answers are errors: without a valid key, a provider
// answers like this.
func RefuseErrors() Option { return func(s *settings) { s.noErrors = true } }

// WithSecrets adds secrets that no file may contain. Credentials of the requests and texts that look like keys need not
// be listed. A secret shorter than eight bytes is ignored.
func WithSecrets(secrets ...string) Option {
	return func(s *settings) { s.secrets = append(s.secrets, secrets...) }
}

func newSettings(options []Option) (settings, error) {
	s := settings{origin: Recorded}
	for _, o := range options {
		o(&s)
	}
	if s.equal != nil && s.ignored != nil && s.wrong == nil {
		s.wrong = errors.New("Ignore has no effect beside WithMatcher: compare without these members in the matcher")
	}
	if s.wrong != nil {
		return s, s.wrong
	}
	from := "the mode"
	if s.mode == "" {
		s.mode, from = Mode(os.Getenv(ModeVariable)), "the variable "+ModeVariable
	}
	if s.mode == "" {
		s.mode = ReplayOnly
	}
	if !slices.Contains(modes, s.mode) {
		return s, fmt.Errorf("%s is %q: expected one of %v", from, s.mode, modes)
	}
	if s.origin != Scripted && s.origin != Recorded {
		return s, fmt.Errorf("the origin is %q: expected %q or %q", s.origin, Scripted, Recorded)
	}
	if s.real == nil {
		s.real = http.DefaultTransport
	}
	return s, nil
}

// Open returns a transport that answers from testdata/cassettes/NAME.yaml. A name of "" is the test's own. In another
// [Mode] it calls the provider and writes the file when the test ends.
// A replayed request that is not found gets a 404 that SDKs do not retry, and fails the test. An unused interaction
// fails it too, without [AllowUnused]. The transport is safe for concurrent use.
func Open(t llm.TB, name string, options ...Option) http.RoundTripper {
	t.Helper()
	return openForTest(t, name, options, open)
}

func openForTest[T interface {
	finish() []error
	keepUnused()
}](
	t llm.TB, name string, options []Option, open func(path string, s settings) (T, error),
) (opened T) {
	t.Helper()
	if named, ok := t.(interface{ Name() string }); ok && name == "" {
		name = named.Name()
	}
	advice := ""
	s, err := newSettings(options)
	if err == nil {
		file := filepath.Join("testdata", "cassettes", filepath.FromSlash(name)+extension)
		if _, err := os.Stat(file); err != nil && s.mode == ReplayOnly {
			advice = fmt.Sprintf("; set %s=%s to record what is missing", ModeVariable, RecordMissing)
		}
		opened, err = open(file, s)
	}
	if err != nil {
		t.Fatalf("opening the cassette: %v%s", err, advice)
		return opened // another TB's Fatalf may return
	}
	t.Cleanup(func() {
		t.Helper()
		if failed, ok := t.(interface{ Failed() bool }); ok && failed.Failed() {
			opened.keepUnused()
		}
		for _, err := range opened.finish() {
			t.Errorf("%v", err)
		}
	})
	return opened
}

// New returns a transport like [Open]'s for a program that is not a test. The path ends in .yaml. Close writes the file
// and returns the errors.
func New(path string, options ...Option) (*Transport, error) {
	return openFile(path, options, open)
}

func openFile[T any](path string, options []Option, open func(string, settings) (T, error)) (opened T, err error) {
	s, err := newSettings(options)
	if err == nil && !strings.HasSuffix(path, extension) {
		err = fmt.Errorf("cassette %q: use the path of a file that ends in %s", path, extension)
	}
	if err != nil {
		return opened, err
	}
	return open(path, s)
}
