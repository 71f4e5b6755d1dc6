package clientloop

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Some are exported for the tests, which are in a package of their own.
const (
	Harmless    = "loop_count_boats"
	Destructive = "loop_sink_boats"
)

// The model uses a harmless tool and a destructive one in one turn. The user declines to run destructive tools.
var destroys = func() harness.Case {
	count := story.Gauge(Harmless, "Counts the boats at a place", story.Reading("There are 7 boats at %s."))
	count.Annotations = story.Object{"readOnlyHint": true}
	sink := story.Gauge(Destructive, "Sinks all boats at a place", story.Reading("All boats at %s are sunk."))
	sink.Annotations = story.Object{"destructiveHint": true, "readOnlyHint": false}
	c := loop{"destructive-tool", nil, []server.Tool{count, sink}, "Count the boats at Ryde, and sink them.", turns{
		{at(Harmless, "Ryde"), at(Destructive, "Ryde")}, said("There are 7 boats. I sank none.")}}.asCase()
	c.Decision, c.Barrier = harness.DeclineTools, false
	return c
}()

// asksModel needs a client that does not take the decision for one about the request.
func asksModel(e *evidence.Case) *check.Verdict {
	return check.Unless(len(round(e).Model) > 0, check.Unsupported("the client refuses the whole request: the decision "+
		"%s declines only to run destructive tools (Env.Decision)", harness.DeclineTools).At(round(e).Asked))
}

var destructiveConfirmed = rule(check.Check{
	ID: "destructive-confirmed",
	Rule: "A client that runs the tool loop asks the user before it calls a destructive tool, and calls the harmless " +
		"tools of the turn anyway",
	Cause: "the client does not read the tool's annotations, or declines all tools of the turn",
	Fix: "Look up destructiveHint in the annotations of tools/list. Ask the user before such a call, and tell the model " +
		"if the user declines. Call the other tools of the turn first.",
	Needs: []check.Need{asksModel},
	Judge: func(e *evidence.Case) check.Verdict {
		calls, _ := e.ToolCalls()
		counted := false
		for _, call := range calls {
			counted = counted || call.Tool == Harmless
			if call.Tool != Destructive {
				continue
			}
			verdict := check.Warn // perhaps a user has agreed to everything
			if e.Session.Supports[harness.Decisions] {
				verdict = check.Fail
			}
			return verdict("expected no call of %s, whose annotations have destructiveHint, without consent, found one",
				call.Tool).Show(call.Place, "%s(%s)", call.Tool, evidence.Compact(call.Arguments))
		}
		if !counted {
			return check.Fail("expected a call of %s, which is harmless, in the turn with a destructive tool, found none",
				Harmless).At(lastOf(round(e)))
		}
		return check.Pass("the client called the harmless tool of the turn, and not the destructive one").At(round(e).Asked)
	},
}, "destructive-tool")
