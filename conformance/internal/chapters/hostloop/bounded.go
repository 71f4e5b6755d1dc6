package hostloop

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Some are exported for the tests, which are in a package of their own.
const (
	EndlessTool = "host_milestone"
	// MostRepeats is how many times the model makes the same call. Hosts with long tasks allow some dozens of turns.
	MostRepeats = 100
	// MostEmpty is how many times the model says nothing.
	MostEmpty = 20
)

// The model makes the same call again and again.
var endless = mistake("endless",
	story.Gauge(EndlessTool, "What there is to see at a milestone", story.Reading("%s: nothing.")),
	slices.Repeat([][]llm.Block{uses(EndlessTool, `{"place":"mile 1"}`)}, MostRepeats)...)

// The model says nothing.
var empty = mistake("empty", story.Gauge("host_fog", "The fog at a place", story.Reading("There is no fog at %s.")),
	slices.Repeat([][]llm.Block{{}}, MostEmpty)...)

var bounded = rule(check.Check{
	ID:    "bounded",
	Rule:  "A host ends the task, or refuses the call, if its model makes the same call for ever",
	Cause: "the loop of the host ends only when its model uses no tool",
	Fix: "Limit the turns of a task, or stop when a call repeats. If the host has such a limit as an option, set it in " +
		"its command.",
	Judge: func(e *evidence.Case) check.Verdict {
		return ends(e, using(EndlessTool), MostRepeats, "stop a model that repeats the same call")
	},
}, "endless")

var emptyAnswer = rule(check.Check{
	ID:    "empty-answer",
	Rule:  "A host survives an empty answer of its model, and does not ask again for ever",
	Cause: "the host expects content in every answer, or repeats the request until there is some",
	Fix:   "Treat an empty answer as the end of the task, or ask again a few times.",
	Judge: func(e *evidence.Case) check.Verdict {
		return ends(e, saysNothing, MostEmpty, "accept an empty answer of its model")
	},
}, "empty")

// saysNothing reports whether the model's reply in a turn is empty.
func saysNothing(x *evidence.Exchange) bool {
	reply := x.Reply()
	return reply != nil && len(x.Calls()) == 0 && dialect.PlainText(reply.Content) == ""
}

// ends judges that a host did not play all turns of a kind, and did not crash. How it ends the task is its own matter.
func ends(e *evidence.Case, is func(*evidence.Exchange) bool, most int, what string) check.Verdict {
	s := e.Session
	var such []*evidence.Exchange
	turns := s.HostTurns()
	for _, x := range turns {
		if is(x) {
			such = append(such, x)
		}
	}
	if len(such) == 0 {
		return notReached(e)
	}
	last := such[len(such)-1]
	if len(such) >= most {
		return check.Fail("expected the host to %s, found %d such turns", what, len(such)).
			ShowAs("model said", last.Place, "%s", saidIn(last))
	}
	if turns[len(turns)-1] != last {
		return check.Pass("the host asked its model %d times, and then continued", len(such)).At(last.Place)
	}
	if len(such) > 1 && s.Ended != nil && s.Ended.Deadline {
		return check.Unsupported("the host had asked its model %d times when its time was up: give it more (--case-timeout)",
			len(such))
	}
	return crashed(e, last, what).Or(check.Pass("the host ended the task after %d such turns", len(such)).At(last.Place))
}
