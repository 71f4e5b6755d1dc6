package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// grace is how long a client is given to end after it was told to. It has no bearing on verdicts: a client that had to be told
// has already run out of its time.
const grace = 2 * time.Second

// runFunction calls the client's function and waits for it, or for the end of ctx and the grace after it.
func runFunction(ctx context.Context, run func(context.Context, Env) error, env Env) *trace.Process {
	ended := make(chan *trace.Process, 1)
	go func() {
		p := &trace.Process{State: trace.Ended}
		defer func() { ended <- p }()
		defer func() {
			if v := recover(); v != nil {
				p.Panic = fmt.Sprint(v)
			}
		}()
		if err := run(ctx, env); err != nil {
			p.Err = err.Error()
		}
	}()
	select {
	case p := <-ended:
		return p
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	p := &trace.Process{State: trace.Ended}
	select {
	case p = <-ended:
	case <-timer.C:
		p.Leak = "the client's function did not return although its context had ended"
	}
	markCause(ctx, p)
	return p
}

// markCause notes why we ended the client.
func markCause(ctx context.Context, p *trace.Process) {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		p.Deadline = true
	} else {
		p.Interrupted = true
	}
}
