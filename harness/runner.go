package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// DefaultTimeout is how long a session may take when nothing else is said.
const DefaultTimeout = 30 * time.Second

// DefaultCaseTimeout is how long a session of one case may take when nothing else is said.
const DefaultCaseTimeout = 10 * time.Second

// DefaultTraceLimit is how much of a session is kept when nothing else is said, in bytes.
const DefaultTraceLimit = 128 << 20

// Runner plays cases against a client, in one revision.
type Runner struct {
	Client Client
	// Revision is the one that the server speaks.
	Revision server.Revision
	// Seed makes session ids and request states; equal seeds make equal runs.
	Seed int64
	// Timeout is how long one session with the client may take from its first word, all its cases together, and how long it may take to say that; 0
	// for [DefaultTimeout]. One that gets on, with its calls or with the model, may take up to four times as long.
	Timeout time.Duration
	// CaseTimeout is how long a session of one case may take, beside its [Case.Wait]; 0 for [DefaultCaseTimeout], or Timeout where that is
	// less, or a third of it where that is more. One that gets on may take up to four times as long, too, unless its case waits by design.
	CaseTimeout time.Duration
	// ClientTimeout is how long the client waits for the model, as it is known of the client: it is told so, and held to it. 0 where nobody
	// knows: the client is then told of a limit of ours, and not held to that ([Limits]).
	ClientTimeout time.Duration
	// Parallel is how many sessions may run at once, beside those of cases that wait; 0 for one.
	Parallel int
	// Contained plays the hostile cases in place of Client, where a crash has to leave us alone: see [Contain]. Nil for Client.
	Contained *Client
	// TraceLimit is how much of one session is kept, in bytes; 0 for [DefaultTraceLimit]. Of a client that says more nothing is judged.
	TraceLimit int64
	// Tool is the version of the program, for the trace.
	Tool string
	// Dialect is the only model wire format that the client is told of, such as "anthropic", or a server compatible with OpenAI, such as
	// "mistral"; "" for all that there are.
	Dialect string
	// Source answers the model's requests in place of the cases' scripts: a cassette. Nil for the scripts.
	Source llm.Source
	// Bubble runs a function in virtual time, for clients that allow it (see [Client.InBubble]): under go test
	//
	//	func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	//
	// Nil for real time.
	Bubble func(func())
	// Watchdog is for how long, by a real clock, nothing may be seen of a session in virtual time before its client is taken to wait for
	// something outside of the bubble, where no time-out of the bubble reaches it; 0 for [DefaultWatchdog].
	Watchdog time.Duration
}

// DefaultWatchdog is far beyond what a session in virtual time takes, which is milliseconds.
const DefaultWatchdog = time.Minute

// Run plays the cases and hands over a trace for each session, in the order of their first cases. The sessions are as few as the cases
// allow. Where one dies, hangs or ends early, what it left unfinished is played again, each case in a session of its own, and the
// trace of the first one says so ([trace.Case.Again]). Of hostile cases all are, where it died before its barrier was passed: first the one that it
// died in alone, and those before and behind it together. When three such sessions in a row get nowhere the cases left are given up, and a
// trace without a client says why ([trace.MarkNotPlayed]). Its error is a [CommandError], or says what went wrong on our own side; that
// of the context is returned when the run was interrupted, after what was recorded has been handed over.
func (r *Runner) Run(ctx context.Context, cases []Case, done func(*trace.Trace)) error {
	if err := r.Client.check(); err != nil {
		return err
	}
	if r.Dialect != "" && !slices.Contains(llm.Dialects(), r.Dialect) {
		return fmt.Errorf("the model does not speak the dialect %q: want one of %s", r.Dialect, strings.Join(llm.Dialects(), ", "))
	}
	run := &run{Runner: r, ctx: ctx, slots: make(chan struct{}, max(r.Parallel, 1)), starting: make(chan struct{}, max(r.Parallel, 1)),
		silent: make(chan struct{})}
	var errs []error
	for _, p := range run.all(batches(cases, r.Client.stdio)) {
		if p.trace != nil {
			done(p.trace)
		}
		errs = append(errs, p.err)
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// session plays the cases in one session with one client, in a bubble where there is one. Elsewhere spoke is called each time that the client
// says something.
func (r *Runner) session(ctx context.Context, cases []Case, spoke func()) (*trace.Trace, error) {
	if ctx.Err() != nil {
		return nil, nil // whoever gave up the run is told so by Run
	}
	if r.inVirtualTime(&cases[0]) {
		return r.inBubble(cases)
	}
	return r.record(ctx, cases, func(*trace.Recorder) {}, spoke)
}

// client is the one that plays a case, and those that share its session.
func (r *Runner) client(c *Case) *Client {
	if c.Hostile && r.Contained != nil {
		return r.Contained
	}
	return &r.Client
}

func (r *Runner) inVirtualTime(c *Case) bool { return r.Bubble != nil && r.client(c).InBubble() }

// header is that of the trace of a session, and case ids by tool and by mark.
func (r *Runner) header(client *Client, cases []Case, limit time.Duration) (trace.Header, map[string]string) {
	header := trace.Header{Tool: r.Tool, Client: client.Name, Revision: string(r.Revision), Seed: r.Seed,
		Declare: json.RawMessage(cases[0].declare()), Decision: cases[0].Decision, Key: PlantedKey, Timeout: limit, Replayed: r.Source != nil}
	l := r.limits(&cases[0])
	header.ClientTimeout, header.TimeoutDeclared, header.Patience = l.Client, l.Declared, l.Patience
	if client.stdio {
		header.Transport = trace.Stdio
	}
	for _, revision := range cases[0].Speaks {
		header.Speaks = append(header.Speaks, string(revision))
	}
	ids := map[string]string{}
	for _, c := range cases {
		header.Cases = append(header.Cases, trace.Case{ID: c.ID, Tool: c.Tool(), Mark: c.Mark(), Carrier: string(c.Carrier)})
		ids[c.Tool()], ids[c.Mark()] = c.ID, c.ID
		if c.Carrier == server.ResourcesRead {
			ids[server.ResourceURI(c.Tool())] = c.ID // as outcomes name it
		}
	}
	return header, ids
}

// record plays the cases and returns the trace. The recorder is handed out at once, for the case that we do not get to the end. Each time that
// the client says something spoke is called.
func (r *Runner) record(ctx context.Context, cases []Case, handOut func(*trace.Recorder), spoke func()) (*trace.Trace, error) {
	client, limit := r.client(&cases[0]), r.limit(cases)
	var count atomic.Int64
	done, spoken := count.Load, make(chan struct{})
	begins := sync.OnceFunc(func() { close(spoken) })
	if cases[0].waiting() { // which has the time for all that it does
		done = func() int64 { return 0 }
	}
	cases = withBarrier(cases)
	header, ids := r.header(client, cases, limit)
	rec := trace.NewRecorder(header, cmp.Or(r.TraceLimit, DefaultTraceLimit))
	handOut(rec)
	record := func(e trace.Event) trace.Ref {
		if e.Case != "" {
			e.Case = ids[e.Case]
		}
		if e.Frame != nil && e.Frame.Dir == trace.FromClient {
			begins()
			spoke()
		}
		if getsOn(&e) {
			count.Add(1)
		}
		return rec.Record(e)
	}
	fakes, err := r.startFakes(client, cases, record)
	if err != nil {
		return nil, fmt.Errorf("starting a session of %s: %w", r.Revision, err)
	}
	var announced announcements
	env := Env{URL: fakes.server.URL, HTTP: fakes.http, Revision: r.Revision, Model: r.bases(fakes.model), Key: PlantedKey,
		Declare: header.Declare, Decision: cmp.Or(header.Decision, Approve), Timeout: header.ClientTimeout, GiveUp: givenUp(cases),
		Report:   func(o Outcome) { record(trace.Event{Case: o.Tool, Mark: o.mark()}) },
		announce: announced.add}
	if cases[0].Speaks != nil {
		env.Revision = ""
	}
	env.offer(cases)
	env.watched()
	if err := fakes.launchable(client, &env); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a session of %s: %w", r.Revision, err), fakes.close())
	}
	record(trace.Event{Process: &trace.Process{State: trace.Started, Argv: client.Argv()}})
	limited, cancel := within(ctx, limit, spoken, done)
	ended, startErr := client.start(limited, env)
	cancel()
	var ours *fault
	if errors.As(startErr, &ours) {
		rec.Record(trace.Event{Mark: &trace.Mark{Name: trace.MarkHarnessError, Text: ours.text}})
		for _, c := range cases {
			rec.Record(trace.Event{Case: c.ID, Mark: &trace.Mark{Name: trace.MarkHarnessError, Text: ours.text}})
		}
	} else if startErr != nil {
		return nil, errors.Join(startErr, fakes.close())
	}
	if r.inVirtualTime(&cases[0]) {
		ended.Err = advised(ended.Err)
	}
	for _, feature := range announced.all() {
		record(trace.Event{Mark: featureMark(feature)})
	}
	record(trace.Event{Process: ended})
	err = fakes.close()
	return rec.Stop(), err
}

// givenUp are the tools of the cases whose call is to be given up.
func givenUp(cases []Case) []string {
	var tools []string
	for _, c := range cases {
		if c.GiveUp {
			tools = append(tools, c.Tool())
		}
	}
	return tools
}

// bases are the model's addresses that the client is told. To a client a server that is compatible with OpenAI is OpenAI at another address.
func (r *Runner) bases(model *llm.Server) map[string]string {
	bases := model.Bases()
	switch r.Dialect {
	case "":
		return bases
	case dialect.Native, dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Anthropic, dialect.Gemini, dialect.Ollama:
		return map[string]string{r.Dialect: bases[r.Dialect]}
	}
	return map[string]string{dialect.OpenAIChat: bases[r.Dialect]}
}

// fakes are the two servers of a session.
type fakes struct {
	server *server.Server
	model  *llm.Server
	http   *http.Client
	relays *relay.Listener // nil where no client launches the server in a process
}

// startFakes starts both servers, on an in-memory network for a client that can use it.
func (r *Runner) startFakes(client *Client, cases []Case, record func(trace.Event) trace.Ref) (*fakes, error) {
	f := &fakes{http: http.DefaultClient}
	var listeners [2]net.Listener
	if client.InBubble() {
		network := memnet.New()
		f.http = network.Client()
		for i := range listeners {
			var err error
			if listeners[i], err = network.Listen("127.0.0.1:0"); err != nil {
				return nil, err
			}
		}
	}
	staged := stages(cases, r.limits(&cases[0]), r.Source == nil)
	var tools []server.Tool
	for i, c := range cases {
		tools = append(tools, server.Tool{Name: c.Tool(), Description: "Runs the case " + c.ID + ".", Mark: c.Mark(), Carrier: c.Carrier, Responses: c.Responses, Handler: staged[i].Handler})
	}
	var err error
	f.model, err = llm.Start(llm.Options{Record: record, Key: PlantedKey, Listener: listeners[0], Source: r.Source})
	if err != nil {
		return nil, err
	}
	for i, c := range cases {
		if err := f.model.Script(c.Mark(), staged[i].Rules...); err != nil {
			f.model.Close()
			return nil, err
		}
	}
	revisions := cases[0].Speaks
	if revisions == nil {
		revisions = []server.Revision{r.Revision}
	}
	f.server, err = server.Start(server.Options{Revisions: revisions, TellsVersions: cases[0].TellsVersions, Record: record, Seed: r.Seed, Listener: listeners[1],
		Planted: Planted(PlantedKey).Holds}, tools...)
	if err != nil {
		f.model.Close()
		return nil, err
	}
	return f, nil
}

// close ends both servers at once: the model first, so that no play still waits for it.
func (f *fakes) close() error {
	f.model.Close()
	err := f.server.Close()
	if f.relays != nil {
		err = errors.Join(err, f.relays.Close())
	}
	return err
}
