package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// runFunction calls the client's function and waits for it, or until the grace after the end of ctx.
func runFunction(
	ctx context.Context, run func(context.Context, Env) error, env Env, grace time.Duration,
) *trace.Process {
	ended := make(chan *trace.Process, 1)
	go func() {
		p := &trace.Process{State: trace.Ended, // if the function does not return
			Err: "the client's function ended its goroutine (by runtime.Goexit or FailNow) instead of returning"}
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
		p.Leak = "the client's function did not return after its context had ended"
	}
	markCause(ctx, p)
	return p
}

func markCause(ctx context.Context, p *trace.Process) {
	cause := context.Cause(ctx)
	p.Deadline = errors.Is(cause, errTimeUp)
	p.Interrupted = !p.Deadline
	p.Unfinished = errors.Is(cause, errActive)
}

// valid makes a client's text valid UTF-8, so that a trace is the same before and after a file.
func valid(text string) string { return strings.ToValidUTF8(text, "�") }
