package clientloop

import (
	"fmt"
	"math"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

const (
	// Hinted is the maxIterations of the request.
	Hinted = 3
	// MostIterations is how many a loop may have. Limits of 5 and 10 are usual.
	MostIterations = 40
	// forever is longer than any client waits, even one that declares no limit.
	forever = 10 * time.Minute
)

// Mile is exported for the tests, which are in a package of their own.
var Mile = story.Gauge("loop_mile", "What there is to see at a milestone",
	story.Reading("At %s there is nothing to see."))

// The model asks for one more tool use after each result.
var endless = func() harness.Case {
	c := loop{"endless", story.Object{"maxIterations": Hinted}, []server.Tool{Mile}, "Walk until you see something.",
		nil}.asCase()
	c.Script = func(string) []*llm.Rule {
		return []*llm.Rule{llm.When().ReplyFunc(offering([]server.Tool{Mile}, func(r *llm.Request) []llm.Block {
			if r.Turn() > MostIterations {
				return said("There is nothing to see.")
			}
			return []llm.Block{at("loop_mile", fmt.Sprintf("mile %d", r.Turn()))}
		}))}
	}
	return c
}()

// The tool takes longer than the client's limit.
var slowTool = harness.Case{ID: "client-loop/slow-tool", Timed: harness.Beyond, Barrier: true, ClientLoop: true,
	Make: func(l harness.Limits) harness.Stage {
		flood := story.Gauge("loop_flood", "Waits for the next flood at a place", nil)
		flood.Handler = func(s *server.Session) (any, error) {
			story.WaitFor(l.ModelDelay, s.Context().Done(), nil)
			return "The flood is here.", nil
		}
		return harness.Stage{Tools: []server.Tool{flood},
			Handler: func(s *server.Session) (any, error) {
				return s.Sample(asking(s, "When is the next flood at Chester?", nil, flood))
			},
			Rules: inTurns([]server.Tool{flood}, llm.Turn, turns{{at("loop_flood", "Chester")}, said("It is now.")})}
	}}

var loopBounded = rule(check.Check{
	ID: "loop-bounded",
	Rule: fmt.Sprintf("A client that runs the tool loop ends it by itself, with an error or a final answer: after the "+
		"request's maxIterations, or its own limit of at most %d", MostIterations),
	Cause: "the loop ends only when the model uses no tool",
	Fix:   "Count the requests to the model. At the limit, return an error, or ask once more with the tool choice none.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := round(e)
		n := 0
		for _, x := range r.Model {
			if len(x.Calls()) > 0 {
				n++
			}
		}
		a := r.Result()
		switch {
		case n >= MostIterations:
			return check.Fail("expected the loop to end before %d model requests (maxIterations is %d), found %d",
				MostIterations, Hinted, len(r.Model)).At(r.Asked, lastOf(r))
		case a != nil && len(a.Uses()) > 0:
			return check.Fail("expected an error or a final answer at the limit of the loop, found a tool use").
				ShowMembers(a, "content", "stopReason")
		case len(r.Answers) == 0 && !e.Revision.Modern():
			return check.UnsettledSince(e, r.Asked).Or(check.Fail("expected an error or a final answer at the limit of the "+
				"loop, found no response").For(evidence.NoResponse).At(r.Asked, lastOf(r)))
		case len(r.Answers) == 0:
			if v := check.UnsettledSince(e, r.Asked); v != nil {
				return *v
			}
		}
		return check.Pass("the loop ended after %d model requests (maxIterations is %d)", len(r.Model), Hinted).At(r.Asked)
	},
}, "endless")

var overallTimeout = rule(check.Check{
	ID:    "overall-timeout",
	Rule:  "A client that runs the tool loop has a time limit for all of it, tool calls too",
	Cause: "the time limit covers only the requests to the model, or starts again with each iteration",
	Fix:   "Run the whole loop under one deadline. When it expires, cancel the tool call and return an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, s := round(e), e.Session
		calls, _ := e.ToolCalls()
		if len(calls) == 0 {
			return check.NotObserved("the client did not call the slow tool %s", evidence.See("client-loop/tools-called"))
		}
		call := calls[0]
		switch {
		case s.AnsweredAt(r) < call.Ended:
			return check.Pass("the client ended the loop before the tool had answered").At(r.Asked, call.Place)
		case len(r.Answers) > 0, s.Ended != nil && s.Ended.Deadline && call.Cancelled == nil:
			return waited(e, call)
		}
		if v := check.UnsettledSince(e, r.Asked); v != nil {
			return *v
		}
		switch {
		case e.Revision.Modern() && (call.Cancelled != nil || call.Ended == math.MaxInt):
			return check.Pass("the client ended the loop and did not fulfil the input request").At(r.Asked, call.Place)
		case e.Revision.Modern():
			return waited(e, call)
		}
		return check.Fail("expected an error at the time limit of the loop, found no response").For(evidence.NoResponse).
			At(r.Asked, call.Place)
	},
}, "slow-tool")

// waited is the verdict for a client that waited for the slow tool. If its limit is unknown, only forever is too long.
func waited(e *evidence.Case, call *evidence.ToolCall) check.Verdict {
	header := e.Session.Trace.Header
	if !header.TimeoutDeclared && header.ModelDelay < forever {
		return check.Unsupported("the client still waits for a tool after %s: declare its limit (%s), or let it use the "+
			"limit that it is told", header.ModelDelay, check.LimitOption)
	}
	return check.Fail("expected the loop to end at its time limit, found the client waiting for a tool after %s",
		header.ModelDelay).At(round(e).Asked, call.Place)
}
