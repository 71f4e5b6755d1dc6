package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// GatewayProgram is a program between a client and the server: a gateway, a bridge, a proxy.
type GatewayProgram struct {
	// Argv is the command, with placeholders. One of {url}, {server-command}, {server-program} or {config} says how it
	// reaches the server: by its URL, or by launching it. With {listen}, an address such as 127.0.0.1:4321, or {port} it
	// listens there; without them the client launches it over stdio.
	Argv []string
	// Templates are files with the same placeholders, as in [Setup].
	Templates []Template
	// Path is the path of its endpoint, if it listens.
	Path string
	// Header is sent with each request to it.
	Header http.Header
	// Ready is how long it may take until it answers, if it listens.
	Ready time.Duration
}

// gateway is how a [Gateway] is reached.
type gateway struct {
	listens bool
	path    string
	header  http.Header
	ready   time.Duration
}

// Gateway is a gateway as a client under test: run, a function as [InProcess] describes, reaches the server through the
// program, over real sockets. The program is started for each session. What the server sees is the gateway's doing if
// run is correct.
func Gateway(run func(context.Context, Env) error, p GatewayProgram) Client {
	c := Command(p.Argv...)
	c.run, c.loopback, c.Agent = run, true, false
	c.Setup.Templates = p.Templates
	texts := c.texts()
	c.stdio = mentions(texts, commandPlace) || mentions(texts, programPlace)
	c.gateway = &gateway{mentions(texts, listenPlace) || mentions(texts, portPlace), p.Path, p.Header, p.Ready}
	return c
}

// Pair names the transports of a gateway's two sides, such as "stdio to HTTP": to its client, and to its server.
func (c *Client) Pair() string {
	name := map[bool]string{true: "stdio", false: "HTTP"}
	return name[!c.gateway.listens] + " to " + name[c.stdio]
}

// WithoutGateway is the client of a gateway alone: run reaches the server directly, by the transport of the gateway.
func (c *Client) WithoutGateway(run func(context.Context, Env) error) Client {
	direct := InProcess(run)
	direct.Name, direct.Has, direct.stdio = c.Name, c.Has, c.stdio
	return direct
}

// Through is the same gateway with another client before it. It is false for a client that is no gateway.
func (c *Client) Through(run func(context.Context, Env) error) (Client, bool) {
	if c.gateway == nil {
		return Client{}, false
	}
	other := *c
	other.run = run
	return other, true
}

// One plays cases in one session, in real time. The trace is nil if the context has ended.
func (r *Runner) One(ctx context.Context, cases []Case) (*trace.Trace, error) {
	if err := r.Client.check(); err != nil {
		return nil, err
	}
	return r.session(ctx, cases, func(*trace.Event) {})
}

// checkGateway returns an error for a command that does not say where the server is.
func (c *Client) checkGateway() error {
	texts := c.texts()
	if !c.stdio && !mentions(texts, urlPlace) && !mentions(texts, configPlace) {
		return errors.New("the gateway does not learn where the server is: use {url}, {server-command} or {config}")
	}
	return nil
}

// ownName returns the name that a tool has at the server: a gateway may put a prefix before it.
func (e *Env) ownName(tool string) string {
	own := ""
	for _, name := range e.names {
		if strings.HasSuffix(tool, name) && len(name) > len(own) {
			own = name
		}
	}
	return cmp.Or(own, tool)
}

// runGateway runs the client's function with the gateway in between. The trace shows the gateway's process.
func (c *Client) runGateway(ctx context.Context, env Env, grace time.Duration) (*trace.Process, error) {
	behind := Env{URL: env.URL, Server: env.Server, Revision: env.Revision, settle: env.settle}
	front := env
	front.URL, front.Launch, front.Server = "", nil, nil
	if !c.gateway.listens {
		var all launches
		front.Launch = all.launcher(c, behind, env.front, grace)
		p := runFunction(ctx, c.run, front, grace)
		all.end(grace)
		return all.report(p), nil
	}
	var err error
	if behind.port, err = freePort(); err != nil {
		return nil, err
	}
	g, err := c.startGateway(behind, false)
	if err != nil {
		return nil, err
	}
	next := &http.Transport{DisableCompression: true}
	defer next.CloseIdleConnections()
	door := &frontDoor{host: behind.listen(), header: c.gateway.header, next: next, recorded: env.front.RoundTripper(next)}
	front.HTTP = door.client()
	front.watchModel()
	front.URL = "http://" + behind.listen() + c.gateway.path
	p := &trace.Process{State: trace.Ended}
	if err := g.ready(ctx, c.gateway.ready); err != nil {
		p.Err = valid(err.Error())
	} else {
		listened := listens(otherAddress(), behind.port)
		p = runFunction(ctx, c.run, front, grace)
		p.Listened = listened
		if odd := door.odd(); p.Err != "" && odd != "" {
			p.Err += "; " + cmp.Or(door.older(ctx, c.gateway.path, "/sse"), odd)
		}
	}
	g.end(grace)
	return (&launches{all: []*gatewayProcess{g}}).report(p), nil
}

// Reach plays one call through the gateway, and returns why that does not work; nil if it does.
func (r *Runner) Reach(ctx context.Context) error {
	if err := r.Client.check(); err != nil {
		return err
	}
	patient := *r
	patient.CaseTimeout = r.Timeout // a first start may download something
	reached := false
	one := Case{ID: "gateway/reach", Handler: func(*server.Session) (any, error) {
		reached = true
		return "reached", nil
	}}
	t, err := patient.session(ctx, []Case{one}, func(*trace.Event) {})
	if err != nil || t == nil {
		return errors.Join(err, ctx.Err())
	}
	s := survey(t)
	if reached && (s.ended.Err == "" || returned(t)) { // how the gateway ends is for the checks
		return nil
	}
	why := strings.Join(strings.Fields(s.ended.Err), " ")
	if s.ended.Deadline {
		why = "no answer within " + t.Header.Timeout.String()
	}
	if why == "" {
		why = "the call of a tool did not reach the server" + notOffered(t)
	}
	return &ReachError{Revision: r.Revision, Why: why + oddLine(t), Spoken: spoken(t),
		Output: strings.TrimSpace(s.ended.Stdout + "\n" + s.ended.Stderr)}
}

// oddLine shows the first line of the gateway's standard output that is not a message; "" for none.
func oddLine(t *trace.Trace) string {
	for i := range t.Events {
		f := t.Events[i].Front
		if f == nil || f.Dir != trace.ToClient || f.HTTP != nil || f.Stream != "" {
			continue
		}
		line := bytes.TrimSpace(f.Raw)
		if len(line) > 0 && !(line[0] == '{' && json.Valid(line)) {
			return fmt.Sprintf("; its standard output has a line that is not a message: %q", line[:min(len(line), 80)])
		}
	}
	return ""
}

// notOffered says which tools the gateway offers, if the case's is not among them; else "".
func notOffered(t *trace.Trace) string {
	var names []string
	for i := range t.Events {
		f := t.Events[i].Front
		if f == nil || f.Dir != trace.ToClient {
			continue
		}
		tools, _ := jsonvalue.Decode(jsonvalue.Part(trace.ReadMessage(f.Raw).Result, "tools")).([]any)
		for _, one := range tools {
			tool, _ := one.(map[string]any)
			name, _ := tool["name"].(string)
			names = append(names, name)
		}
	}
	own := t.Header.Cases[0].Tool
	if names == nil || slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, own) }) {
		return ""
	}
	return fmt.Sprintf(": the gateway offers the tools %s, not one whose name ends with %s",
		strings.Join(names, ", "), own)
}

// returned reports whether the client got the result of the call.
func returned(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Events, func(e trace.Event) bool {
		return e.Front != nil && e.Front.Dir == trace.ToClient && bytes.Contains(e.Front.Raw, []byte(`"reached"`))
	})
}

// spoken reports whether a message to the server names the revision of the session: initialize, or any modern one.
func spoken(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Events, func(e trace.Event) bool {
		return e.Frame != nil && e.Frame.Dir == trace.FromClient && bytes.Contains(e.Frame.Raw, []byte(t.Header.Revision))
	})
}

// ReachError says that not even a call of a tool comes through a gateway.
type ReachError struct {
	Revision server.Revision
	Why      string
	Spoken   bool   // whether the gateway spoke the revision to the server
	Output   string // of the gateway; "" for none
}

func (e *ReachError) Error() string {
	text := fmt.Sprintf("no call of a tool comes through the gateway in %s: %s", e.Revision, e.Why)
	if e.Output != "" {
		text += "\nthe gateway printed:\n" + e.Output
	}
	return text
}
