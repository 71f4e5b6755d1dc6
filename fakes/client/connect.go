package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Options say how a client connects and how it answers. One of URL, Handler, Conn and Launch is needed.
type Options struct {
	// URL is the server's endpoint for Streamable HTTP.
	URL string
	// HTTP sends every request to URL; nil for [http.DefaultClient].
	HTTP *http.Client
	// Handler is a server in this process. It gets the requests in memory, at URL, or at /mcp if that is "".
	Handler http.Handler
	// Conn is a connection to a server in this process that speaks as over stdio, such as one end of a [net.Pipe].
	Conn io.ReadWriteCloser
	// Header is added to every request, such as an Authorization.
	Header http.Header
	// Launch starts a server over stdio: see [Command]. It returns its input and output. Each Write is one message.
	// Close must end the server's input and wait for its end. stderr is [Options.Stderr]. Launch is called again, at most
	// three times, when the server ends by itself.
	Launch func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error)
	// Stderr receives what a launched server writes to its standard error; nil leaves that to Launch.
	Stderr io.Writer

	// Revision is the protocol revision to speak; "" negotiates the newest one that both sides know.
	Revision server.Revision
	// Info is the client's name and version, as clientInfo; nil for those of this package.
	Info map[string]any
	// Capabilities are the client capabilities to declare, as a JSON object. The client refuses what they leave out. Nil
	// declares sampling with tools if Sampling is set. Revisions without tools in sampling never see sampling.tools. In
	// 2026-07-28 a client that declares anything declares roots too, and has none.
	Capabilities json.RawMessage

	// Sampling answers sampling requests; nil for a client that does not sample.
	Sampling Handler
	// Fake is the fake model, an *llm.Server, that answers sampling requests if Sampling is nil.
	Fake interface{ BaseURLs() map[string]string }
	// Elicitation answers elicitation/create with an ElicitResult; nil for a client that does not declare it.
	Elicitation Handler
	// Roots are the URIs of the answer to roots/list; nil for a client that does not declare it.
	Roots []string
	// Validate checks the params of a sampling request before Consent and Sampling see them. An error refuses the request
	// with -32602. Nil for [Validate]; a function that returns nil accepts everything.
	Validate func(params map[string]any) error
	// Consent asks the user: with a nil result whether Sampling may be called, and with its result whether the server may
	// have that. An error declines: an [*Error] is sent as it is, any other becomes -1. Nil consents to everything.
	Consent func(ctx context.Context, params, result map[string]any) error
	// Timeout is how long Sampling may take for one request; 0 for a minute, negative for no limit.
	Timeout time.Duration
	// Meta is added to the _meta of every call, such as a traceparent; nil for nothing.
	Meta map[string]any
	// Loop makes the client run the tool loop itself; nil leaves it to the server, as the specification does. Sampling is
	// then called once for each iteration.
	Loop *Loop
	// MaxRounds is how many times one call may ask for input (2026-07-28) before the client abandons it; 0 for 80.
	MaxRounds int
	// Notified receives the server's notifications, except cancellations. It may be called from any goroutine.
	Notified func(method string, params json.RawMessage)
	// Progress receives the progress of calls, as Notified does.
	Progress func(Progress)

	// replaying answers every request of the server in place of the above; nil unless a recording is played.
	replaying func(ctx context.Context, method string, params json.RawMessage) (map[string]any, *Error)
	// strayed is told of each line of a launched server that is not a message; nil tells nobody.
	strayed func(what string)
	// greeted receives the result of initialize; nil for nobody.
	greeted func(result json.RawMessage)
}

// Progress is a notification of the progress of a call.
type Progress struct {
	Progress, Total float64
	Message         string
}

// Handler answers one sampling request. params is a CreateMessageRequestParams and the result a CreateMessageResult;
// numbers in params are [json.Number]. An [*Error] becomes the error response. Any other error becomes -32603 with a
// fixed message, since the server must not see what a provider says. ctx ends when the request is cancelled, the call
// that it belongs to is abandoned, or Options.Timeout has passed. A handler may run several times at once.
type Handler func(ctx context.Context, params map[string]any) (result map[string]any, err error)

// Text returns a CreateMessageResult: an assistant's message of one text, which ended its turn.
func Text(text string) map[string]any {
	return map[string]any{"role": "assistant", "content": map[string]any{"type": "text", "text": text},
		"model": "fake-model", "stopReason": "endTurn"}
}

const (
	defaultTimeout   = time.Minute
	defaultMaxRounds = 80
)

// Client is a connected client. It is safe for concurrent use.
type Client struct {
	options Options
	journal *journal // nil: none is kept
	host    func() error
	base    context.Context // given to Connect
	ctx     context.Context // of base; ends with Close
	cancel  context.CancelFunc

	mu       sync.Mutex
	revision server.Revision
	calls    []context.Context // under way
	wire     wire

	closing sync.Once
	closed  error

	restarting chan struct{} // holds a token while the server is restarted
	restarts   int
}

// wire is the protocol of one era over one transport.
type wire interface {
	// request sends a request and returns its result. Meanwhile it answers what the server asks.
	request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error)
	close() error
}

// Connect connects to the server and agrees with it on a revision. When ctx ends, so does the connection.
func Connect(ctx context.Context, o Options) (*Client, error) { return connect(ctx, o, nil) }

func connect(ctx context.Context, o Options, kept *journal) (*Client, error) {
	if o.Sampling == nil && o.Fake != nil {
		o.Sampling = asking(o.Fake)
	}
	if o.Conn != nil {
		o.Launch = once(o.Conn)
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.MaxRounds = cmp.Or(o.MaxRounds, defaultMaxRounds)
	if o.Info == nil {
		o.Info = map[string]any{"name": "mcp-conform-client", "version": "1"}
	}
	o.declare()
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Client{options: o, journal: kept, base: ctx, revision: o.Revision, restarting: make(chan struct{}, 1)}
	if c.declared()["sampling"] != nil && o.Sampling == nil {
		return nil, errors.New("client: Options.Capabilities declares sampling: set Options.Sampling to answer it")
	}
	c.host = func() error { return nil }
	if o.Handler != nil {
		var err error
		if c.host, err = c.options.host(); err != nil {
			return nil, err
		}
	}
	c.options.HTTP = cmp.Or(c.options.HTTP, http.DefaultClient)
	if o.Header != nil {
		c.options.HTTP = withHeader(c.options.HTTP, o.Header)
	}
	c.ctx, c.cancel = context.WithCancel(ctx)
	w, err := c.open()
	if err != nil {
		c.cancel()
		return nil, errors.Join(err, c.host())
	}
	c.wire = w
	return c, nil
}

func (o *Options) validate() error {
	if _, err := jsonvalue.ReadObject(o.Capabilities); err != nil {
		return errors.Join(errors.New("client: Options.Capabilities is not a JSON object"), err)
	}
	if o.Loop != nil {
		if err := validPatterns(o.Loop.Allowed); err != nil {
			return fmt.Errorf("client: Options.Loop.Allowed: %w", err)
		}
	}
	if o.Launch == nil && o.Handler == nil && o.URL == "" {
		return errors.New("client: no server: set Options.URL, Handler, Conn or Launch")
	}
	return nil
}

// declare sets the capabilities, unless they are given.
func (o *Options) declare() {
	if o.Capabilities != nil {
		return
	}
	declared := map[string]any{}
	if o.Sampling != nil {
		declared["sampling"] = map[string]any{"tools": map[string]any{}}
	}
	if o.Elicitation != nil {
		declared["elicitation"] = map[string]any{}
	}
	if o.Roots != nil {
		declared["roots"] = map[string]any{}
	}
	o.Capabilities = jsonvalue.Marshal(declared)
}

// open opens a connection in the revision of the options, or in one that is negotiated.
func (c *Client) open() (wire, error) {
	switch {
	case c.options.Revision == "":
		return c.negotiate()
	case c.options.Revision.Modern():
		return c.openStateless() // on an error the wire is not used
	}
	return c.openSession(false, nil)
}

// Close ends the session and, over stdio, waits for the server's end. Its error also reports sampling requests that
// could not be answered. Further calls of Close return the same.
func (c *Client) Close() error {
	c.closing.Do(func() {
		c.closed = c.current().close()
		c.cancel()
		c.closed = errors.Join(c.closed, c.host())
	})
	return c.closed
}

// Revision returns the revision that the client and the server speak.
func (c *Client) Revision() server.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}

func (c *Client) setRevision(r server.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = r
}

func (c *Client) current() wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wire
}

// declared returns the capabilities that the client accepts requests for.
func (c *Client) declared() map[string]any {
	declared, _ := jsonvalue.ReadObject(c.options.Capabilities) // Connect has checked it
	if sampling, ok := declared["sampling"].(map[string]any); ok && !c.Revision().HasSamplingTools() {
		delete(sampling, "tools")
	}
	return declared
}

func (c *Client) capabilities() map[string]any {
	declared := c.declared()
	if c.Revision().Modern() && len(declared) > 0 {
		declared["roots"] = map[string]any{}
	}
	return declared
}

// stray takes a line that is not a message. The server must not write one to its standard output (2025-11-25,
// basic/transports#stdio; 2026-07-28, basic/transports/stdio).
func (c *Client) stray(line []byte) {
	if c.options.strayed != nil && len(bytes.TrimSpace(line)) > 0 {
		c.options.strayed("the server wrote a line to its standard output that is not a message: " + beginning(line))
	}
}

// beginning is what a report shows of a text of the server.
func beginning(raw []byte) string {
	text := bytes.TrimSpace(raw)
	if len(text) <= 200 {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:200]), "") + "…"
}

func (c *Client) notified(m *message) {
	if c.options.Notified != nil {
		c.options.Notified(m.Method, m.Params)
	}
	var p Progress
	if c.options.Progress != nil && m.Method == "notifications/progress" && json.Unmarshal(m.Params, &p) == nil {
		c.options.Progress(p)
	}
}
