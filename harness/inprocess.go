package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// runFunction calls the client's function and waits for it, or for the end of ctx and the grace after it.
func runFunction(ctx context.Context, run func(context.Context, Env) error, env Env, grace time.Duration) *trace.Process {
	ended := make(chan *trace.Process, 1)
	go func() {
		// What stands here until the function has returned is the case of one that ends its goroutine, as t.FailNow does.
		p := &trace.Process{State: trace.Ended, Err: "the client's function ended its goroutine (runtime.Goexit, or FailNow of a test) and did not return"}
		defer func() { ended <- p }()
		defer func() {
			if v := recover(); v != nil {
				p.Err, p.Panic = "", valid(fmt.Sprint(v))
			}
		}()
		err := run(ctx, env)
		p.Err = ""
		if err != nil {
			p.Err = valid(err.Error())
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
	if errors.Is(context.Cause(ctx), errTimeUp) {
		p.Deadline = true
	} else {
		p.Interrupted = true
	}
}

// valid makes what a client said UTF-8, so that the trace holds the same before and after it was in a file.
func valid(text string) string { return strings.ToValidUTF8(text, "�") }
