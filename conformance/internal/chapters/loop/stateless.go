package loop

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var umbrella = tour{"Will my sister need her umbrella?", []string{"Reykjavik"}, "She had better take it along."}

// A loop is followed by a question that has nothing to do with it.
var afterEachOther = harness.Case{ID: "loop/two-questions",
	Handler: func(s *server.Session) (any, error) {
		if answer, err := inTurn(umbrella.question, 2, nil)(s); err != nil {
			return answer, err
		}
		return s.Sample(s.Ask("Name a colour."))
	},
	Script: func(mark string) []*llm.Rule {
		return append(umbrella.rules(conversation(mark, 1)), llm.When().Reply(llm.Text("Teal.")))
	},
	Expect: umbrella}

var stateless = check.Check{
	ID: "stateless", Cases: []string{"two-questions"},
	Rule:   "The model receives nothing of earlier sampling requests",
	Levels: check.Levels(report.Advice, report.Should), Statements: []string{"2026-07-28/sampling/14"},
	Requests: 3, Needs: []check.Need{check.ModelReadsRequest(3)},
	Cause: "the client keeps one history for the session and appends each request to it",
	Fix:   "Build the model request from the messages of the current request alone. Keep no history between requests.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[2]
		x := r.LastExchange()
		return foreignText(e, r, x).ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.Spoken(r.Params.Messages)).
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
