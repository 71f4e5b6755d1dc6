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
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// session plays the cases with one client, in a bubble if possible. In real time it calls spoke for each message of the
// client. The trace is nil if ctx has ended.
func (r *Runner) session(ctx context.Context, cases []Case, spoke func()) (*trace.Trace, error) {
	if ctx.Err() != nil {
		return nil, nil // Run returns the error
	}
	if r.inVirtualTime(&cases[0]) {
		return r.inBubble(cases)
	}
	return r.play(ctx, cases, func(*trace.Recorder) {}, spoke)
}

// header returns the header of a session's trace, and case ids by tool, mark and resource URI.
func (r *Runner) header(client *Client, cases []Case, limit time.Duration) (trace.Header, map[string]string) {
	header := trace.Header{Tool: r.Tool, Client: client.Name, Revision: string(r.Revision), Seed: r.Seed,
		Declare: json.RawMessage(cases[0].declare()), Decision: cases[0].Decision, Key: PlantedKey,
		Timeout: limit, Replayed: r.Source != nil}
	l := r.limits(&cases[0])
	header.ClientTimeout, header.TimeoutDeclared, header.ModelDelay = l.Client, l.Declared, l.ModelDelay
	if client.stdio {
		header.Transport = trace.Stdio
	}
	for _, revision := range cases[0].ServerRevisions {
		header.ServerRevisions = append(header.ServerRevisions, string(revision))
	}
	ids := map[string]string{}
	for _, c := range cases {
		header.Cases = append(header.Cases,
			trace.Case{ID: c.ID, Tool: c.Tool(), Mark: c.Mark(), Carrier: string(c.Carrier)})
		ids[c.Tool()], ids[c.Mark()] = c.ID, c.ID
		if c.Carrier == server.ResourcesRead {
			ids[server.ResourceURI(c.Tool())] = c.ID // in outcomes
		}
	}
	return header, ids
}

// play plays the cases and returns the trace. It passes the recorder to started at once: a bubble may not get to the
// end. It calls spoke for each message of the client.
func (r *Runner) play(
	ctx context.Context, cases []Case, started func(*trace.Recorder), spoke func(),
) (*trace.Trace, error) {
	client, limit := r.client(&cases[0]), r.limit(cases)
	var count atomic.Int64
	progress, connected := count.Load, make(chan struct{})
	connect := sync.OnceFunc(func() { close(connected) })
	if cases[0].waiting() { // its limit includes all that it needs
		progress = func() int64 { return 0 }
	}
	cases = withBarrier(cases)
	header, ids := r.header(client, cases, limit)
	rec := trace.NewRecorder(header, cmp.Or(r.TraceLimit, DefaultTraceLimit))
	started(rec)
	record := func(e trace.Event) trace.Ref {
		if e.Case != "" {
			e.Case = ids[e.Case]
		}
		if fromClient(&e) {
			connect()
			spoke()
		}
		if isProgress(&e) {
			count.Add(1)
		}
		return rec.Record(e)
	}
	fakes, err := r.startFakes(client, cases, record)
	if err != nil {
		return nil, fmt.Errorf("starting a session of %s: %w", r.Revision, err)
	}
	var announced announcements
	env := r.env(fakes, &header, cases)
	env.Report = func(o Outcome) { record(trace.Event{Case: o.Tool, Mark: o.mark()}) }
	env.announce = announced.add
	if err := fakes.launchable(client, &env); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a session of %s: %w", r.Revision, err), fakes.close())
	}
	record(trace.Event{Process: &trace.Process{State: trace.Started, Argv: client.Argv()}})
	limited, cancel := withLimit(ctx, limit, connected, progress)
	ended, err := client.start(limited, env)
	cancel()
	var ours *fault
	if errors.As(err, &ours) {
		recordFault(rec, cases, ours)
	} else if err != nil {
		return nil, errors.Join(err, fakes.close())
	}
	if r.inVirtualTime(&cases[0]) {
		ended.Err = withAdvice(ended.Err)
	}
	for _, feature := range announced.all() {
		record(trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: feature}})
	}
	record(trace.Event{Process: ended})
	err = fakes.close()
	return rec.Stop(), err
}

// recordFault notes a fault for the session and for each case.
func recordFault(rec *trace.Recorder, cases []Case, f *fault) {
	mark := &trace.Mark{Name: trace.MarkHarnessError, Text: f.text}
	rec.Record(trace.Event{Mark: mark})
	for _, c := range cases {
		rec.Record(trace.Event{Case: c.ID, Mark: mark})
	}
}

// env is what the client receives.
func (r *Runner) env(f *fakes, header *trace.Header, cases []Case) Env {
	env := Env{URL: f.server.URL, HTTP: f.http, Revision: r.Revision, Model: r.bases(f.model), Key: PlantedKey,
		Declare: header.Declare, Decision: cmp.Or(header.Decision, Approve), Timeout: header.ClientTimeout}
	if cases[0].ServerRevisions != nil {
		env.Revision = ""
	}
	for _, c := range cases {
		if c.Abandon {
			env.Abandon = append(env.Abandon, c.Tool())
		}
	}
	env.offer(cases)
	env.watchModel()
	return env
}

// bases are the model's addresses for the client. A server compatible with OpenAI is OpenAI at another address.
func (r *Runner) bases(model *llm.Server) map[string]string {
	bases := model.BaseURLs()
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
	relays *relay.Listener // nil unless the client launches the server in a process
}

// startFakes starts both servers, on an in-memory network if the client can use it.
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
		tools = append(tools, server.Tool{Name: c.Tool(), Description: "Runs the case " + c.ID + ".", Mark: c.Mark(),
			Carrier: c.Carrier, ResponseMode: c.ResponseMode, Handler: staged[i].Handler})
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
	revisions := cases[0].ServerRevisions
	if revisions == nil {
		revisions = []server.Revision{r.Revision}
	}
	f.server, err = server.Start(server.Options{Revisions: revisions, ListVersionsToModern: cases[0].ListVersionsToModern,
		Record: record, Seed: r.Seed, Listener: listeners[1], IsPlantedSecret: Planted(PlantedKey).Holds}, tools...)
	if err != nil {
		f.model.Close()
		return nil, err
	}
	return f, nil
}

// close closes both servers: the model first, so that no handler still waits for it.
func (f *fakes) close() error {
	f.model.Close()
	err := f.server.Close()
	if f.relays != nil {
		err = errors.Join(err, f.relays.Close())
	}
	return err
}
