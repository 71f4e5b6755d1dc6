package harness

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// errTimeUp is the cause with which the context of a session ends at its time limit. Every other cause means that the
// run was cancelled.
var errTimeUp = errors.New("the client's time is up")

const (
	// parts is into how many parts its time limit is divided, and idleParts how many idle ones in a row end a session.
	parts, idleParts = 6, 3
	// mostTimes is how often the limit an active session may last.
	mostTimes = 4
)

// withLimit returns a context that ends with errTimeUp at a session's time limit. The limit runs from the client's
// first message, for which there is as much time, because a start may take long on a busy machine. An active client
// does not hang: it gets more time, up to mostTimes the limit, as long as progress, a counter (see isProgress), changed
// within the last half of the limit.
func withLimit(ctx context.Context, limit time.Duration, connected <-chan struct{}, progress func() int64,
) (context.Context, context.CancelFunc) {
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
		case <-connected:
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
			if now := progress(); now != before {
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

// isProgress reports whether an event shows that a client works on its cases: a message about one, the end of a
// handler, an answer of the model. Repeated refusals by the model are no progress.
func isProgress(e *trace.Event) bool {
	switch {
	case e.Mark != nil:
		return e.Mark.Name == trace.MarkHandlerEnded
	case e.End != nil:
		return e.End.Status == http.StatusOK && e.End.Fault == ""
	}
	return e.Case != "" && fromClient(e)
}

// fromClient reports whether an event is a frame that the client sent.
func fromClient(e *trace.Event) bool { return e.Frame != nil && e.Frame.Dir == trace.FromClient }
