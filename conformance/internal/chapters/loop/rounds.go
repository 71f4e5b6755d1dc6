package loop

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Some are exported for the tests, which are in a package of their own.
var (
	ThreeCities = tour{
		"Which of the three cities is the warmest?", []string{"Paris", "London", "Rome"}, "Rome is the warmest of them.",
	}
	TwoCities = tour{
		"Which of the two cities is the colder one?", []string{"Paris", "London"}, "London is the colder one.",
	}
)

// The model asks for the weather in three cities, one after the other, and then answers. A client may refuse a round
// at its own limit.
var growing = harness.Case{ID: "loop/three-cities", Barrier: true,
	Handler: inTurn(ThreeCities.Question, 4, nil),
	Script:  ThreeCities.script,
	Expect:  ThreeCities}

var threeRounds = check.Check{
	ID: "three-rounds", Cases: []string{"three-cities"},
	Rule:   "The client asks the model in each round of a tool loop, until its final text",
	Levels: check.Robust, Statements: requirements.Balance, Requests: 1,
	Cause: "the client answers a later round from a cache, or sends a history that the model refuses",
	Fix:   "Ask the model in every round, with all messages of the sampling request in their order.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			switch x := r.LastExchange(); {
			case x != nil && x.End.Refused != "" && r.N == 1:
				return check.NotObserved("the model refused the first request of the loop, which has no history: %s",
					x.End.Refused)
			case x != nil && x.End.Refused != "":
				return check.Fail("expected the model to accept the history of round %d, it refused: %s", r.N, x.End.Refused).
					ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.DescribeMessages(r.Params.Messages)).At(x.Place)
			}
			if v := withoutModel(e, r); v != nil {
				return *v
			}
			if how := check.HowRefused(e, r); how != "" {
				return check.NotApplicable("the client ends the loop in round %d: %s", r.N, how)
			}
		}
		return endsInText(e)
	},
}

// withoutModel returns the failure for a round that the client answers without the model, which it asks in the first.
func withoutModel(e *evidence.Case, r *evidence.Round) *check.Verdict {
	if len(r.Model) > 0 || r.Result() == nil || len(e.Session.Unmarked) > 0 || len(e.Rounds[0].Model) == 0 {
		return nil
	}
	return check.Instead(check.Fail("expected a request to the model for sampling request %d, found a result without one",
		r.N).At(r.Asked).ShowResult(r.Result()))
}

// endsInText judges that the result of the tour's last request is a text. Another check compares it with the model's.
func endsInText(e *evidence.Case) check.Verdict {
	rounds := len(check.Expected[tour](e).Cities)
	if len(e.Rounds) <= rounds {
		return check.NotSent(e, rounds+1)
	}
	r := e.Rounds[rounds]
	a, unread := check.ReadableResult(e, r)
	if unread != nil {
		return *unread
	}
	uses, text := a.Uses(), dialect.PlainText(a.Blocks())
	switch x := r.LastExchange(); {
	case len(uses) > 0 && r.Params.ToolChoice != dialect.ChoiceNone && x != nil && len(x.Calls()) > 0:
		return check.NotObserved("the model wants another tool after %d rounds %s", rounds,
			evidence.See("always/model-was-given")).
			ShowJSON(a.At(uses[0].Path), uses[0].Raw)
	case len(uses) > 0:
		return check.Fail("expected the final text after %d rounds, found a tool use", rounds).
			ShowJSON(a.At(uses[0].Path), uses[0].Raw).At(r.Asked.At("toolChoice"))
	case text == "":
		return check.Fail("expected the final text after %d rounds, found another result", rounds).ShowMembers(a, "content")
	}
	return check.Pass("a final text came back after %d rounds", rounds).Show(a.At("content"), "%q", evidence.Clip(text))
}

// The server requires a tool use in the second round. In the third it forbids tools, which ends the loop
// (2025-11-25, client/sampling#multi-turn-tool-loop); the model would go on. A client may refuse that round at its own
// limit.
var ended = harness.Case{ID: "loop/told-to-stop", Barrier: true,
	Handler: inTurn(TwoCities.Question, 3, map[int]string{2: dialect.ChoiceRequired, 3: dialect.ChoiceNone}),
	Script:  eager,
	Expect:  TwoCities}

// withoutTools matches a request in which the model must not use a tool.
var withoutTools = llm.MatcherFunc(func(r *llm.Request) error {
	if r.ToolChoice == dialect.ChoiceNone || len(r.Tools) == 0 {
		return nil
	}
	return fmt.Errorf("the model may use %s", story.Names(r.Tools))
})

// eager is a model that goes on as long as it may. In its last round it says its final text, and calls a tool beside
// it if it may.
func eager(mark string) []*llm.Rule {
	return []*llm.Rule{
		llm.When(story.Turn(mark, 1)).Reply(story.Calls([]string{"Paris"})...),
		llm.When(story.Turn(mark, 2)).Reply(story.Calls([]string{"London"})...),
		llm.When(withoutTools).Reply(llm.Text(TwoCities.End)),
		llm.When().Reply(llm.Text(TwoCities.End), story.Calls([]string{"Rome"})[0]),
	}
}

var lastRoundNone = check.Check{
	ID: "last-round-none", Cases: []string{"told-to-stop"},
	Rule:   `A loop that the server ends with the tool choice "none" ends in text`,
	Levels: check.Robust, Requests: 3,
	Statements: []string{"sampling/11"},
	Cause:      "toolChoice is not passed on, or tools that the history uses are left out, which some providers refuse",
	Fix:        `Send the provider's tool choice for "none" together with the tools. Leave tool uses out of the result.`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[2]
		if x := r.LastExchange(); x != nil && x.End.Refused != "" {
			return check.Fail("expected the model to accept the last request of the loop, it refused: %s", x.End.Refused).
				ShowAs("server sent", r.Asked.At("toolChoice"), "%q", dialect.ChoiceNone).At(x.Place)
		}
		if how := check.HowRefused(e, r); how != "" {
			return check.NotApplicable("the client refuses the last request of the loop: %s", how)
		}
		return endsInText(e)
	},
}

// Umbrella is exported for the tests, which are in a package of their own.
var Umbrella = tour{"Will my sister need her umbrella?", []string{"Reykjavik"}, "She had better take it along."}

// A loop is followed by a question that has nothing to do with it.
var afterEachOther = harness.Case{ID: "loop/two-questions",
	Handler: func(s *server.Session) (any, error) {
		if answer, err := inTurn(Umbrella.Question, 2, nil)(s); err != nil {
			return answer, err
		}
		return s.Sample(s.Ask("Name a colour."))
	},
	Script: func(mark string) []*llm.Rule {
		return append(Umbrella.rules(mark, conversation(mark, 1)), llm.When().Reply(llm.Text("Teal.")))
	},
	Expect: Umbrella}

// Stateless is exported for the tests, which are in a package of their own.
var Stateless = check.Check{
	ID: "stateless", Cases: []string{"two-questions"},
	Rule:   "The model receives nothing of earlier sampling requests",
	Levels: check.Levels(report.Advice, report.Should), Statements: []string{"sampling/14"},
	Requests: 3, Needs: []check.Need{check.ModelReadsRequest(3)},
	Cause: "the client keeps one history for the session and appends each request to it",
	Fix:   "Build the model request from the messages of the current request alone. Keep no history between requests.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[2]
		x := r.LastExchange()
		return foreignText(e, r, x).ShowAs("server sent", r.Asked.At("messages"), "%s",
			evidence.DescribeMessages(r.Params.Messages)).
			ShowAs("model received", x.Place, "%s", evidence.Compact(x.Request.Body))
	},
}

// foreignText judges that a model request has no text of another conversation than its round's.
func foreignText(e *evidence.Case, r *evidence.Round, x *evidence.Exchange) check.Verdict {
	for _, word := range check.Expected[tour](e).words() {
		if x.Says(word) {
			return check.Fail("expected only the texts of its request, found %q of an earlier one", word)
		}
	}
	for _, c := range e.Session.Trace.Header.Cases {
		for _, other := range evidence.Conversations(x.Request.Body, c.Mark) {
			if !slices.Contains(r.Conversations, other) {
				return check.Fail("expected only the texts of its request, found conversation %s of %s", other, c.ID)
			}
		}
	}
	return check.Pass("the model received nothing of earlier requests")
}
