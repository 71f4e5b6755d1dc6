package loop

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// loops run at the same time, and have as many cities each. A loop's index is the number of its conversation, less
// one.
var loops = []tour{
	{"Which harbour in the north is the windier one?", []string{"Oslo", "Bergen"}, "Bergen is the windier one."},
	{"Which harbour in the south is the calmer one?", []string{"Naples", "Genoa"}, "Genoa is the calmer one."},
}

// loopRounds is the number of rounds of each loop, with the one of the final text.
var loopRounds = len(loops[0].cities) + 1

// Two loops run at the same time. The order of their requests changes from round to round, so that it does not
// identify the loop.
var sideBySide = harness.Case{ID: "loop/two-loops", Barrier: true,
	Handler: func(s *server.Session) (any, error) {
		var asks []any
		for _, t := range loops {
			asks = append(asks, s.Ask(t.question, story.GetWeather))
		}
		for round := 1; ; round++ {
			for i, answer := range s.SampleAll(asks...) {
				if answer.Err != nil || round == loopRounds {
					return answer.Result, answer.Err
				}
				asks[i] = asks[i].(*server.CreateMessageParams).After(answer.Result, weatherReports)
			}
			slices.Reverse(asks)
		}
	},
	Script: func(mark string) []*llm.Rule {
		var rules []*llm.Rule
		for i, t := range loops {
			rules = append(rules, t.rules(conversation(mark, i+1))...)
		}
		return rules
	}}

var interleaved = check.Check{
	ID: "interleaved", Cases: []string{"two-loops"},
	Rule:   "Two tool loops that run at the same time do not mix",
	Levels: check.Everywhere(report.Robust), Requests: 2,
	Cause: "the client keeps the history, or the current request, in a variable that all requests share",
	Fix:   "Keep all state of a sampling request in a value of its own, such as the handler's local variables.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			n := conversationOf(r, e.Case.Mark)
			if n < 1 || n > len(loops) {
				return check.NotObserved("sampling request %d does not say its conversation", r.N).ShowJSON(r.Asked, r.Raw)
			}
			if v, found := mixed(r, loops[n-1], loops[len(loops)-n]); found {
				return showRound(v, r)
			}
		}
		for _, r := range e.Rounds {
			if how := check.Refusal(e, r); how != "" {
				return check.NotApplicable("the client does not accept both loops at once: %s", how)
			}
			if _, unread := check.ReadableResult(e, r); unread != nil {
				return *unread
			}
		}
		if sent := len(e.Rounds); sent < len(loops)*loopRounds {
			return check.NotObserved("the server did not send sampling request %d%s", sent+1, e.WhyNoResult(sent))
		}
		return check.Pass("each loop had its own results, and the model its own history of each")
	},
}

// mixed searches a round of one loop for texts of the other, and for a result that has no text of either; false if it
// finds neither.
func mixed(r *evidence.Round, own, other tour) (check.Verdict, bool) {
	for _, x := range r.Model {
		for _, word := range other.words() {
			if x.Request != nil && x.Says(word) {
				return check.Fail("expected only texts of one loop in the model request, found %q of the other loop", word), true
			}
		}
	}
	a := r.Result()
	if a == nil || a.Blocks() == nil {
		return check.Verdict{}, false
	}
	says := func(word string) bool {
		return evidence.Holds(a.Blocks(), word) || slices.Contains(evidence.AskedFor(a), word)
	}
	for _, word := range other.words() {
		if says(word) {
			return check.Fail("expected only texts of one loop in the result, found %q of the other loop", word), true
		}
	}
	// Which of its own words is due depends on the history that the model received. Other checks judge that.
	return check.NotObserved("the result of a request has no text of either loop"), !slices.ContainsFunc(own.words(), says)
}

// showRound adds the question of a round, what the model received for it, and the client's responses.
func showRound(v check.Verdict, r *evidence.Round) check.Verdict {
	v = v.ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.Spoken(r.Params.Messages[:1]))
	for _, x := range r.Model {
		v = v.ShowAs("model received", x.Place, "%s", evidence.Compact(x.Request.Body))
	}
	for _, a := range r.Answers {
		v = v.ShowJSON(a.Place, a.Result)
	}
	return v
}
