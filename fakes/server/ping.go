package server

import "context"

// Ping sends a ping on the stream of the call. It returns when the client responds, or the context's error when ctx
// ends. An [RPCError] is the client's. Modern revisions have no ping (2025-11-25, basic/utilities/ping): there it
// returns ErrRevision.
func (s *Session) Ping(ctx context.Context) error { return s.protocol.ping(ctx) }

func (c *legacyCall) ping(ctx context.Context) error {
	pending, out := c.request(outgoing{method: "ping"})
	if err := c.send(ctx, out.frame, false); err != nil {
		return err
	}
	return c.wait(ctx, pending).Err
}

func (c *modernCall) ping(context.Context) error {
	return c.hasNo("ping")
}
