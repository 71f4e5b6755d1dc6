package harness

import (
	"context"
	"errors"
	"time"
)

// errTimeUp is why the context of a session ends when the client's time is up. Any other end of it means that the run was given up.
var errTimeUp = errors.New("the client's time is up")

const (
	// parts of its time are looked at for whether a client gets on.
	parts = 6
	// mostTimes is how often its time a client may take that does.
	mostTimes = 4
)

// within is a context that ends, by errTimeUp, when a client's time is up. It runs from the client's first word, for which there is as much: to start
// is what takes long on a busy machine. While something gets done, such as a call or an answer of the model, a
// client does not hang, although the machine may have no time for it: so it has another part of its time for as long as something was done in
// the last, and mostTimes of it at the most. Done counts that; to be
// refused by the model again and again is to get nothing done.
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
		before := int64(0)
		for part := 1; ; part++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := done()
			if part >= parts && (now == before || part >= mostTimes*parts) {
				cancel(errTimeUp)
				return
			}
			before = now
		}
	}()
	return ctx, func() { cancel(nil) }
}
