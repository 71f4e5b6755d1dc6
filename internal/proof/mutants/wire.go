package mutants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Edit is what a mutant changes. Every member may be nil; the zero value changes nothing. Numbers in JSON objects are
// [json.Number].
type Edit struct {
	// Run runs the client, or does not.
	Run func(w *Wire, run func() error) error
	// Env edits what the client is told, before it starts.
	Env func(env *harness.Env)
	// Options edits what the client is built from: for a bug that no edit of a message can express.
	Options func(w *Wire, o *client.Options, m *model.Options)

	// Host edits how a host handles the mistakes of its own model.
	Host func(w *Wire, m *reference.Mistakes)

	// Asked sees each sampling request before the client does, also an invalid one. It may edit s.Params, or answer in
	// place of the client.
	Asked func(s *Sample)
	// Params edits the params of each valid sampling request before the client sees them. The client then behaves as if
	// it had lost or changed what the edit changes.
	Params func(params object)
	// Result edits each CreateMessageResult that the client sends, and Answered sees it with the request it belongs to;
	// an error response too, in the legacy era.
	Result   func(result object)
	Answered func(s *Sample)
	// Response edits each JSON-RPC response to a sampling request (legacy era).
	Response func(response object)

	// In sees each message from the server, and Out each message to it.
	In, Out func(m *Message)
	// Sent sees each message to the server after it was sent.
	Sent func(m *Message)
	// Declared edits the capabilities that the client declares.
	Declared func(capabilities object)
	// Retry edits a request that the client repeats with input (modern era).
	Retry func(c *Call, params object)
	// Ended sees how each call ended, before the harness does.
	Ended func(o *harness.Outcome)
	// Payload edits the bytes of each message from the server, before it is read; nil drops it.
	Payload func(raw []byte) []byte
	// Line edits each line of an event stream from the server, without its end; false drops it. OnlyLF is true for a
	// client that knows no other line end.
	Line   func(line []byte) ([]byte, bool)
	OnlyLF bool

	// Failed replaces what becomes of a failure of the provider, also of a time limit.
	Failed func(err error) (object, error)
	// Noted sees what a condition could depend on, of each message that another hook would see, with the latest call (see
	// [Change]).
	Noted func(call string, f Facts)

	// Server and Model wrap the HTTP wires to the server and to the model, Pipe the launched server.
	Server, Model func(w *Wire, next http.RoundTripper) http.RoundTripper
	Pipe          func(p Pipe) Pipe
	// Stderr receives what the launched server writes to its standard error; nil leaves that to the client.
	Stderr io.Writer
	// ModelRequest edits the body of each request to the model, ModelReply the JSON values of each successful reply: the
	// chunks of a stream, or the one value of a plain reply.
	ModelRequest func(body object)
	ModelReply   func(chunks []object) []object
}

// Wire is the man in the middle of one run of a client. It is safe for concurrent use.
type Wire struct {
	// Env is what the harness told the client, before any edit.
	Env harness.Env
	// Context ends with the run.
	Context context.Context

	edit   Edit
	when   Condition
	fired  func(Change)
	server http.RoundTripper
	work   sync.WaitGroup // what goes on beside the client

	mu      sync.Mutex
	err     error // why the client ended itself
	panics  any   // with which it ends
	open    map[io.Closer]bool
	pipe    *pipe // nil over HTTP
	header  http.Header
	url     string
	call    *Message  // the latest of a tool, over HTTP
	calling string    // see Change
	own     int       // requests of the wire itself
	sampled int       // sampling requests
	ofCall  []*Sample // of the latest call
	failed  bool      // the model, in the latest call
	traffic traffic

	// For an edit with a condition:
	dialect  string
	streams  bool   // the model is asked for streams
	decision string // of the user, as the edit has it
}

// Change is something that an edit changed.
type Change struct {
	// Call is the tool, the prompt or the URI of the client's latest call, before any edit; "" before the first. A call
	// that a model asked for does not count.
	Call string
	// Facts are those of the samples that the changed message belongs to; nil if they are unknown: of an edit without a
	// condition, and of one that changes no message.
	Facts []Facts
}

// Client returns the reference client behind a wire that makes the edit, as a function for [harness.InProcess]. Edit is
// called once a run; nil edits nothing. The edit is made where the condition holds, and Fired is called each time it
// changes something, from any goroutine; nil is allowed.
func Client(c reference.Config, edit func(w *Wire) Edit, when Condition,
	fired func(Change)) func(context.Context, harness.Env) error {
	return func(ctx context.Context, env harness.Env) error {
		c := c // of this run
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &Wire{Env: env, Context: ctx, when: when, fired: fired, open: map[io.Closer]bool{}, traffic: newTraffic()}
		if edit != nil {
			w.edit = edit(w)
		}
		w.wrap(&env)
		c.Edit = w.options
		if w.edit.Host != nil {
			c.EditMistakes = func(m *reference.Mistakes) { w.edit.Host(w, m) }
		}
		run := func() error { return reference.Client(c)(ctx, env) }
		var err error
		if w.edit.Run == nil || !w.always() {
			err = run()
		} else {
			w.Fire()
			err = w.edit.Run(w, run)
		}
		if own := w.failure(); own != nil {
			err = own // what the client returned is a consequence of it
		}
		cancel()
		w.work.Wait()
		if w.panics != nil {
			panic(w.panics)
		}
		return err
	}
}

// wrap puts the wire between the client and all that the environment leads to.
func (w *Wire) wrap(env *harness.Env) {
	network := *env.HTTP
	w.server = cmp.Or(network.Transport, http.DefaultTransport)
	network.Transport = w.network(w.server)
	env.HTTP = &network
	if launch := env.Launch; launch != nil {
		env.Launch = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
			return w.launch(ctx, launch, stderr)
		}
	}
	if report := env.Report; w.edit.Ended != nil {
		env.Report = func(o harness.Outcome) {
			before := o
			if w.ended() {
				w.edit.Ended(&o)
			}
			if o.Ended != before.Ended {
				w.Fire()
			}
			if report != nil {
				report(o)
			}
		}
	}
	w.decision = env.Decision
	switch {
	case w.edit.Env == nil:
	case !w.always(): // only the user's decision can differ from sample to sample
		told := *env
		w.edit.Env(&told)
		w.decision = told.Decision
	default:
		told := fmt.Sprint(string(env.Declare), env.Decision, env.Timeout)
		if w.edit.Env(env); told != fmt.Sprint(string(env.Declare), env.Decision, env.Timeout) {
			w.Fire()
		}
	}
}

// Fire notes that the bug has changed something. Edits of messages need not call it.
func (w *Wire) Fire() { w.fire(nil) }

func (w *Wire) fire(about []Facts) {
	if w.fired != nil {
		w.fired(Change{w.Calling(), about})
	}
}

// Calling returns the latest call, as [Change] has it.
func (w *Wire) Calling() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calling
}

// Die ends the client: its connections break, it makes no new request, and it returns the error.
func (w *Wire) Die(why string) {
	w.Fire()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = errors.New("broken on purpose: " + why)
	for c := range w.open {
		w.work.Go(func() { _ = c.Close() })
	}
}

// Panic ends the client as [Wire.Die] does, with a panic.
func (w *Wire) Panic(why string) {
	w.Die(why)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.panics = "broken on purpose: " + why
}

// failure is why the client ended itself, or nil.
func (w *Wire) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// opened keeps a connection for [Wire.Die] to close, and returns what forgets it.
func (w *Wire) opened(c io.Closer) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[c] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, c)
	}
}
