package server

import (
	"context"
	"fmt"
)

// Ping sends a ping on the stream of the call. It returns when the client responds, or the context's error when ctx
// ends. An [RPCError] is the client's. Modern revisions have no ping (2025-11-25, basic/utilities/ping): there it
// returns ErrEra.
func (s *Session) Ping(ctx context.Context) error { return s.protocol.ping(ctx) }

func (c *legacyCall) ping(ctx context.Context) error {
	pending := &sentRequest{by: c.scope(), response: make(chan Answer, 1)}
	id := c.assignID(pending, outgoing{})
	if err := c.send(ctx, requestFrame(id, "ping", nil), false); err != nil {
		return err
	}
	select {
	case response := <-pending.response:
		return response.Err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

func (c *modernCall) ping(context.Context) error {
	return fmt.Errorf("%w: ping: the client speaks %s", ErrEra, c.revision)
}
