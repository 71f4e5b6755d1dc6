package clientloop

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Some are exported for the tests, which are in a package of their own.
var (
	Tide  = story.Gauge("loop_tide", "The height of the tide at a place", story.Reading("The tide at %s is 3.2 m."))
	wind  = story.Gauge("loop_wind", "The wind at a place", story.Reading("The wind at %s is from the west."))
	waves = story.Gauge("loop_waves", "The waves at a place", story.Reading("The waves at %s are 2 m high."))
	birds = story.Gauge("loop_birds", "The birds at a place", story.Reading("There are 300 gannets at %s."))
	Buoy  = story.Gauge("loop_buoy", "The temperature that the buoy at a place measures", func(string) (any, error) {
		return nil, errors.New("error: the buoy is out of order")
	})
)

// One tool is used once.
var oneTool = loop{Probe, nil, []server.Tool{Tide}, "How high is the tide at Brest?", turns{
	{at("loop_tide", "Brest")}, said("The tide at Brest stands at 3.2 m.")}}.asCase()

// Three uses of two tools are in one turn, and two uses in the next.
var twoTools = loop{"two-tools", nil, []server.Tool{wind, waves}, "Where is it calmer, at Hook or at Spurn?", turns{
	{at("loop_wind", "Hook"), at("loop_wind", "Spurn"), at("loop_waves", "Hook")},
	{llm.Text("One moment."), at("loop_waves", "Spurn"), at("loop_wind", "Sule")},
	said("It is the same at both places.")}}

// One of two tools fails, and the model goes on with the result of the other.
var failingTool = loop{"failing-tool", nil, []server.Tool{Buoy, birds}, "How warm is the sea at Rockall?", turns{
	{at("loop_buoy", "Rockall"), at("loop_birds", "Rockall")}, said("It is warm enough for 300 gannets.")}}

// due reports whether a client has to call a tool: the server has it, the arguments are valid, and neither the request
// nor the user forbids it.
func due(e *evidence.Case, use *dialect.Block) bool {
	tool := e.ServerTool(use.Name)
	return slices.Contains(e.Case.Tools, tool) && tool != Forbidden && tool != Destructive &&
		evidence.HasMember(evidence.Arguments(*use), "place")
}

// complete are the cases in which a correct client runs the loop to its end.
var complete = []string{Probe, "two-tools", "failing-tool", "unknown-name", "invalid-input", "patterns"}

var toolsCalled = rule(check.Check{
	ID:    "tools-called",
	Rule:  "A client that runs the tool loop calls each tool that the model uses once, with the model's arguments",
	Cause: "the client runs only the first tool use of a turn, or changes the arguments",
	Fix:   "Send a tools/call to the server that samples for every tool_use block, with its input as the arguments.",
	Judge: func(e *evidence.Case) check.Verdict {
		calls, _ := e.ToolCalls()
		for _, use := range e.Uses() {
			if !due(e, &use) {
				continue
			}
			var made []*evidence.ToolCall
			for _, call := range calls {
				if call.Tool == e.ServerTool(use.Name) && jsonvalue.Same(evidence.Arguments(use), call.Arguments) {
					made = append(made, call)
				}
			}
			if len(made) == 1 {
				continue
			}
			v := check.Fail("expected one tools/call of %s with %s, found %d", use.Name, evidence.Compact(use.Input), len(made)).
				At(round(e).Asked)
			for _, call := range e.Session.ToolCalls {
				if slices.Contains(e.Case.Tools, call.Tool) {
					v = v.Show(call.Place, "%s(%s)", call.Tool, evidence.Compact(call.Arguments))
				}
			}
			return v
		}
		return check.Pass("each tool use became a tools/call").At(round(e).Asked)
	},
}, complete...)

var resultsFedBack = rule(check.Check{
	ID:    "results-fed-back",
	Rule:  "A client that runs the tool loop gives the model the result of each call, a failure too, under the use's id",
	Cause: "the client gives the model one result of several, mixes up their ids, or ends the loop when a tool fails",
	Fix: "Put the content of every tools/call result into the next model request, under the id of its tool use, with " +
		"isError if the tool failed.",
	Judge: func(e *evidence.Case) check.Verdict {
		calls, _ := e.ToolCalls()
		if len(calls) == 0 {
			return check.NotObserved("the client called no tool %s", evidence.See("client-loop/tools-called"))
		}
		for _, use := range e.Uses() {
			i := slices.IndexFunc(calls, func(call *evidence.ToolCall) bool {
				return call.Tool == e.ServerTool(use.Name) && jsonvalue.Same(evidence.Arguments(use), call.Arguments)
			})
			if i < 0 || calls[i].Result == nil {
				continue // tools-called judges it
			}
			if v := fedBack(e, &use, calls[i]); v != nil {
				return *v
			}
		}
		return check.Pass("the model received the result of each call").At(round(e).Asked)
	},
}, append(complete, "destructive-tool")...)

// fedBack returns the failure for a result that did not reach the model; nil for one that did.
func fedBack(e *evidence.Case, use *dialect.Block, call *evidence.ToolCall) *check.Verdict {
	x, given := resultFor(e, use)
	if given == nil {
		return check.Instead(notTold(e, use, x))
	}
	sent := evidence.ReadToolResult(call.Result)
	found := given.Raw
	if found == nil {
		found = jsonvalue.Marshal(dialect.PlainText(given.Content))
	}
	show := func(v check.Verdict) *check.Verdict {
		return check.Instead(v.ShowAs("server sent", call.Place, "%q", sent.Text).
			ShowAs("model received", x.At(given.Path), "%s", evidence.Compact(found)))
	}
	if !jsonvalue.Contains(jsonvalue.Decode(found), sent.Text) {
		return show(check.Fail("expected the result of %s under the id of its use, found another", use.Name))
	}
	flagged := dialects.FactsOf(x.Dialect).ErrorFlag
	around := strings.ReplaceAll(string(found), sent.Text, "")
	switch {
	case sent.IsError && flagged && !given.IsError && !check.SaysError.MatchString(around):
		return show(check.Fail("expected a failed result of %s, found no sign of the failure", use.Name))
	case !sent.IsError && given.IsError:
		return show(check.Fail("expected a successful result of %s, found an error", use.Name))
	}
	return nil
}

var finalResult = rule(check.Check{
	ID:    "final-result",
	Rule:  "A client that runs the tool loop returns one result: the model's last answer and its stop reason",
	Cause: "the client returns the first answer of the model, or the stop reason of an earlier one",
	Fix:   "Return the answer that ends the loop, as it is, with the stop reason that came with it.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := round(e)
		a, missing := check.ReadableResult(e, r)
		if missing != nil {
			if a == nil {
				return check.Fail("expected the final answer of the loop as the result, found none%s", e.WhyNoResult(r.N)).
					At(r.Asked, lastOf(r))
			}
			return *missing
		}
		last := r.LastExchange()
		if uses := a.Uses(); len(uses) > 0 {
			return check.Fail("expected the final answer of the loop, found a tool use").ShowMembers(a, "content", "stopReason")
		}
		if last == nil || last.Reply() == nil || len(last.Calls()) > 0 {
			return check.Fail("expected the final answer of the model, found an earlier result").ShowMembers(a, "content").
				At(lastOf(r))
		}
		reason, _ := a.Text("stopReason")
		switch text := dialect.PlainText(last.Reply().Content); {
		case !evidence.Holds(a.Blocks(), text):
			return check.Fail("expected the last answer of the model, found another text").
				ShowAs("model said", last.Place, "%q", text).ShowMembers(a, "content")
		case slices.Contains(evidence.StandardStopReasons, reason) && reason != string(last.Reply().StopReason):
			return check.Fail("expected the stop reason of the last answer, %s, found %q", last.Reply().StopReason, reason).
				At(last.Place).ShowMembers(a, "stopReason")
		}
		return check.Pass("the result is the model's last answer").At(a.Place)
	},
}, complete...)
