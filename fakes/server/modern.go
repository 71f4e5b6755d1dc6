package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Fields of _meta that the second era reserves (2026-07-28, basic/index#meta).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// takeModern takes a message of the second era.
func (s *Server) takeModern(m *inbound) {
	switch {
	case m.isResponse():
		s.refuse(m, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "a client sends no JSON-RPC responses in %s", s.modern[0]))
		return
	case m.isNotification():
		s.received(m.conn.cancels(m.message), "", m)
		m.accepted()
		return
	}
	var (
		p         callParams
		offer     *offered
		bad       *RPCError
		continued *parking
		of        scope
	)
	if s.carries(*m.Method) {
		p, offer, bad = s.readCall(m.message)
	}
	isRetry := p.requestState != nil || p.inputResponses != nil
	if offer != nil && isRetry {
		of.tool = offer.Name
		if continued = s.findParked(offer, p); continued != nil {
			of = continued.call.scope()
		}
	} else if offer != nil {
		of = scope{offer.Name, s.count(offer)}
	}
	s.received(of, "", m)
	x := newExchange(s, m, of, "")
	x.responses = s.responses(offer)
	if status, why := s.checkModern(m); why != nil {
		x.respond(status, errorFrame(m.ID, why), false)
		return
	}
	switch {
	case bad != nil:
		s.fail(x, m.ID, bad)
	case *m.Method == "server/discover":
		s.result(x, m.ID, s.modern[0], schema.DiscoverResult, s.complete(map[string]any{
			"supportedVersions": slices.Concat(s.modern, s.legacy),
			"capabilities":      s.capabilities(),
			"ttlMs":             0, "cacheScope": "private",
		}))
	case *m.Method == "tools/list":
		s.result(x, m.ID, s.modern[0], schema.ListToolsResult, s.complete(map[string]any{
			"tools": s.toolList(), "ttlMs": 0, "cacheScope": "private",
		}))
	case *m.Method == "prompts/list" && s.carries(string(PromptsGet)):
		s.list(x, m.ID, "prompts", PromptsGet)
	case *m.Method == "resources/list" && s.carries(string(ResourcesRead)):
		s.list(x, m.ID, "resources", ResourcesRead)
	case isRetry:
		s.retry(x, m.ID, continued, p)
	case offer != nil:
		s.callModern(x, m, offer, p)
	default:
		x.respond(http.StatusNotFound, errorFrame(m.ID, rpcErrorf(codeMethodNotFound, "method %s is not supported", clip([]byte(*m.Method)))), false)
	}
}

// complete adds what every result of the second era has.
func (s *Server) complete(result map[string]any) map[string]any {
	result["resultType"] = "complete"
	result["_meta"] = map[string]any{metaServerInfo: s.info()}
	return result
}

// modernCall is a call of the second era through all its rounds, and the way of its play to the client.
type modernCall struct {
	*Session
	cancel context.CancelFunc
	asking chan struct{} // holds a token while the play waits for a retry
	resume chan *Retry   // takes one; filled by the retry that was waited for

	mu    sync.Mutex
	x     *exchange // the round that is pending
	id    json.RawMessage
	keys  int
	ended bool // the play has returned: nobody answers any more

	written Style // of all rounds from here on
}

// callModern starts the play of a tool and waits until it has answered or wants input. In this era no stream is opened before there is
// something to send on it: a missing capability is answered with a status.
func (s *Server) callModern(x *exchange, m *inbound, tool *offered, p callParams) {
	version, _ := m.meta.text(metaVersion)
	id := m.ID
	if why := tool.checkArguments(p.arguments); tool.Carrier == "" && why != "" {
		s.finish(x, id, tool, s.modern[0], callResult(nil, errors.New(why)))
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	c := &modernCall{x: x, id: id, cancel: cancel, asking: make(chan struct{}, 1), resume: make(chan *Retry, 1),
		Session: &Session{server: s, tool: tool, number: x.scope.call, ctx: ctx, revision: Revision(version),
			arguments: p.arguments, meta: p.meta, declared: p.meta[metaCapabilities], lines: m.conn != nil}}
	c.carrier = c
	s.startPlay(x.scope, func() {
		defer cancel()
		c.run(func(result CallToolResult, err error) {
			c.mu.Lock()
			x, id := c.x, c.id
			c.ended = true
			c.mu.Unlock()
			var undeclared *undeclaredError
			switch {
			case ctx.Err() != nil:
				x.drop()
			case errors.As(err, &undeclared):
				x.respond(http.StatusBadRequest, errorFrame(id, undeclared.rpc()), false)
			case err != nil && tool.Carrier != "": // their results have no way to say it
				s.fail(x, id, rpcErrorf(codeInternal, "%v", err))
			default:
				s.finish(x, id, tool, c.revision, result)
			}
		})
	})
	x.wait(cancel) // a client that hangs up has cancelled (2026-07-28, basic/transports/streamable-http#cancellation)
}

// finish answers a call of the second era with its result.
func (s *Server) finish(x *exchange, id json.RawMessage, tool *offered, revision Revision, result CallToolResult) {
	switch {
	case result.raw != nil:
		s.answer(x, resultFrame(id, result.raw), true)
		return
	case tool.Carrier != "":
		s.finishOther(x, id, tool, revision, result.Content)
		return
	}
	full := s.complete(map[string]any{"content": result.Content})
	if result.IsError {
		full["isError"] = true
	}
	if result.StructuredContent != nil {
		full["structuredContent"] = result.StructuredContent
	}
	s.result(x, id, revision, schema.CallToolResult, full)
}

// rpc is how the second era says that a client has to declare more (2026-07-28, basic/index#meta).
func (e *undeclaredError) rpc() *RPCError {
	needed := any(map[string]any{})
	path := strings.Split(e.capability, ".")
	for _, name := range slices.Backward(path) {
		needed = map[string]any{name: needed}
	}
	err := rpcErrorf(codeMissingCapability, "%v", e)
	err.Data = mustEncode(map[string]any{"requiredCapabilities": needed})
	return err
}

// sample asks for all the samples in one InputRequiredResult.
func (c *modernCall) sample(requests []outgoing) []Answer {
	in := Input{Requests: map[string]any{}}
	keys, wrong := make([]string, len(requests)), false
	for i, request := range requests {
		c.mu.Lock()
		c.keys++
		keys[i] = fmt.Sprintf("%s-%d", c.tool.Name, c.keys)
		c.mu.Unlock()
		in.Requests[keys[i]] = json.RawMessage(join(member{"method", []byte(`"sampling/createMessage"`)}, member{"params", request.params}))
		wrong = wrong || request.hostile
	}
	state := c.server.token()
	in.State = &state
	result, err := c.inputRequiredResult(in)
	if err == nil && !wrong {
		c.server.validFrame(c.scope(), c.revision, schema.InputRequiredResult, result)
	}
	var retry *Retry
	if err == nil {
		retry, err = c.ask(in, result, wrong)
	}
	answers := make([]Answer, len(requests))
	for i, key := range keys {
		switch {
		case err != nil:
			answers[i].Err = err
		case retry.Responses[key] == nil:
			answers[i].Err = fmt.Errorf("%w: the retry has no response under %s", errNotFulfilled, key)
		default:
			answers[i].Result = retry.Responses[key]
		}
	}
	return answers
}

func (c *modernCall) start(request outgoing) (*Pending, error) {
	if c.ctx.Err() != nil {
		return nil, fmt.Errorf("%w: no retry came", errNotFulfilled)
	}
	return pend(&sent{}, func() Answer { return c.sample([]outgoing{request})[0] }), nil
}

// inputRequired sends what the play wants sent, and marks it as hostile where it breaks the protocol.
func (c *modernCall) inputRequired(in Input) (*Retry, error) {
	result, err := c.inputRequiredResult(in)
	if err != nil {
		return nil, err
	}
	wrong := schema.Validate(string(c.revision), schema.InputRequiredResult, result) != nil
	for _, request := range objectOf(objectOf(result)["inputRequests"]) {
		method, _ := objectOf(request).text("method")
		feature, _, _ := strings.Cut(method, "/")
		wrong = wrong || !c.Declares(feature)
	}
	return c.ask(in, result, wrong)
}

// inputRequiredResult puts the result together, its requests byte for byte as they were given.
func (c *modernCall) inputRequiredResult(in Input) ([]byte, error) {
	var requests, state []byte
	if in.Requests != nil {
		var members []member
		for _, key := range slices.Sorted(maps.Keys(in.Requests)) {
			request, err := encode(in.Requests[key])
			if err != nil {
				return nil, fmt.Errorf("input request %s: %w: %w", key, ErrInvalid, err)
			}
			members = append(members, member{key, c.onOneLine(request)})
		}
		requests = join(members...)
	}
	if in.State != nil {
		state = mustEncode(*in.State)
	}
	return join(member{"resultType", []byte(`"input_required"`)}, member{"inputRequests", requests}, member{"requestState", state},
		member{"_meta", mustEncode(map[string]any{metaServerInfo: c.server.info()})}), nil
}

// ask answers the pending round and waits for the retry. The call is parked before the client can see the result: its retry may
// be here at once. A play that asks on several goroutines asks one after the other: there is one round at a time to answer.
func (c *modernCall) ask(in Input, result []byte, hostile bool) (*Retry, error) {
	gaveUp := fmt.Errorf("%w: no retry came", errNotFulfilled)
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-c.ctx.Done():
		return nil, gaveUp
	}
	if c.ctx.Err() != nil {
		return nil, gaveUp
	}
	c.park(in)
	c.mu.Lock()
	x, id := c.x, c.id
	c.mu.Unlock()
	c.server.answer(x, resultFrame(id, result), hostile)
	select {
	case retry := <-c.resume:
		c.update(retry.meta)
		return retry, nil
	case <-c.ctx.Done():
		return nil, gaveUp
	}
}

func (c *modernCall) notify(frame []byte) error { return c.send(c.ctx, frame, false) }

func (c *modernCall) style(style Style) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = style
	c.x.writtenAs(style)
}

func (c *modernCall) callID() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// send writes a frame before the pending round's response, which makes a stream of it.
func (c *modernCall) send(_ context.Context, frame []byte, hostile bool) error {
	c.mu.Lock()
	x := c.x
	c.mu.Unlock()
	return x.event(c.scope(), frame, hostile)
}
