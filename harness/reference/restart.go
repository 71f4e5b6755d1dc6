package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// pipeFaults are the ways in which a client over stdio can be broken.
type pipeFaults struct {
	fearsStderr   bool // takes what the server writes to standard error for an error
	waitsForEver  bool // for a server that has ended
	neverRestarts bool
	crashes       bool // when its server ends
	kills         bool // the server, in place of ending its input
}

// How a call can fail with its server. The client goes on after what was lost, and not where its server ended for good.
var (
	errServerEnded = errors.New("the server ended the connection")
	errLost        = errors.New("lost with its server, which was started again")
)

// mostRestarts is how often a server is started again that ended by itself.
const mostRestarts = 3

// surviving is a wire that outlives its server: that is started again when it ends (2026-07-28, basic/transports/stdio#unexpected-termination). In the second
// era a request that was under way is made again: nothing is lost with a server that remembers nothing. In the first it has failed, for the session
// has ended that it was made in.
type surviving struct {
	wire
	model    *model
	again    func() (wire, error)
	restarts int
}

func (s *surviving) request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	raw, err := s.wire.request(ctx, method, params)
	broken := &s.model.config.broken.pipes
	switch {
	case !errors.Is(err, errServerEnded) || broken.neverRestarts || s.restarts == mostRestarts:
		return raw, err
	case broken.crashes:
		panic("broken on purpose: the server has ended")
	case broken.waitsForEver:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.restarts++
	_ = s.wire.close(ctx) // says again that it ended
	next, failed := s.again()
	if failed != nil {
		return nil, fmt.Errorf("starting the server again: %w", failed)
	}
	s.wire = next
	if _, isModern := next.(*modern); !isModern {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return s.request(ctx, method, params)
}

// alarm ends a connection over whatever is written to standard error.
type alarm struct{ *pipe }

func (a alarm) Write(b []byte) (int, error) {
	a.end(fmt.Errorf("broken on purpose: the server says %q", b))
	a.running.Go(func() { _ = a.rwc.Close() }) // which waits for whoever writes this
	return len(b), nil
}
