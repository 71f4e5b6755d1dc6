package cassettes

import (
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
	// ReplayOnly answers from the cassette and never from the network.
	ReplayOnly Mode = "replay"
	// RecordMissing answers from the cassette, and asks the provider for what is not in it, which is added.
	RecordMissing Mode = "record-missing"
	// RecordAnew asks the provider for everything, and replaces the cassette.
	RecordAnew Mode = "record"
	// Passthrough asks the provider for everything and leaves the cassette alone.
	Passthrough Mode = "passthrough"
)

var modes = []Mode{ReplayOnly, RecordMissing, RecordAnew, Passthrough}

// ModeVariable is the environment variable with the mode of cassettes for which the program does not say it.
const ModeVariable = "MCP_CONFORM_CASSETTES"

// Option is a setting of [Open], [New], [NewProxy] and [StartProxy].
type Option func(*settings)

type settings struct {
	mode        Mode
	real        http.RoundTripper
	origin      Origin
	paced       bool
	allowUnused bool
	upstreams   map[string]string // of a proxy, by provider
	secrets     []string
}

// WithMode sets the mode. Without it [ModeVariable] does, and where that is empty it is [ReplayOnly].
func WithMode(m Mode) Option { return func(s *settings) { s.mode = m } }

// WithTransport sets the transport that reaches the provider; nil is [http.DefaultTransport].
func WithTransport(real http.RoundTripper) Option { return func(s *settings) { s.real = real } }

// WithOrigin says what kind of model is at the other end of the transport. Without it, it is [Recorded]: a provider's.
func WithOrigin(o Origin) Option { return func(s *settings) { s.origin = o } }

// Paced plays streams at the pace at which they were recorded, and answers as late. Without it they come at once.
func Paced() Option { return func(s *settings) { s.paced = true } }

// AllowUnused lets a test pass that does not make all the requests of the cassette.
func AllowUnused() Option { return func(s *settings) { s.allowUnused = true } }

// WithSecrets names what no file is to hold, beside the credentials of the requests, which need not be named, and what looks like a key. What is
// shorter than eight bytes is not looked for.
func WithSecrets(secrets ...string) Option {
	return func(s *settings) { s.secrets = append(s.secrets, secrets...) }
}

// settled returns the settings that the options make.
func settled(options []Option) (settings, error) {
	s := settings{origin: Recorded}
	for _, o := range options {
		o(&s)
	}
	from := "the mode"
	if s.mode == "" {
		s.mode, from = Mode(os.Getenv(ModeVariable)), "the variable "+ModeVariable
	}
	if s.mode == "" {
		s.mode = ReplayOnly
	}
	if !slices.Contains(modes, s.mode) {
		return s, fmt.Errorf("%s is %q: want one of %v", from, s.mode, modes)
	}
	if s.real == nil {
		s.real = http.DefaultTransport
	}
	return s, nil
}

// Open returns a transport for a test's client that answers from testdata/cassettes/NAME.yaml, or where there is no such file from the
// embedded recording of that name; a name of "" is the test's own. In another [Mode] it asks the provider and writes the file, at the test's end.
// A request that is not found when it is to be replayed gets a 404 that says so and that SDKs do not try again, and fails the test, as do
// interactions that were not played. The transport is safe for concurrent use.
func Open(t llm.TB, name string, options ...Option) http.RoundTripper {
	t.Helper()
	file, advice, s, err := ofTest(t, name, options)
	if err == nil {
		var tr *Transport
		if tr, err = open(file, s); err == nil {
			t.Cleanup(func() {
				t.Helper()
				for _, err := range tr.finish() {
					t.Errorf("%v", err)
				}
			})
			return tr
		}
	}
	t.Fatalf("opening the cassette: %v%s", err, advice)
	return nil // a TB of somebody else's may go on
}

// ofTest finds the cassette of a test, with advice for when it is not there.
func ofTest(t llm.TB, name string, options []Option) (file, advice string, s settings, err error) {
	if named, ok := t.(interface{ Name() string }); ok && name == "" {
		name = named.Name()
	}
	if s, err = settled(options); err != nil {
		return "", "", s, err
	}
	file = filepath.Join("testdata", "cassettes", filepath.FromSlash(name)+extension)
	if _, err := os.Stat(file); err != nil && s.mode == ReplayOnly {
		advice = fmt.Sprintf("; in %s are %s; %s=%s records what is missing", filepath.Dir(file), list(inFolder(filepath.Dir(file))), ModeVariable, RecordMissing)
		file = name
	}
	return file, advice, s, nil
}

// New returns a transport as [Open] does, for a program that is no test: path is that of the file, which ends in .yaml. Its Close says what
// went wrong, and writes what is to be written.
func New(path string, options ...Option) (*Transport, error) {
	s, err := settled(options)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, extension) {
		return nil, fmt.Errorf("cassette %q: want the path of a file that ends in %s", path, extension)
	}
	return open(path, s)
}
