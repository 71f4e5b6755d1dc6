package host

import (
	"errors"

	"github.com/mcp-conform/mcp-conform/harness"
)

// Tell tells the run how a call of a tool ended: by err, which has the code of a JSON-RPC error or 0, or well where it is nil.
func Tell(env harness.Env, tool string, err error, code int) {
	if env.Report == nil {
		return
	}
	o := harness.Outcome{Tool: tool, Ended: harness.Completed}
	if err != nil {
		o.Ended, o.Error = harness.Failed, &harness.OutcomeError{Code: code, Message: err.Error()}
	}
	if errors.Is(err, harness.ErrGiveUp) {
		o.Ended = harness.GaveUp
	}
	env.Report(o)
}
