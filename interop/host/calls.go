package host

import (
	"errors"
	"fmt"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Calls are calls of one kind, by tool, prompt or resource.
type Calls struct {
	Names []string
	Call  func(name string) error
}

// Make makes the calls and reports how each ended. It stops with an error when lost returns
// one, because the session is over. Code
// returns the JSON-RPC code of an error, or 0.
func (c Calls) Make(env harness.Env, lost func(error) error, code func(error) int) error {
	for _, name := range c.Names {
		err := c.Call(name)
		report(env, name, err, code)
		if err := lost(err); err != nil {
			return fmt.Errorf("calling %s: %w", name, err)
		}
	}
	return nil
}

func report(env harness.Env, name string, err error, code func(error) int) {
	if env.Report == nil {
		return
	}
	o := harness.Outcome{Tool: name, Ended: harness.Completed}
	if err != nil {
		o.Ended, o.Error = harness.Failed, &harness.OutcomeError{Code: code(err), Message: err.Error()}
	}
	if errors.Is(err, harness.ErrAbandon) {
		o.Ended = harness.Abandoned
	}
	env.Report(o)
}
