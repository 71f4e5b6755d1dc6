package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// legacyCall is a tools/call in a legacy revision, and the protocol of its handler.
type legacyCall struct {
	*Session
	session *legacySession
	id      json.RawMessage // of the client's request
	x       *exchange
	cancel  context.CancelFunc
	kept    *resumable // the call's stream, if it can be resumed; guarded by the session's lock
	ends    bool       // the session ends with the call; likewise
}

// call runs the handler of a tool and waits until it has responded.
func (l *legacySession) call(m *inbound) {
	s := l.server
	p, tool, bad := s.readCall(m.message)
	var of scope
	if tool != nil {
		of = scope{tool.Name, s.count(tool)}
	}
	s.received(of, l.id, m)
	x := newExchange(s, m, of, l.id)
	x.responses = s.responses(tool)
	if bad != nil {
		s.fail(x, m.ID, bad)
		return
	}
	if why := tool.schema.Check(tool.Name, p.arguments); why != "" {
		s.result(x, m.ID, l.revision, schema.CallToolResult, callResult(nil, errors.New(why)))
		return
	}
	l.handle(m, x, tool, p)
}

// handle runs the handler of a tool for a call, and waits until it has responded.
func (l *legacySession) handle(m *inbound, x *exchange, tool *serverTool, p callParams) {
	s, of := l.server, x.scope
	ctx, cancel := context.WithCancel(l.ctx)
	c := &legacyCall{session: l, id: m.ID, x: x, cancel: cancel,
		Session: &Session{server: s, tool: tool, number: of.call, ctx: ctx, revision: l.revision,
			meta: p.meta, declared: l.declared, lines: m.conn != nil}}
	c.protocol = c
	c.opened(m.ID, p.arguments)
	l.mu.Lock()
	l.calls[idKey(m.ID)] = c
	l.mu.Unlock()
	if x.responses != JSON && m.takesEvents() {
		x.open("post") // the call is registered, so that the client can cancel it now
	}
	s.startHandler(of, func() {
		defer cancel()
		c.run(func(result CallToolResult, _ error) { c.finish(result) })
	})
	// A client that disconnects has not cancelled (2025-11-25, basic/transports#sending-messages-to-the-server).
	x.wait(nil)
}

// finish ends the call, and the session if the handler wants that.
func (c *legacyCall) finish(result CallToolResult) {
	l, key := c.session, idKey(c.id)
	l.mu.Lock()
	if l.calls[key] == c { // a client may have used the id twice
		delete(l.calls, key)
	}
	ends := c.ends
	l.mu.Unlock()
	if ends {
		c.server.forget(l)
		c.Mark(trace.MarkSessionEnded, "")
		l.endListening()
		defer l.cancel()
	}
	c.respond(result)
}

// frameOf returns the response to the call.
func (c *legacyCall) frameOf(result CallToolResult) []byte {
	switch {
	case result.raw != nil:
		return resultFrame(c.id, result.raw)
	case result.refused != nil:
		return errorFrame(c.id, result.refused)
	case result.rawError != nil:
		return rawErrorFrame(c.id, result.rawError)
	}
	raw := mustEncode(result)
	c.server.validate(c.scope(), c.revision, schema.CallToolResult, raw)
	return resultFrame(c.id, raw)
}

// respond sends the response, unless the call was abandoned.
func (c *legacyCall) respond(result CallToolResult) {
	s, kept := c.server, c.resumable()
	hostile := result.raw != nil
	frame := c.frameOf(result)
	switch {
	case c.ctx.Err() != nil && kept != nil:
		kept.drop()
	case c.ctx.Err() != nil:
		c.x.drop()
	case kept != nil:
		kept.send(event{of: c.scope(), raw: frame, hostile: hostile}, true)
	default:
		s.respond(c.x, frame, hostile)
	}
}

// idSpace is the number of request ids that each tool has in a session. Ids consist of the tool's index and a count, so
// that they are equal in every run, independent of other handlers.
const idSpace = 1_000_000

// sample sends all requests before it waits for the responses.
func (c *legacyCall) sample(requests []outgoing) []Response {
	answers := make([]Response, len(requests))
	pending := make([]*sentRequest, len(requests))
	for i, request := range requests {
		pending[i], _, answers[i].Err = c.begin(request)
	}
	for i, request := range pending {
		if request != nil {
			answers[i] = c.wait(request)
		}
	}
	return answers
}

func (c *legacyCall) begin(request outgoing) (*sentRequest, *sent, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, nil, err // the call was abandoned: the client wants no more requests
	}
	pending, out := c.request(request)
	var err error
	if request.listening {
		err = c.sendOnGET(doNotWait, out.frame, request.hostile)
	} else {
		err = c.send(c.ctx, out.frame, request.hostile)
	}
	if err != nil {
		return nil, nil, err
	}
	return pending, out, nil
}

func (c *legacyCall) request(request outgoing) (*sentRequest, *sent) {
	pending := &sentRequest{by: c.scope(), response: make(chan Response, 1)}
	if request.asCall {
		request.id = c.id
	}
	id := c.assignID(pending, request)
	return pending, &sent{id, requestFrame(id, request.name(), request.params)}
}

func (c *legacyCall) wait(request *sentRequest) Response {
	select {
	case answer := <-request.response:
		return answer
	case <-c.ctx.Done():
		return Response{Err: c.ctx.Err()}
	}
}

func (c *legacyCall) start(request outgoing) (*Pending, error) {
	pending, out, err := c.begin(request)
	if err != nil {
		return nil, err
	}
	return c.pend(out, func() Response { return c.wait(pending) }), nil
}

// assignID registers a request under the id that the handler chose, or under one of the tool's own if the handler chose
// none or it is in use.
func (c *legacyCall) assignID(pending *sentRequest, request outgoing) json.RawMessage {
	l := c.session
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[c.tool.Name]++
	id := request.id
	if id == nil || l.taken[string(id)] || l.calls[idKey(id)] != nil && !request.asCall {
		id = []byte(strconv.Itoa((c.tool.index+1)*idSpace + l.counts[c.tool.Name]))
	}
	l.taken[string(id)] = true
	l.sent[idKey(id)] = pending
	return id
}

// send writes onto the call's own stream or connection, or onto the client's GET stream when responses are plain JSON.
func (c *legacyCall) send(ctx context.Context, frame []byte, hostile bool) error {
	if kept := c.resumable(); kept != nil {
		kept.send(event{of: c.scope(), raw: frame, hostile: hostile}, false)
		return nil
	}
	x, err := c.stream(ctx)
	if err != nil {
		return err
	}
	return x.event(c.scope(), frame, hostile)
}

func (c *legacyCall) stream(ctx context.Context) (*exchange, error) {
	if c.x.responses != JSON || c.lines {
		return c.x, nil
	}
	return c.session.listener(ctx)
}

func (c *legacyCall) sendOnGET(ctx context.Context, frame []byte, hostile bool) error {
	if c.lines {
		return fmt.Errorf("%w: a connection has no GET stream", ErrNoStream)
	}
	listener, err := c.session.listener(ctx)
	if err != nil {
		return err
	}
	return listener.event(c.scope(), frame, hostile)
}

// notify uses an open GET stream if the call was abandoned, because the call's own stream may be gone.
func (c *legacyCall) notify(frame []byte) error {
	if !c.lines && c.ctx.Err() != nil {
		if listener, err := c.session.listener(doNotWait); err == nil {
			return listener.event(c.scope(), frame, false)
		}
	}
	return c.send(doNotWait, frame, false)
}

func (c *legacyCall) style(style SSEStyle) {
	if kept := c.resumable(); kept != nil {
		kept.setStyle(style)
	} else {
		c.x.setStyle(style)
	}
}

func (c *legacyCall) inputRequired(InputRequiredResult) (*Retry, error) {
	return nil, c.hasNo("InputRequiredResult")
}
