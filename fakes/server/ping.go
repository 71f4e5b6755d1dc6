package server

import (
	"context"
	"fmt"
)

// Ping sends a ping on the stream of the call and waits until it is answered or ctx ends, whose error it then returns. An [RPCError] is
// the client's own. Only the first era has pings (2025-11-25, basic/utilities/ping); in the second it returns ErrEra.
func (s *Session) Ping(ctx context.Context) error { return s.carrier.ping(ctx) }

func (c *legacyCall) ping(ctx context.Context) error {
	question := &asked{by: c.scope(), answer: make(chan Answer, 1)}
	id := c.ask(question, outgoing{})
	if err := c.send(ctx, requestFrame(id, "ping", nil), false); err != nil {
		return err
	}
	select {
	case answer := <-question.answer:
		return answer.Err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

func (c *modernCall) ping(context.Context) error {
	return fmt.Errorf("%w: a server's ping came with %s, the client speaks %s", ErrEra, V20250326, c.revision)
}
