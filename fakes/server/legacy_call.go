package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// legacyCall is a tools/call of the first era, and the way of its play to the client.
type legacyCall struct {
	*Session
	session *legacySession
	id      json.RawMessage // of the client's request
	x       *exchange
	cancel  context.CancelFunc
	kept    *resumable // the call's stream, where it can be resumed; the session's lock is held
	ends    bool       // the session ends with the call; likewise
}

// call starts the play of a tool and waits until it has answered.
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
	if why := tool.checkArguments(p.arguments); why != "" {
		s.result(x, m.ID, l.revision, schema.CallToolResult, callResult(nil, errors.New(why)))
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	c := &legacyCall{session: l, id: m.ID, x: x, cancel: cancel, Session: &Session{server: s, tool: tool, number: of.call, ctx: ctx, revision: l.revision,
		arguments: p.arguments, meta: p.meta, declared: l.declared, lines: m.conn != nil}}
	c.carrier = c
	key := idKey(m.ID)
	l.mu.Lock()
	l.calls[key] = c
	l.mu.Unlock()
	if x.responses != JSON && strings.Contains(m.header("Accept"), "text/event-stream") {
		x.open("post") // now that the client can cancel what it sees to have begun
	}
	s.startPlay(of, func() {
		defer cancel()
		c.run(func(result CallToolResult, _ error) {
			l.mu.Lock()
			if l.calls[key] == c { // a client may have used the id twice
				delete(l.calls, key)
			}
			ends := c.ends
			l.mu.Unlock()
			if ends {
				s.forget(l)
				c.Mark(trace.MarkSessionEnded, "")
				l.endListening()
				defer l.cancel()
			}
			c.respond(result)
		})
	})
	x.wait(nil) // a client that hangs up has not cancelled: the play goes on (2025-11-25, basic/transports#sending-messages-to-the-server)
}

// respond answers the call, where it was not given up.
func (c *legacyCall) respond(result CallToolResult) {
	s, kept := c.server, c.resumable()
	raw, hostile := []byte(result.raw), result.raw != nil
	if !hostile {
		raw = mustEncode(result)
		s.validFrame(c.scope(), c.revision, schema.CallToolResult, raw)
	}
	frame := resultFrame(c.id, raw)
	switch {
	case c.ctx.Err() != nil && kept != nil:
		kept.drop()
	case c.ctx.Err() != nil:
		c.x.drop()
	case kept != nil:
		kept.send(event{of: c.scope(), raw: frame, hostile: hostile}, true)
	default:
		s.answer(c.x, frame, hostile)
	}
}

// idSpace is how many ids each tool has for its requests in a session.
const idSpace = 1_000_000

// sample sends the requests, all before it waits, and gathers the answers. Ids are made of the tool's place and a
// count, so that they are the same in every run, whatever other plays do meanwhile.
func (c *legacyCall) sample(requests []outgoing) []Answer {
	answers := make([]Answer, len(requests))
	questions := make([]*asked, len(requests))
	for i, request := range requests {
		questions[i], _, answers[i].Err = c.begin(request)
	}
	for i, question := range questions {
		if question != nil {
			answers[i] = c.wait(question)
		}
	}
	return answers
}

// begin sends a request, and returns what waits for its answer, and the request with its id.
func (c *legacyCall) begin(request outgoing) (*asked, *sent, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, nil, err // the call was given up: nobody wants to be asked any more
	}
	question, out := c.question(request)
	var err error
	if request.listening {
		err = c.tell(ended, out.frame, request.hostile)
	} else {
		err = c.send(c.ctx, out.frame, request.hostile)
	}
	if err != nil {
		return nil, nil, err
	}
	return question, out, nil
}

// question enters a question, and makes its frame.
func (c *legacyCall) question(request outgoing) (*asked, *sent) {
	question := &asked{by: c.scope(), answer: make(chan Answer, 1)}
	if request.asCall {
		request.id = c.id
	}
	id := c.ask(question, request)
	return question, &sent{id, requestFrame(id, cmp.Or(request.method, "sampling/createMessage"), request.params)}
}

func (c *legacyCall) wait(question *asked) Answer {
	select {
	case answer := <-question.answer:
		return answer
	case <-c.ctx.Done():
		return Answer{Err: c.ctx.Err()}
	}
}

func (c *legacyCall) start(request outgoing) (*Pending, error) {
	question, out, err := c.begin(request)
	if err != nil {
		return nil, err
	}
	return pend(out, func() Answer { return c.wait(question) }), nil
}

// ask enters a question under the id that is wanted, or under one of the tool's own where that is nil or taken, and returns the id.
func (c *legacyCall) ask(question *asked, request outgoing) json.RawMessage {
	l := c.session
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples[c.tool.Name]++
	id := request.id
	if id == nil || l.taken[string(id)] || l.calls[idKey(id)] != nil && !request.asCall {
		id = []byte(strconv.Itoa((c.tool.index+1)*idSpace + l.samples[c.tool.Name]))
	}
	l.taken[string(id)] = true
	l.asked[idKey(id)] = question
	return id
}

// send writes onto the call's own stream or connection, or onto the client's GET stream where responses are plain JSON.
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

// stream is where messages to the client go: the call's own stream or connection, or the client's GET stream.
func (c *legacyCall) stream(ctx context.Context) (*exchange, error) {
	if c.x.responses != JSON || c.lines {
		return c.x, nil
	}
	return c.session.listener(ctx)
}

// tell writes onto the client's GET stream.
func (c *legacyCall) tell(ctx context.Context, frame []byte, hostile bool) error {
	if c.lines {
		return fmt.Errorf("%w: a connection has no GET stream", ErrNoStream)
	}
	listener, err := c.session.listener(ctx)
	if err != nil {
		return err
	}
	return listener.event(c.scope(), frame, hostile)
}

// notify is send or, where the call was given up and its stream may be gone, goes out on the client's GET stream, if it has one open.
func (c *legacyCall) notify(frame []byte) error {
	if !c.lines && c.ctx.Err() != nil {
		if listener, err := c.session.listener(ended); err == nil {
			return listener.event(c.scope(), frame, false)
		}
	}
	return c.send(ended, frame, false)
}

func (c *legacyCall) style(style Style) { c.x.writtenAs(style) }

func (c *legacyCall) callID() json.RawMessage { return c.id }

func (c *legacyCall) inputRequired(Input) (*Retry, error) {
	return nil, fmt.Errorf("%w: InputRequiredResult came with %s, the client speaks %s", ErrEra, V20260728, c.revision)
}
