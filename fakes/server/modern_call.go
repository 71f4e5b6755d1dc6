package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// modernCall is a call in a modern revision, with all its rounds, and the protocol of its handler.
type modernCall struct {
	*Session
	cancel context.CancelFunc
	asking chan struct{} // holds a token while the handler waits for a retry
	resume chan *Retry   // takes the retry

	mu    sync.Mutex
	x     *exchange // the pending round
	id    json.RawMessage
	keys  int
	ended bool // the handler has returned

	written SSEStyle // of all later rounds
}

// sample asks for all samples in one InputRequiredResult.
func (c *modernCall) sample(requests []outgoing) []Response {
	in := InputRequiredResult{Requests: map[string]any{}}
	keys, hostile := make([]string, len(requests)), false
	for i, request := range requests {
		c.mu.Lock()
		c.keys++
		keys[i] = fmt.Sprintf("%s-%d", c.tool.Name, c.keys)
		c.mu.Unlock()
		in.Requests[keys[i]] = json.RawMessage(
			join(member{"method", []byte(`"sampling/createMessage"`)}, member{"params", request.params}))
		hostile = hostile || request.hostile
	}
	state := c.server.token()
	in.State = &state
	result, err := c.inputRequiredResult(in)
	if err == nil && !hostile {
		c.server.validate(c.scope(), c.revision, schema.InputRequiredResult, result)
	}
	var retry *Retry
	if err == nil {
		retry, err = c.requireInput(in, result, hostile)
	}
	answers := make([]Response, len(requests))
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
		return nil, errNoRetry
	}
	return c.pend(&sent{}, func() Response { return c.sample([]outgoing{request})[0] }), nil
}

// inputRequired marks the frame as hostile if it breaks the protocol.
func (c *modernCall) inputRequired(in InputRequiredResult) (*Retry, error) {
	result, err := c.inputRequiredResult(in)
	if err != nil {
		return nil, err
	}
	hostile := schema.Validate(string(c.revision), schema.InputRequiredResult, result) != nil
	for _, request := range objectOf(objectOf(result)["inputRequests"]) {
		method, _ := objectOf(request).text("method")
		feature, _, _ := strings.Cut(method, "/")
		hostile = hostile || !c.Declares(feature)
	}
	return c.requireInput(in, result, hostile)
}

// inputRequiredResult builds the result, with its requests byte for byte as they were given.
func (c *modernCall) inputRequiredResult(in InputRequiredResult) ([]byte, error) {
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
	return join(member{"resultType", []byte(`"input_required"`)},
		member{"inputRequests", requests}, member{c.revision.StateMember(), state},
		member{"_meta", mustEncode(map[string]any{metaServerInfo: c.server.info()})}), nil
}

var errNoRetry = fmt.Errorf("%w: no retry came", errNotFulfilled)

// requireInput responds to the pending round and waits for the retry. It registers the call first, because the retry
// may come at once. Concurrent calls wait for each other: there is one pending round at a time.
func (c *modernCall) requireInput(in InputRequiredResult, result []byte, hostile bool) (*Retry, error) {
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-c.ctx.Done():
		return nil, errNoRetry
	}
	if c.ctx.Err() != nil {
		return nil, errNoRetry
	}
	c.expectRetry(in)
	x, id := c.round()
	c.server.respond(x, resultFrame(id, result), hostile)
	select {
	case retry := <-c.resume:
		_, id := c.round()
		c.update(id, retry.meta)
		return retry, nil
	case <-c.ctx.Done():
		return nil, errNoRetry
	}
}

func (c *modernCall) notify(frame []byte) error { return c.send(c.ctx, frame, false) }

func (c *modernCall) style(style SSEStyle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = style
	c.x.setStyle(style)
}

func (c *modernCall) round() (*exchange, json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.x, c.id
}

func (c *modernCall) pending() *exchange {
	x, _ := c.round()
	return x
}

// send writes a frame before the response to the pending round, which turns that into a stream.
func (c *modernCall) send(_ context.Context, frame []byte, hostile bool) error {
	x, _ := c.round()
	return x.event(c.scope(), frame, hostile)
}
