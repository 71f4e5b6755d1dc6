package hostloop

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// Some are exported for the tests, which are in a package of their own.
const (
	NoSuchTool  = "host_teleport" // a tool that nobody offers
	JSONTool    = "host_fish"
	SchemaTool  = "host_current"
	FailedTool  = "host_radar"
	RefusedTool = "host_sonar"
)

// The model uses a tool that nobody offers.
var unknownTool = mistake("unknown-tool",
	story.Gauge("host_depth", "The depth at a place", story.Reading("%s is deep.")),
	uses(NoSuchTool, `{"to":"Fisher"}`))

// The model's arguments are invalid JSON: they end too soon.
var invalidJSON = mistake("invalid-json",
	story.Gauge(JSONTool, "The fish at a place", story.Reading("At %s there is cod.")),
	uses(JSONTool, `{"place":"Viking","da`))

// The model's arguments are not those of the tool's input schema.
var invalidArguments = mistake("invalid-arguments",
	story.Gauge(SchemaTool, "The current at a place", story.Reading("%s has none.")),
	uses(SchemaTool, `{"days":9}`))

// The tool returns a result that says that it failed.
var failingTool = mistake("failing-tool", story.Gauge(FailedTool, "What the radar sees at a place",
	func(string) (any, error) { return nil, errors.New("the radar is out of order") }),
	uses(FailedTool, `{"place":"Dogger"}`))

// The server refuses the call with an error response.
var refusedCall = mistake("refused-call", story.Gauge(RefusedTool, "What the sonar hears at a place",
	func(string) (any, error) {
		return &server.RPCError{Code: -32603, Message: "the sonar is out of order"}, nil
	}),
	uses(RefusedTool, `{"place":"Forties"}`))

// rule completes a check of one kind of mistake.
func rule(c check.Check, cases ...string) check.Check {
	c.Levels, c.Cases = check.Robust, cases
	return c
}

var unknownToolTold = rule(check.Check{
	ID:    "unknown-tool-told",
	Rule:  "A host tells its model about an unknown tool, and continues",
	Cause: "the host looks the tool up in its table, and ends the task without it",
	Fix:   "Give the model a tool result under the id of its use that says which tools there are, and ask it again.",
	Judge: func(e *evidence.Case) check.Verdict { return told(e, NoSuchTool).Verdict },
}, "unknown-tool")

var badJSONTold = rule(check.Check{
	ID:    "bad-json-told",
	Rule:  "A host tells its model about invalid JSON arguments, and continues",
	Cause: "the host parses the arguments without handling the error",
	Fix: "Give the model a tool result under the id of its use that says that the arguments are invalid JSON. Then ask " +
		"it again.",
	Judge: func(e *evidence.Case) check.Verdict {
		if turns := e.Session.HostTurns(); len(turns) > 0 {
			if r := turns[0].Request; !dialects.FactsOf(r.Dialect).TextArguments(r.Stream) {
				return check.NotApplicable("the provider sends arguments as an object, which is always valid")
			}
		}
		return told(e, JSONTool).Verdict
	},
}, "invalid-json")

var badArgumentsTold = rule(check.Check{
	ID:    "bad-arguments-told",
	Rule:  "A host tells its model about arguments that the input schema forbids, and continues",
	Cause: "the host ends the task if its validation, or the server, refuses the arguments",
	Fix: "Give the model a tool result under the id of its use: your own validation error, or the error of the server. " +
		"Then ask it again.",
	Judge: func(e *evidence.Case) check.Verdict { return told(e, SchemaTool).Verdict },
}, "invalid-arguments")

var failingToolTold = rule(check.Check{
	ID:    "failing-tool-told",
	Rule:  "A host tells its model about a failure of a tool, also about an error response, and continues",
	Cause: "the host ends the task if tools/call returns an error, or gives the model an empty result",
	Fix: "Give the model a tool result under the id of its use, with the content of the result or the message of the " +
		"error, and with the provider's flag for failures if it has one.",
	Judge: func(e *evidence.Case) check.Verdict {
		tool := FailedTool
		if e.Case.ID == refusedCall.ID {
			tool = RefusedTool
		}
		found := told(e, tool)
		if found.given == nil {
			return found.Verdict
		}
		calls := e.Session.ToolCalls
		i := slices.IndexFunc(calls, func(c *evidence.ToolCall) bool { return c.Tool == tool })
		if i < 0 {
			return check.Unsupported("the host did not call %s, and told its model %q: allow the tools of the server, or "+
				"use --answer", tool, evidence.Clip(dialect.PlainText(found.given.Content)))
		}
		sent := evidence.ReadToolResult(calls[i].Result).Text
		if err := calls[i].Err; err != nil {
			sent = err.Message
		}
		text := dialect.PlainText(found.given.Content) + string(found.given.Raw)
		if found.given.IsError || check.SaysFailure.MatchString(text) || sent != "" && strings.Contains(text, sent) {
			return found.Verdict
		}
		return check.Fail("expected a result that says that %s failed, found %q", tool,
			evidence.Clip(dialect.PlainText(found.given.Content))).
			ShowAs("server sent", calls[i].Place, "%q", sent).
			ShowAs("model received", found.next.At(found.given.Path), "%s", evidence.Compact(found.given.Raw))
	},
}, "failing-tool", "refused-call")

// lesson is what became of a tool use that a host cannot execute.
type lesson struct {
	check.Verdict
	next  *evidence.Exchange // the turn that follows
	given *dialect.Block     // the result in it; nil for none
}

// told judges that the model learned about its use of a tool, or that the host asked it again without that use. An
// error for the user in place of that is a flaw, but no failure.
func told(e *evidence.Case, tool string) lesson {
	turns := e.Session.HostTurns()
	i := slices.IndexFunc(turns, using(tool))
	if i < 0 {
		return lesson{Verdict: notReached(e)}
	}
	said, later := turns[i], turns[i+1:]
	accepted := slices.IndexFunc(later, func(x *evidence.Exchange) bool { return x.End.Refused == "" })
	switch {
	case accepted >= 0:
		return learned(said, later[accepted], tool)
	case len(later) > 0:
		return lesson{Verdict: check.Fail("expected a valid request that tells the model about its use of %s, found "+
			"one that the model refuses: %s", tool, evidence.Clip(later[0].End.Refused)).
			ShowAs("model said", said.Place, "%s", saidIn(said)).Show(later[0].At("messages"), "").ShowOutput(e.Session)}
	}
	return lesson{Verdict: ended(e, said, tool)}
}

// learned judges the turn after a use.
func learned(said, next *evidence.Exchange, tool string) lesson {
	use := useOf(said, tool)
	given := next.ResultOf(use)
	again := slices.DeleteFunc(next.Request.ToolUses(), func(b dialect.Block) bool { return b.Name != use.Name })
	if given == nil && len(again) > 0 { // under an id of the host's own
		given = next.ResultOf(&again[len(again)-1])
	}
	switch {
	case given != nil:
		v := check.Pass("the host told its model about its use of %s, and continued", tool).
			Show(next.At(given.Path), "%s", evidence.Clip(dialect.PlainText(given.Content)))
		return lesson{v, next, given}
	case len(again) == 0:
		return lesson{Verdict: check.Pass("the host asked its model again, without the use of %s", tool).
			Show(next.At("messages"), "")}
	case len(evidence.BlocksOf(next.Request.LastUserTurn(), dialect.Text)) > 0:
		return lesson{Verdict: check.Pass("the host told its model about its use of %s in words, and continued", tool).
			Show(next.At("messages"), "%s", evidence.Clip(next.Request.LastText()))}
	}
	return lesson{Verdict: check.Fail("expected a result for the model's use of %s in the host's next model request, "+
		"found none", tool).ShowAs("model said", said.Place, "%s", saidIn(said)).Show(next.At("messages"), "")}
}

// ended judges a host that did not ask its model again.
func ended(e *evidence.Case, said *evidence.Exchange, tool string) check.Verdict {
	s := e.Session
	what := "tell its model about the use of " + tool + " and continue"
	if v := crashed(e, said, what); v != nil {
		return *v
	}
	verdict, found := check.Fail, "that it ends the task without an error"
	if !s.Ended.Clean() || check.SaysFailure.MatchString(s.Ended.Stdout+s.Ended.Stderr) {
		verdict, found = check.Warn, "that it ends the task with an error"
	}
	return verdict("expected the host to %s, found %s: %s", what, found, s.Ending()).
		ShowAs("model said", said.Place, "%s", saidIn(said)).ShowOutput(s)
}
