package provider

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// resultDespiteFailure needs a result from the client. A client that refused passes.
func resultDespiteFailure(e *evidence.Case) *check.Verdict {
	r, before := failedRound(e), failureOf(e).before
	if len(e.Rounds) <= before {
		return check.Instead(check.NotSent(e, before+1))
	}
	if how := check.HowRefused(e, r); how != "" {
		return check.Instead(check.Pass("after %s the client returned no answer: %s", failureOf(e), how))
	}
	if _, v := check.ModelRequest(r); v != nil {
		return v
	}
	if r.Result() != nil {
		return nil
	}
	if v := timedOut(e); v != nil {
		return v
	}
	_, v := check.ReadableResult(e, r)
	return v
}

// timedOut returns the verdict for a client that may have meant to retry when its time was up; nil for any other.
func timedOut(e *evidence.Case) *check.Verdict {
	r, ended := failedRound(e), e.Session.Ended
	if len(r.Model) == 0 || len(r.Answers) > 0 || ended == nil || !ended.Deadline {
		return nil
	}
	last := r.Model[len(r.Model)-1]
	return check.Instead(check.NotObserved("expected an error before the time was up, found none after %s to the model: "+
		"if the client returns one later, set a longer --timeout", count(r.Model)).
		At(r.Asked).Show(last.Place, "%s", ending(last)))
}

// modelCalled needs a request to the model in any call of the case's tool: without an answer of the client it is
// unknown which of several concurrent calls it belongs to.
func modelCalled(e *evidence.Case) *check.Verdict {
	var v check.Verdict
	switch why := failedRound(e).CassetteMiss(); {
	case why != "":
		v = check.NotObserved("the model had no answer and no failure for the client: %s", evidence.Clip(why))
	case len(e.Session.Exchanges[e.Case.ID]) == 0:
		v = check.Unasked("the client did not call the model: it received nothing with the mark of the case")
	default:
		return nil
	}
	return &v
}

// succeeded is the verdict for a result after a successful retry.
func succeeded(e *evidence.Case) check.Verdict {
	return check.Pass("after %s the client retried and received an answer", failureOf(e))
}

// invented is the verdict for a result that is not the model's.
func invented(e *evidence.Case) check.Verdict {
	a, x := failedRound(e).Result(), failedRound(e).LastExchange()
	found := "an answer"
	switch {
	case evidence.IsNoAnswer(a):
		found = "a result without content"
	case isEmpty(a):
		found = "an empty answer"
	}
	return check.Fail("expected no result after %s, found %s", failureOf(e), found).
		Show(x.Place, "%s", ending(x)).ShowResult(a)
}

// isEmpty reports whether a result says nothing: it has no blocks, or only texts without a character.
func isEmpty(a *evidence.Answer) bool {
	return !slices.ContainsFunc(a.Blocks(), func(b dialect.Block) bool { return b.Type != dialect.Text || b.Text != "" })
}

// ending says how a call of the model ended.
func ending(x *evidence.Exchange) string {
	switch {
	case x.End.Fault != "":
		return "the answer was cut on purpose: " + x.End.Fault
	case x.End.Status == 0:
		return "the model did not answer"
	}
	return fmt.Sprintf("the model answered HTTP %d", x.End.Status)
}

// count counts requests to the model. A larger number would depend on the client's speed.
func count(calls []*evidence.Exchange) string {
	const most = 10
	switch n := len(calls); {
	case n == 1:
		return "1 request"
	case n > most:
		return fmt.Sprintf("more than %d requests", most)
	default:
		return fmt.Sprintf("%d requests", n)
	}
}
