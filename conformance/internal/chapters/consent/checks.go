package consent

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

var declined = check.Check{
	ID: "declined", Rule: "a request that the person declines is not answered", Levels: check.Everywhere(report.Should), Requests: 1, Cases: []string{"request"},
	Statements: everyoneMayRefuse,
	Cause:      "nobody is asked, or what the person says is not waited for",
	Fix:        "ask before the model is asked, and where the person declines answer with an error (-1); in 2026-07-28 do not send the call again",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := declinedRound(e)
		if missing != nil {
			return *missing
		}
		switch a := r.Result(); {
		case a != nil && !evidence.IsNoAnswer(a):
			return check.Fail("the person declined, and the server was given an answer all the same").Show(r.Asked, "").Show(a.Place, "%s", evidence.Compact(a.Result))
		case a != nil && !e.Revision.Modern():
			return check.Fail("the person declined, and the server was given a result that holds no answer: an error is due").Show(r.Asked, "").Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		return refused(e, r, "the client refused what the person had declined")
	},
}

// refused judges that a round was refused: with an error, or in the second era, which has none, with nothing. What it shows is a Pass.
func refused(ev *evidence.Case, r *evidence.Round, what string) check.Verdict {
	switch {
	case r.Result() != nil:
		return check.Pass("%s, with %s in the place of an answer", what, evidence.NoAnswerText(r.Result())).Show(r.Result().Place, "%s", evidence.Compact(r.Result().Result))
	case len(r.Answers) > 0:
		a := r.Answers[0]
		return check.Pass("%s, with the code %d", what, a.Err.Code).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	case !ev.Revision.Modern():
		return check.Fail("the client neither refused nor answered what the person had declined: an error is due").Show(r.Asked, "%s", evidence.Compact(r.Raw))
	}
	if v := check.Unsettled(ev, r); v != nil {
		return *v
	}
	return check.Pass("%s: its call was not sent again", what).Show(r.Asked, "")
}

var declinedCode = check.Check{
	ID: "declined-code", Rule: "the error for a request that the person declines has the code -1", Levels: refusalCode, Requests: 1, Cases: []string{"request"},
	Statements: []string{"2025-11-25/sampling/13"},
	Cause:      "every error of the handler gets one code, such as -32603 or 0",
	Fix:        `answer with {"code": -1, "message": "User rejected sampling request"}`,
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.Answers) == 0 || r.Answers[0].Err == nil:
			return check.NotApplicable("the client gave no error when the person had declined (see consent/declined)")
		}
		a := r.Answers[0]
		if a.Err.Code != codeDeclined {
			return check.Fail("the person declined, and the error has the code %s: want %d", code(&a), codeDeclined).Show(a.At("code"), "%s", evidence.Compact(a.RawErr))
		}
		return check.Pass("the error has the code %d", codeDeclined).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	},
}

// code is the code of an error as it was written, which may be no number.
func code(a *evidence.Answer) string {
	var told dialect.Object
	_ = json.Unmarshal(a.RawErr, &told) // what cannot be read has none
	return check.OrMissing(told["code"])
}

var declinedNoModelCall = check.Check{
	ID: "no-model-call", Rule: "what the person declines is not sent to the model", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"request"},
	Cause: "the model is asked while the person still decides, or before",
	Fix:   "ask the person first",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.Model) > 0:
			return check.Fail("the model was asked what the person had declined").Show(r.Asked, "").Show(r.Model[0].Place, "")
		case len(e.Session.Unmarked) > 0:
			return check.NotObserved("the model received a request without the mark of any case, which may be for this one").Show(e.Session.Unmarked[0], "")
		}
		if v := check.Unsettled(e, r); v != nil {
			return *v
		}
		return check.Pass("no call of the model was completed")
	},
}

var noMadeUpAnswer = check.Check{
	ID: "no-made-up-answer", Rule: "a refusal is not dressed up as an answer of the model", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"request"},
	Cause: "the handler has to return something, and returns a message that says that the person declined",
	Fix:   "return an error from the handler; in 2026-07-28 there is nothing to send, and the call is not sent again",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := declinedRound(e)
		if missing != nil {
			return *missing
		}
		a := r.Result()
		switch {
		case a == nil && len(r.Answers) == 0 && !e.Revision.Modern():
			return check.NotApplicable("the client neither refused nor answered what the person had declined (see consent/declined)")
		case a == nil:
			return refused(e, r, "no answer was made up")
		case evidence.IsNoAnswer(a) && e.Revision.Modern():
			return check.Warn("the retry has %s where an answer belongs: an input response is a result, and a refusal has none", evidence.NoAnswerText(a)).Show(a.Place, "%s", evidence.Compact(a.Result))
		case evidence.IsNoAnswer(a):
			return check.Warn("the client gave a result that holds no answer, where an error is due").Show(a.Place, "%s", evidence.Compact(a.Result))
		case len(r.Model) > 0:
			return check.Pass("the answer is the model's").Show(r.Model[0].Place, "")
		case len(e.Session.Unmarked) > 0:
			return check.NotObserved("the model was asked something that has the mark of no conversation, so that the answer may be its").Show(e.Session.Unmarked[0], "")
		}
		return check.Fail("the person declined, nobody asked the model, and the server was given an answer as if it were the model's").Show(a.Place, "%s", evidence.Compact(a.Result))
	},
}

var declinedMRTR = check.Check{
	ID: "declined-mrtr", Rule: "a call is not sent again without the input that it was asked for", Levels: check.InModern(report.Must), Requests: 1, Cases: []string{"request", "fifty"},
	Statements: []string{"2026-07-28/mrtr/22"},
	Cause:      "the input requests that were refused are left out, and the call is sent again with the rest",
	Fix:        "send a call again only with an answer under every key that it was asked for; else end it, and tell the person or the model",
	Judge: func(e *evidence.Case) check.Verdict {
		if v := check.RetriedWithoutKey(e, "the call was sent again without what it was asked for"); v != nil {
			return *v
		}
		if e.Case.ID == "consent/fifty" {
			if len(e.Rounds[0].Answers) == 0 {
				return check.NotApplicable("the call was not sent again")
			}
			return check.Pass("the retry has all that it was asked for").Show(e.Rounds[0].Answers[0].Place, "")
		}
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.Answers) > 0:
			return check.Pass("the retry has what it was asked for").Show(r.Answers[0].Place, "")
		}
		return refused(e, r, "the person declined")
	},
}

var declinedAfter = check.Check{
	ID: "declined-after", Rule: "an answer that the person refuses does not reach the server", Levels: check.Everywhere(report.Should), Requests: 1, Cases: []string{"answer"},
	Statements: everyoneMayReview,
	Cause:      "the answer is on its way before the person has seen it, or stands in the error",
	Fix:        "show the answer first, and where it is refused send an error that says nothing of it; in 2026-07-28 do not send the call again",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.CompletedCalls()) == 0 && len(e.Session.Unmarked) == 0:
			return check.Unsupported("the model gave no answer that the person could have refused: it takes a client that asks the model first, and then the person").Show(r.Asked, "")
		}
		for _, sent := range e.Session.Sendings(func(string) bool { return true }) {
			if hit, where, text := sent.Find(keptBack); text != "" {
				return check.Fail("the person refused the model's answer, and the server was told %s all the same%s", hit.Name, evidence.DescribeForm(hit)).
					ShowAs("model was asked", r.Asked, "and said %q", refusedAnswer).Show(where, "%s", text)
			}
		}
		switch a := r.Result(); {
		case a != nil && !evidence.IsNoAnswer(a):
			return check.Fail("the person refused the model's answer, and the server was given another").Show(a.Place, "%s", evidence.Compact(a.Result))
		case a != nil && !e.Revision.Modern():
			return check.Fail("the person refused the model's answer, and the server was given a result that holds none: an error is due").Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		return refused(e, r, "the answer that the person refused was kept from the server")
	},
}

// keptBack finds the answer that the person refused, or what is left of it where an error was made short.
var keptBack = leak.New(leak.Secret{Name: "it", Value: refusedAnswer}, leak.Secret{Name: "how it begins", Value: refusedAnswer[:len("It is the Nile")]},
	leak.Secret{Name: "how it ends", Value: refusedAnswer[len("It is the Nile, "):]})

var declinedAlive = check.Check{
	ID: "alive", Rule: "the session goes on after the person has declined", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"request", "answer"},
	Cause: "what is thrown for a refusal ends the connection, or the client",
	Fix:   "turn it into an error for that one request, and go on",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := declinedRound(e)
		if missing != nil {
			return *missing
		}
		s := e.Session
		switch {
		case len(r.Answers) == 0 && !e.Revision.Modern() && s.Ended != nil && s.Ended.Deadline:
			return check.NotApplicable("the client neither refused nor answered what the person had declined (see consent/declined)")
		case s.ServedLater(s.Order[r.Asked.Ref]):
			return check.Pass("the client went on")
		case s.Ended != nil && s.Ended.Clean():
			return *check.Unsettled(e, r)
		}
		return check.ShowOutput(s, check.Fail("the client did not go on after the person had declined: %s", s.Ending()).Show(r.Asked, "%s", evidence.Compact(r.Raw)))
	},
}

var burst = check.Check{
	ID: "burst", Rule: "what becomes of 50 requests at once: a client may refuse some, with errors", Levels: check.Everywhere(report.May), Requests: burstSize,
	Cases:      []string{"fifty"},
	Statements: []string{"2025-11-25/sampling/17", "2026-07-28/sampling/24"},
	Cause:      "there is no limit, or what is over the limit is forgotten",
	Fix:        "answer what is over the limit with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		answered, refused, codes := 0, 0, map[int]bool{}
		var lost *evidence.Round
		var madeUp []*evidence.Answer
		for _, r := range e.Rounds {
			switch {
			case r.Result() != nil:
				answered++
				if a := r.Result(); len(r.Model) == 0 && len(e.Session.Unmarked) == 0 && !evidence.Holds(a.Blocks(), fruitSaid) {
					madeUp = append(madeUp, a)
				}
			case len(r.Answers) > 0:
				refused++
				codes[r.Answers[0].Err.Code] = true
			default:
				lost = r
			}
		}
		switch {
		case answered == 0:
			return check.NotApplicable("none of %d requests at once was answered, so that no limit shows", len(e.Rounds))
		case len(madeUp) > 0:
			return check.Warn("of %d requests at once %d were answered without the model, in words that are not its: an error is due", len(e.Rounds), len(madeUp)).
				Show(madeUp[0].Place, "%s", evidence.Compact(madeUp[0].Result))
		case refused > 0 && lost == nil:
			return check.Info("of %d requests at once %d were answered and %d refused, with the codes %v", len(e.Rounds), answered, refused, slices.Sorted(maps.Keys(codes)))
		case lost == nil:
			return check.Info("all %d requests at once were answered", len(e.Rounds))
		}
		return check.Warn("of %d requests at once %d were answered, %d refused, and the others neither: an error is due", len(e.Rounds), answered, refused).Show(lost.Asked, "")
	},
}
