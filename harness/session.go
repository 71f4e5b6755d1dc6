package harness

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/leak"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
	"github.com/mcp-conform/mcp-conform/internal/relay"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// session plays the cases with one client, in a bubble if possible. It calls spoke for each message of the client. The
// trace is nil if ctx has ended.
func (r *Runner) session(ctx context.Context, cases []Case, spoke func(*trace.Event)) (*trace.Trace, error) {
	if ctx.Err() != nil {
		return nil, nil // Run returns the error
	}
	if r.inVirtualTime(&cases[0]) {
		return r.inBubble(cases, spoke)
	}
	return r.play(ctx, cases, func(*trace.Recorder) {}, spoke)
}

// header returns the header of a session's trace, and case ids by tool, mark and resource URI.
func (r *Runner) header(client *Client, cases []Case, limit time.Duration) (trace.Header, map[string]string) {
	header := trace.Header{Tool: r.Tool, Client: client.Name, Revision: string(r.Revision), Seed: r.Seed,
		Declare: json.RawMessage(cases[0].declare()), Decision: cases[0].Decision, Key: leak.PlantedKey,
		Timeout: limit, Replayed: r.Source != nil}
	if r.Client.Agent {
		header.PromptMark = promptMark
	}
	l := r.limits(&cases[0])
	header.Loop = string(r.Loop)
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
	ctx context.Context, cases []Case, started func(*trace.Recorder), spoke func(*trace.Event),
) (*trace.Trace, error) {
	client, whole := r.client(&cases[0]), r.limit(cases)
	seen := &pulse{planned: int64(len(cases[0].HostTurns))}
	say := r.progress(cases, whole)
	defer say(nil)
	limit, short := r.hangs().limits(whole, r.inVirtualTime(&cases[0]) || cases[0].waiting())
	cases = withBarrier(cases)
	header, ids := r.header(client, cases, short)
	header.Hurried = short < whole
	staged := stages(cases, r.limits(&cases[0]), r.Source == nil)
	further := addTools(&header, staged)
	w := &watch{rec: trace.NewRecorder(header, cmp.Or(r.TraceLimit, defaultTraceLimit)), ids: ids, further: further,
		mask: leak.NewMask(os.Environ()), pulse: seen, say: say, spoke: spoke, connected: newEvent(), done: newEvent()}
	if r.counts != nil {
		w.rec.ShareLarge(&r.counts.large)
	}
	started(w.rec)
	fakes, err := r.startFakes(client, cases, staged, w.agent(&r.Client), w.record)
	if err != nil {
		return nil, fmt.Errorf("starting a session of %s: %w", r.Revision, err)
	}
	env := r.env(fakes, &header, cases)
	env.Report = func(o Outcome) {
		o.Tool = env.ownName(o.Tool)
		w.record(trace.Event{Case: o.Tool, Mark: o.mark()})
	}
	env.announce, env.done = w.announced.add, w.done.happened
	env.front = tap.NewFrames(func(f trace.Frame) { w.record(trace.Event{Front: &f}) })
	if err := fakes.launchable(client, &env); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a session of %s: %w", r.Revision, err), fakes.close())
	}
	w.record(trace.Event{Process: &trace.Process{State: trace.Started, Argv: client.Argv()}})
	timeLimit := r.deadline(limit, &cases[0], seen, w.connected.happened)
	timeLimit.ending, timeLimit.short = w.ending, short
	limited, cancel := timeLimit.context(ctx)
	ended, err := client.start(limited, env)
	cancel()
	if ended != nil && !ended.Deadline && ctx.Err() != nil { // what interrupts the run may have reached the client, too
		ended.Interrupted = true
	}
	var ours *fault
	if errors.As(err, &ours) {
		recordFault(w.rec, cases, ours)
	} else if err != nil {
		return nil, errors.Join(err, fakes.close())
	}
	if r.inVirtualTime(&cases[0]) {
		ended.Err = withAdvice(ended.Err)
	}
	w.ended(ended, r.Client.Has)
	err = fakes.close()
	if n := fakes.model.Strangers() + fakes.server.Strangers(); n > 0 {
		w.record(trace.Event{Mark: &trace.Mark{Name: trace.MarkStrangers, Text: fmt.Sprint(n)}})
	}
	t := w.rec.Stop()
	r.hangs().note(t)
	return t, err
}

func addTools(header *trace.Header, staged []Stage) map[string]bool {
	names := map[string]bool{}
	for i := range staged {
		for _, tool := range staged[i].Tools {
			header.Cases[i].Tools = append(header.Cases[i].Tools, tool.Name)
			names[tool.Name] = true
		}
	}
	return names
}

func recordFault(rec *trace.Recorder, cases []Case, f *fault) {
	mark := &trace.Mark{Name: trace.MarkHarnessError, Text: f.text}
	rec.Record(trace.Event{Mark: mark})
	for _, c := range cases {
		rec.Record(trace.Event{Case: c.ID, Mark: mark})
	}
}

// withProperties is a schema without arguments that OpenAI accepts as it is, in a host that passes it on.
var withProperties = json.RawMessage(`{"type":"object","properties":{}}`)

func (r *Runner) env(f *fakes, header *trace.Header, cases []Case) Env {
	env := Env{URL: f.server.URL, HTTP: f.http, Revision: r.Revision, Model: r.bases(f.model), Key: leak.PlantedKey,
		Declare: header.Declare, Timeout: header.ClientTimeout,
		Decision: cmp.Or(header.Decision, Approve)}
	if r.Client.Agent {
		env.Prompt = prompt
	}
	if cases[0].ServerRevisions != nil {
		env.Revision = ""
	}
	for _, c := range header.Cases {
		if r.Client.gateway != nil {
			env.names = append(env.names, c.Tool)
		}
	}
	for _, c := range cases {
		if c.Carrier == "" {
			env.tools = append(env.tools, c.Tool())
		}
		if c.Arguments != nil {
			env.pass(c.Tool(), c.Arguments)
		}
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
	if r.Dialect == "" {
		return bases
	}
	return map[string]string{cmp.Or(dialects.Facts()[r.Dialect].Compatible, r.Dialect): bases[r.Dialect]}
}

type fakes struct {
	server *server.Server
	model  *llm.Server
	http   *http.Client
	relays *relay.Listener // nil unless the client launches the server in a process
}

// startFakes starts both servers, on an in-memory network if the client can use it.
func (r *Runner) startFakes(
	client *Client, cases []Case, staged []Stage, agent *llm.Agent, record func(trace.Event) trace.Ref,
) (*fakes, error) {
	f := &fakes{http: http.DefaultClient}
	var listeners [2]net.Listener
	prefix := unguessable()
	if client.InBubble() {
		prefix = ""
		network := memnet.New()
		f.http = network.Client()
		for i := range listeners {
			var err error
			if listeners[i], err = network.Listen("127.0.0.1:0"); err != nil {
				return nil, err
			}
		}
	}
	tools := toolsOf(cases, staged, agent)
	var err error
	f.model, err = llm.Start(llm.Options{Record: record, Key: leak.PlantedKey, Listener: listeners[0], Source: r.Source,
		Agent: agent, Prefix: prefix, MaxBody: largestBody})
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
	f.server, err = server.Start(
		server.Options{Revisions: revisions, ListVersionsToModern: cases[0].ListVersionsToModern,
			AnswerDiscover: cases[0].AnswerDiscover, ToolsPerPage: cases[0].ToolsPerPage, Record: record, Seed: r.Seed,
			Listener: listeners[1], Prefix: prefix, MaxBody: largestBody,
			IsPlantedSecret: leak.Planted(leak.PlantedKey).Holds},
		tools...)
	if err != nil {
		f.model.Close()
		return nil, err
	}
	return f, nil
}

// toolsOf returns the server's tools, and tells the agent of them; nil for no host.
func toolsOf(cases []Case, staged []Stage, agent *llm.Agent) (tools []server.Tool) {
	for i, c := range cases {
		tool := server.Tool{Name: c.Tool(), Description: "Runs the case " + c.ID + ".", Mark: c.Mark(),
			Carrier: c.Carrier, ResponseMode: c.ResponseMode, Handler: staged[i].Handler}
		if agent != nil && c.Carrier == "" {
			agent.Tools = append(agent.Tools, llm.Tool{Name: tool.Name, Description: tool.Description})
			tool.InputSchema = withProperties
		}
		if agent != nil && c.HostTurns != nil {
			agent.Turns = c.HostTurns
			for _, other := range staged[i].Tools {
				agent.Others = append(agent.Others, llm.Tool{Name: other.Name, Description: other.Description})
			}
		}
		if own := []server.Tool{tool}; c.ToolsPerPage > 0 {
			tools = slices.Concat(tools, staged[i].Tools, own)
		} else {
			tools = slices.Concat(tools, own, staged[i].Tools)
		}
	}
	return tools
}

// unguessable returns a path for our URLs: every program of this machine reaches them. It has only digits, which a
// baseline ignores in messages.
func unguessable() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("/%020d", binary.LittleEndian.Uint64(random[:]))
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
