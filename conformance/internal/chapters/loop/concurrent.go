package loop

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// atOnce is how many requests are in flight together. Many clients have a lower limit of their own, as they may.
const atOnce = 16

func lockerQuestion(n int) string { return fmt.Sprintf("What opens locker number %d?", n) }
func lockerAnswer(n int) string   { return fmt.Sprintf("It opens with the code %d.", 4096+37*n) }

// Sixteen questions, each in a conversation of its own, are in flight together.
var allAtOnce = harness.Case{ID: "loop/sixteen-at-once", Barrier: true,
	Handler: func(s *server.Session) (any, error) {
		asks := make([]any, atOnce)
		for i := range asks {
			asks[i] = s.Ask(lockerQuestion(i + 1))
		}
		for _, answer := range s.SampleAll(asks...) {
			if answer.Err != nil {
				return nil, answer.Err
			}
		}
		return "done", nil
	},
	Script: func(mark string) []*llm.Rule {
		var rules []*llm.Rule
		for n := 1; n <= atOnce; n++ {
			rules = append(rules, llm.When(conversation(mark, n)).Reply(llm.Text(lockerAnswer(n))))
		}
		return rules
	}}

var concurrent = check.Check{
	ID: "concurrent", Cases: []string{"sixteen-at-once"},
	Rule:   "Each of many requests in flight gets one response: its own content, or an error",
	Levels: check.Everywhere(report.Robust), Requests: 1, Needs: []check.Need{allSent, modelAnswersAll},
	Cause: "the client drops requests that are over its limit, or keeps a result in a variable that all requests share",
	Fix:   "Return the model's answer to each request, one by one if necessary. Return an error over your limit.",
	Judge: func(e *evidence.Case) check.Verdict {
		results, refused := 0, 0
		var open []*evidence.Round
		for _, r := range e.Rounds {
			if v := wrongAnswer(e, r); v != nil {
				return *v
			}
			switch {
			case r.Result() != nil:
				results++
			case len(r.Answers) > 0:
				refused++
			default:
				open = append(open, r)
			}
		}
		if results == 0 && !e.Session.AnswersAny() {
			return check.NotObserved("the client returns no result for any sampling request%s", e.WhyNoResult(1))
		}
		if len(open) > 0 {
			return noResponse(e, open, results)
		}
		return check.Pass("%d of %d requests in flight got their own result, %d an error", results, atOnce, refused)
	},
}

// allSent needs all requests in flight.
func allSent(e *evidence.Case) *check.Verdict {
	if len(e.Rounds) < atOnce {
		v := check.NotObserved("the server did not send sampling request %d", atOnce)
		return &v
	}
	return nil
}

// modelAnswersAll needs a model with an answer to each request.
func modelAnswersAll(e *evidence.Case) *check.Verdict {
	for _, r := range e.Rounds {
		if why := r.CassetteMiss(); why != "" {
			v := check.NotObserved("the model had no answer for one of the requests: %s", evidence.Clip(why))
			return &v
		}
	}
	return nil
}

// wrongAnswer judges the responses to one of many requests; nil if there is one with the right content, an error, or
// none.
func wrongAnswer(e *evidence.Case, r *evidence.Round) *check.Verdict {
	n := conversationOf(r, e.Case.Mark)
	if n == 0 {
		v := check.NotObserved("sampling request %d does not say its conversation", r.N).ShowJSON(r.Asked, r.Raw)
		return &v
	}
	if len(r.Answers) > 1 && !e.Revision.Modern() {
		v := check.Fail("expected one response to each of %d requests in flight, found %d to one", atOnce, len(r.Answers)).
			Show(r.Asked, "%s", lockerQuestion(n))
		for _, a := range r.Answers {
			v = v.ShowJSON(a.Place, append(a.RawErr, a.Result...))
		}
		return &v
	}
	a := r.Result()
	if a == nil {
		return nil
	}
	if unread := check.UnreadableContent(a); unread != nil {
		return unread
	}
	if evidence.Holds(a.Blocks(), lockerAnswer(n)) {
		return nil
	}
	found := "another text"
	for other := 1; other <= atOnce; other++ {
		if evidence.Holds(a.Blocks(), lockerAnswer(other)) {
			found = fmt.Sprintf("the one to question %d", other)
		}
	}
	v := check.Fail("expected the model's answer to question %d of %d in flight, found %s", n, atOnce, found).
		Show(r.Asked, "%s", lockerQuestion(n)).ShowAs("model said", evidence.Place{}, "%q", lockerAnswer(n)).
		ShowJSON(a.At("content"), a.Member("content"))
	return &v
}

// noResponse judges requests without a response. In 2026-07-28 a client may leave all of them unfulfilled, but not
// some.
func noResponse(e *evidence.Case, open []*evidence.Round, results int) check.Verdict {
	first := open[0]
	how := "no result and no error"
	if e.Revision.Modern() {
		if results == 0 {
			if v := check.Unsettled(e, first); v != nil {
				return *v
			}
			return check.Pass("the client does not fulfil %d requests at once, and continues", atOnce)
		}
		how = "the retry has other keys, and not its own"
	}
	return check.ShowOutput(e.Session, check.Fail("expected %d responses, %d are missing, first that to request %d: %s%s",
		atOnce, len(open), first.N, how, e.Died()).ShowJSON(first.Asked, first.Raw))
}
