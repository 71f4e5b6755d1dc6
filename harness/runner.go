package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// DefaultTimeout is how long a session may take when nothing else is said.
const DefaultTimeout = 30 * time.Second

// plantedKey looks like a provider's key and is none.
const plantedKey = "sk-planted-0123456789abcdef0123456789abcdef"

// Runner plays cases against a client, in one revision.
type Runner struct {
	Client Client
	// Revision is the one that the server speaks.
	Revision server.Revision
	// Seed makes session ids and request states; equal seeds make equal runs.
	Seed int64
	// Timeout is how long one session with the client may take, all its cases together; 0 for [DefaultTimeout].
	Timeout time.Duration
	// Parallel is how many sessions may run at once; 0 for one.
	Parallel int
	// Tool is the version of the program, for the trace.
	Tool string
	// Source answers the model's requests in place of the cases' scripts: a cassette. Nil for the scripts.
	Source llm.Source
	// Bubble runs a function in virtual time, for clients that allow it (see [Client.InBubble]): under go test
	//
	//	func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	//
	// Nil for real time.
	Bubble func(func())
	// Watchdog is how long, by a real clock, a session in virtual time may take before its client is taken to wait for something
	// outside of the bubble, where no time-out of the bubble reaches it; 0 for [DefaultWatchdog].
	Watchdog time.Duration
}

// DefaultWatchdog is far beyond what a session in virtual time takes, which is milliseconds.
const DefaultWatchdog = time.Minute

// Run plays the cases and hands over a trace for each session, in the order of the cases, as soon as it and those before it are there.
// The sessions are as few as the cases allow. Its error is a [CommandError], or says what went wrong on our own side; that of the
// context is returned when the run was interrupted, after what was recorded has been handed over.
func (r *Runner) Run(ctx context.Context, cases []Case, done func(*trace.Trace)) error {
	if err := r.Client.check(); err != nil {
		return err
	}
	batches := batch(cases)
	type outcome struct {
		trace *trace.Trace
		err   error
	}
	outcomes := make([]chan outcome, len(batches))
	slots := make(chan struct{}, max(r.Parallel, 1))
	var running sync.WaitGroup
	for i := range batches {
		outcomes[i] = make(chan outcome, 1)
	}
	running.Go(func() {
		for i, cases := range batches {
			slots <- struct{}{}
			running.Go(func() {
				t, err := r.session(ctx, cases)
				<-slots
				outcomes[i] <- outcome{t, err}
			})
		}
	})
	var errs []error
	for _, ch := range outcomes {
		o := <-ch
		if o.trace != nil {
			done(o.trace)
		}
		errs = append(errs, o.err)
	}
	running.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// batch puts the cases into as few sessions as they allow, in the order of each session's first case.
func batch(cases []Case) [][]Case {
	var batches [][]Case
	shared := map[string]int{} // by what is to be declared, the session of the cases that are not isolated
	for _, c := range cases {
		i, open := shared[c.declare()]
		switch {
		case c.Isolated:
			batches = append(batches, []Case{c})
		case open:
			batches[i] = append(batches[i], c)
		default:
			shared[c.declare()] = len(batches)
			batches = append(batches, []Case{c})
		}
	}
	return batches
}

// session plays the cases in one session with one client, in a bubble where there is one.
func (r *Runner) session(ctx context.Context, cases []Case) (*trace.Trace, error) {
	if ctx.Err() != nil {
		return nil, nil // whoever gave up the run is told so by Run
	}
	if r.Bubble == nil || !r.Client.InBubble() {
		return r.record(ctx, cases, func(*trace.Recorder) {})
	}
	return r.inBubble(cases)
}

// record plays the cases and returns the trace. The recorder is handed out at once, for the case that we do not get to the end.
func (r *Runner) record(ctx context.Context, cases []Case, handOut func(*trace.Recorder)) (*trace.Trace, error) {
	cases = withBarrier(cases)
	timeout := cmp.Or(r.Timeout, DefaultTimeout)
	header := trace.Header{Tool: r.Tool, Client: r.Client.Name, Revision: string(r.Revision), Seed: r.Seed,
		Declare: json.RawMessage(cases[0].declare()), Key: plantedKey, Timeout: timeout, Replayed: r.Source != nil}
	ids := map[string]string{} // case ids by tool and by mark
	for _, c := range cases {
		header.Cases = append(header.Cases, trace.Case{ID: c.ID, Tool: c.Tool(), Mark: c.Mark()})
		ids[c.Tool()], ids[c.Mark()] = c.ID, c.ID
	}
	rec := trace.NewRecorder(header, 0)
	handOut(rec)
	record := func(e trace.Event) trace.Ref {
		if e.Case != "" {
			e.Case = ids[e.Case]
		}
		return rec.Record(e)
	}
	fakes, err := r.startFakes(cases, record)
	if err != nil {
		return nil, fmt.Errorf("starting a session of %s: %w", r.Revision, err)
	}
	env := Env{URL: fakes.server.URL, HTTP: fakes.http, Revision: r.Revision, Model: fakes.model.Bases(), Key: plantedKey,
		Declare: header.Declare}
	record(trace.Event{Process: &trace.Process{State: trace.Started, Argv: r.Client.argv}})
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errTimeUp)
	ended, startErr := r.Client.start(limited, env)
	cancel()
	if startErr != nil {
		return nil, errors.Join(startErr, fakes.close())
	}
	record(trace.Event{Process: ended})
	err = fakes.close()
	return rec.Stop(), err
}

// fakes are the two servers of a session.
type fakes struct {
	server *server.Server
	model  *llm.Server
	http   *http.Client
}

// startFakes starts both servers, on an in-memory network for a client that can use it.
func (r *Runner) startFakes(cases []Case, record func(trace.Event) trace.Ref) (*fakes, error) {
	f := &fakes{http: http.DefaultClient}
	var listeners [2]net.Listener
	if r.Client.InBubble() {
		network := memnet.New()
		f.http = network.Client()
		for i := range listeners {
			var err error
			if listeners[i], err = network.Listen("127.0.0.1:0"); err != nil {
				return nil, err
			}
		}
	}
	var tools []server.Tool
	for _, c := range cases {
		tools = append(tools, server.Tool{Name: c.Tool(), Description: "Runs the case " + c.ID + ".", Mark: c.Mark(), Play: c.Play})
	}
	var err error
	f.model, err = llm.Start(llm.Options{Record: record, Key: plantedKey, Listener: listeners[0], Source: r.Source})
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		var rules []*llm.Rule
		if r.Source == nil && c.Script != nil {
			rules = c.Script(c.Mark())
		}
		if err := f.model.Script(c.Mark(), rules...); err != nil {
			f.model.Close()
			return nil, err
		}
	}
	f.server, err = server.Start(server.Options{Revisions: []server.Revision{r.Revision}, Record: record, Seed: r.Seed, Listener: listeners[1]}, tools...)
	if err != nil {
		f.model.Close()
		return nil, err
	}
	return f, nil
}

// close ends both servers at once: the model first, so that no play still waits for it.
func (f *fakes) close() error {
	f.model.Close()
	return f.server.Close()
}
