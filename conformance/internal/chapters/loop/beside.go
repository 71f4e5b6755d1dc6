package loop

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// numberOf is which conversation of the case a round is of, counted from 1; 0 where its params do not say.
func numberOf(r *evidence.Round, mark string) int {
	for n := 1; n <= atOnce; n++ {
		if slices.Contains(r.Conversations, conversationName(mark, n)) {
			return n
		}
	}
	return 0
}

var interleaved = check.Check{
	ID: "interleaved", Rule: "two loops that run at once do not mix", Levels: check.Everywhere(report.Robust), Requests: 2, Cases: []string{"two-loops"},
	Cause: "the client keeps the history, or the request that it works on, in a place that all requests share",
	Fix:   "keep all that belongs to a request with the request",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			n := numberOf(r, e.Case.Mark)
			if n < 1 || n > len(loops) {
				return check.NotObserved("of which loop sampling request %d is cannot be read", r.N).Show(r.Asked, "%s", evidence.Compact(r.Raw))
			}
			if v := mixed(e, r, loops[n-1], loops[len(loops)-n]); v != nil {
				return *v
			}
		}
		for _, r := range e.Rounds {
			if how := check.Refusal(e, r); how != "" {
				return check.NotApplicable("the client does not take both loops at once: %s", how)
			}
			if _, unread := check.ReadableResult(e, r); unread != nil {
				return *unread
			}
		}
		if all := len(loops) * (len(north.cities) + 1); len(e.Rounds) < all {
			return check.NotObserved("the server did not send sampling request %d%s", len(e.Rounds)+1, e.WhyNoResult(len(e.Rounds)))
		}
		return check.Pass("each loop had its own answers, and the model its own history of each")
	},
}

// mixed holds a round of one loop against the other one; nil where it has nothing of that, and what came back is of its own.
func mixed(ev *evidence.Case, r *evidence.Round, own, other *tour) *check.Verdict {
	tell := func(v check.Verdict) *check.Verdict {
		v = v.ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.Spoken(r.Params.Messages[:1]))
		for _, x := range r.Model {
			v = v.ShowAs("model was given", x.Place, "%s", evidence.Compact(x.Request.Body))
		}
		for i := range r.Answers {
			v = v.Show(r.Answers[i].Place, "%s", evidence.Compact(r.Answers[i].Result))
		}
		return &v
	}
	for _, x := range r.Model {
		for _, word := range other.words() {
			if x.Request != nil && x.Says(word) {
				return tell(check.Fail("the model was given %q for a request of the other loop", word))
			}
		}
	}
	a := r.Result()
	if a == nil || a.Blocks() == nil {
		return nil
	}
	for _, word := range other.words() {
		if evidence.Holds(a.Blocks(), word) || slices.Contains(evidence.AskedFor(a), word) {
			return tell(check.Fail("the answer to one loop's request is of the other loop: it says %q", word))
		}
	}
	// Which of its own words is due depends on the history that the model was given, which is judged elsewhere.
	if !slices.ContainsFunc(own.words(), func(word string) bool {
		return evidence.Holds(a.Blocks(), word) || slices.Contains(evidence.AskedFor(a), word)
	}) {
		return tell(check.NotObserved("the answer to one loop's request has words of neither loop, so that it says nothing of both"))
	}
	return nil
}

var concurrent = check.Check{
	ID: "concurrent", Rule: "of many requests in flight, each is answered once and with its own content, or refused with an error", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"sixteen-at-once"},
	Cause: "what is over a limit of the client's is dropped, or an answer is kept where the next one finds it",
	Fix:   "answer each request with what the model said to it, one after the other if need be, and what is too much with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		if len(e.Rounds) < atOnce {
			return check.NotObserved("the server did not send sampling request %d", atOnce)
		}
		if why := missedAny(e.Rounds); why != "" {
			return check.NotObserved("the model had no answer for one of the requests: %s", evidence.Clip(why))
		}
		answered, refused := 0, 0
		var left []*evidence.Round
		for _, r := range e.Rounds {
			if v := answeredWrong(e, r); v != nil {
				return *v
			}
			switch {
			case r.Result() != nil:
				answered++
			case len(r.Answers) > 0:
				refused++
			default:
				left = append(left, r)
			}
		}
		if answered == 0 && !e.Session.AnswersAny() {
			return check.NotObserved("the client answers nothing at all%s", e.WhyNoResult(1))
		}
		if len(left) > 0 {
			return leftOut(e, left, answered)
		}
		return check.Pass("of %d requests in flight %d were answered, each with its own content, and %d refused", atOnce, answered, refused)
	},
}

// missedAny says why the model had no answer for one of the rounds; "" where it had one for each.
func missedAny(rounds []*evidence.Round) string {
	for _, r := range rounds {
		if why := r.CassetteMiss(); why != "" {
			return why
		}
	}
	return ""
}

// answeredWrong judges what came back for one of many requests; nil where nothing is wrong with it, or nothing came.
func answeredWrong(ev *evidence.Case, r *evidence.Round) *check.Verdict {
	n := numberOf(r, ev.Case.Mark)
	var v check.Verdict
	switch {
	case n == 0:
		v = check.NotObserved("which of the questions sampling request %d asks cannot be read", r.N).Show(r.Asked, "%s", evidence.Compact(r.Raw))
		return &v
	case len(r.Answers) > 1 && !ev.Revision.Modern():
		v = check.Fail("one of %d requests in flight was answered %d times", atOnce, len(r.Answers)).Show(r.Asked, "%s", lockerQuestion(n))
		for _, a := range r.Answers {
			v = v.Show(a.Place, "%s", evidence.Compact(append(a.RawErr, a.Result...)))
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
	whose := "is not what the model said to it"
	for other := range atOnce {
		if evidence.Holds(a.Blocks(), lockerAnswer(other+1)) {
			whose = fmt.Sprintf("is what the model said to another, question %d", other+1)
		}
	}
	v = check.Fail("of %d requests in flight the answer to one, question %d, %s", atOnce, n, whose).
		Show(r.Asked, "%s", lockerQuestion(n)).ShowAs("model said", evidence.Place{}, "%q", lockerAnswer(n)).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
	return &v
}

// leftOut judges requests to which nothing came back.
func leftOut(ev *evidence.Case, left []*evidence.Round, answered int) check.Verdict {
	r := left[0]
	how := "it is neither answered nor refused"
	if ev.Revision.Modern() {
		if answered == 0 {
			if v := check.Unsettled(ev, r); v != nil {
				return *v
			}
			return check.Pass("the client does not fulfil %d requests at once, and goes on", atOnce)
		}
		how = "the retry has others of the keys, and not its own"
	}
	return check.ShowOutput(ev.Session, check.Fail("of %d requests in flight nothing came back for %d, the first of them number %d: %s%s", atOnce, len(left), r.N, how, ev.Died()).Show(r.Asked, "%s", evidence.Compact(r.Raw)))
}
