package harness

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// errTimeUp is why the context of a session ends when the client's time is up. Any other end of it means that the run was given up.
var errTimeUp = errors.New("the client's time is up")

const (
	// parts of its time are looked at for whether a client gets on, and after so many idle ones in a row it does not.
	parts, idleParts = 6, 3
	// mostTimes is how often its time a client may take that does.
	mostTimes = 4
)

// within is a context that ends, by errTimeUp, when a client's time is up. It runs from the client's first word, for which there is as much: to start
// is what takes long on a busy machine. While something gets done, such as a call or an answer of the model, a
// client does not hang, although the machine may have no time for it: so it has more for as long as something was done in the last half
// of its time, and mostTimes of it at the most. Done counts that (see getsOn).
func within(ctx context.Context, limit time.Duration, spoken <-chan struct{}, done func() int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		start := time.NewTimer(limit)
		defer start.Stop()
		select {
		case <-ctx.Done():
			return
		case <-start.C:
			cancel(errTimeUp)
			return
		case <-spoken:
		}
		ticker := time.NewTicker(max(limit/parts, 1))
		defer ticker.Stop()
		before, idle := int64(0), 0
		for part := 1; ; part++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if now := done(); now != before {
				before, idle = now, 0
			} else {
				idle++
			}
			if part >= parts && idle >= idleParts || part >= mostTimes*parts {
				cancel(errTimeUp)
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// getsOn reports whether an event shows that a client is about its cases: a message of one, a play that is over, an answer of the model. To be
// refused by the model again and again is to get nothing done.
func getsOn(e *trace.Event) bool {
	switch {
	case e.Mark != nil:
		return e.Mark.Name == trace.MarkHandlerEnded
	case e.End != nil:
		return e.End.Status == http.StatusOK && e.End.Fault == ""
	}
	return e.Case != "" && e.Frame != nil && e.Frame.Dir == trace.FromClient
}
