package conformance

import (
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// restFactor is how many times as long as a checkpoint took the next one waits, so that they take little of a run.
const restFactor = 10

// checkpoints collects the traces of sessions that have ended, and calls a function with them: one call at a time.
type checkpoints struct {
	mu         sync.Mutex
	ended      []*trace.Trace
	wake       chan struct{} // has room for one
	quit, idle chan struct{} // closed by stop, and when no more call comes
}

func startCheckpoints(call func(ended []*trace.Trace)) *checkpoints {
	c := &checkpoints{wake: make(chan struct{}, 1), quit: make(chan struct{}), idle: make(chan struct{})}
	go func() {
		defer close(c.idle)
		for {
			select {
			case <-c.quit:
				return
			case <-c.wake:
			}
			c.mu.Lock()
			ended := slices.Clone(c.ended)
			c.mu.Unlock()
			began := time.Now()
			call(ended)
			select {
			case <-c.quit:
				return
			case <-time.After(restFactor * time.Since(began)):
			}
		}
	}()
	return c
}

func (c *checkpoints) add(t *trace.Trace) {
	c.mu.Lock()
	c.ended = append(c.ended, t)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default: // a call is due anyway
	}
}

func (c *checkpoints) stop() {
	close(c.quit)
	<-c.idle
}

// checkpoint judges the sessions that have ended, and passes the results to the suite's function. An error shows again
// at the end of the run.
func (s *Suite) checkpoint(ended []*trace.Trace, revisions []server.Revision, chosen *selection) {
	rs, err := s.judge(inOrder(settled(ended), revisions, chosen), chosen)
	if err == nil {
		rs.Interrupted, rs.Whole = true, false
		s.Checkpoint(s.ofGateway(rs, ended), ended)
	}
}

// settled returns the sessions without those whose cases are still to be played again: they say nothing about these.
func settled(traces []*trace.Trace) []*trace.Trace {
	played := map[[2]string]bool{}
	for _, t := range traces {
		for _, c := range t.Header.Cases {
			if !c.Replayed {
				played[[2]string{t.Header.Revision, c.ID}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(traces), func(t *trace.Trace) bool {
		return slices.ContainsFunc(t.Header.Cases, func(c trace.Case) bool {
			return c.Replayed && !played[[2]string{t.Header.Revision, c.ID}]
		})
	})
}
