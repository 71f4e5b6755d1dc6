package conformance

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

var declined = Check{
	ID: "declined", Rule: "a request that the person declines is not answered", Levels: everywhere(report.Should), Asked: 1, Cases: []string{"request"},
	Requirements: everyoneMayRefuse,
	Cause:        "nobody is asked, or what the person says is not waited for",
	Fix:          "ask before the model is asked, and where the person declines answer with an error (-1); in 2026-07-28 do not send the call again",
	Judge: func(e *Evidence) Verdict {
		r, missing := declinedRound(e)
		if missing != nil {
			return *missing
		}
		switch a := r.Result(); {
		case a != nil && !isNone(a):
			return Broken("the person declined, and the server was given an answer all the same").See(r.Asked, "").See(a.Place, "%s", compact(a.Result))
		case a != nil && !e.Revision.Modern():
			return Broken("the person declined, and the server was given a result that holds no answer: an error is due").See(r.Asked, "").See(a.Place, "%s", compact(a.Result))
		}
		return e.refused(r, "the client refused what the person had declined")
	},
}

// refused judges that a round was refused: with an error, or in the second era, which has none, with nothing. What it shows is a Pass.
func (ev *Evidence) refused(r *Round, what string) Verdict {
	switch {
	case r.Result() != nil:
		return Pass("%s, with %s in the place of an answer", what, noneText(r.Result())).See(r.Result().Place, "%s", compact(r.Result().Result))
	case len(r.Answers) > 0:
		a := r.Answers[0]
		return Pass("%s, with the code %d", what, a.Err.Code).See(a.Place, "%s", compact(a.RawErr))
	case !ev.Revision.Modern():
		return Broken("the client neither refused nor answered what the person had declined: an error is due").See(r.Asked, "%s", compact(r.Raw))
	}
	if v := ev.unsettled(r); v != nil {
		return *v
	}
	return Pass("%s: its call was not sent again", what).See(r.Asked, "")
}

var declinedCode = Check{
	ID: "declined-code", Rule: "the error for a request that the person declines has the code -1", Levels: refusalCode, Asked: 1, Cases: []string{"request"},
	Requirements: []string{"2025-11-25/sampling/13"},
	Cause:        "every error of the handler gets one code, such as -32603 or 0",
	Fix:          `answer with {"code": -1, "message": "User rejected sampling request"}`,
	Judge: func(e *Evidence) Verdict {
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.Answers) == 0 || r.Answers[0].Err == nil:
			return NotApplicable("the client gave no error when the person had declined (see consent/declined)")
		}
		a := r.Answers[0]
		if a.Err.Code != codeDeclined {
			return Broken("the person declined, and the error has the code %s: want %d", a.code(), codeDeclined).See(a.At("code"), "%s", compact(a.RawErr))
		}
		return Pass("the error has the code %d", codeDeclined).See(a.Place, "%s", compact(a.RawErr))
	},
}

// code is the code of an error as it was written, which may be no number.
func (a *Answer) code() string {
	var told dialect.Object
	_ = json.Unmarshal(a.RawErr, &told) // what cannot be read has none
	return orMissing(told["code"])
}

var declinedNoModelCall = Check{
	ID: "no-model-call", Rule: "what the person declines is not sent to the model", Levels: everywhere(report.Robust), Asked: 1, Cases: []string{"request"},
	Cause: "the model is asked while the person still decides, or before",
	Fix:   "ask the person first",
	Judge: func(e *Evidence) Verdict {
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.Model) > 0:
			return Broken("the model was asked what the person had declined").See(r.Asked, "").See(r.Model[0].Place, "")
		case len(e.Session.Unmarked) > 0:
			return NotObserved("the model was asked something that has the mark of no conversation, so that it may have been this").See(e.Session.Unmarked[0], "")
		}
		if v := e.unsettled(r); v != nil {
			return *v
		}
		return Pass("the model was not asked")
	},
}

var noMadeUpAnswer = Check{
	ID: "no-made-up-answer", Rule: "a refusal is not dressed up as an answer of the model", Levels: everywhere(report.Robust), Asked: 1, Cases: []string{"request"},
	Cause: "the handler has to return something, and returns a message that says that the person declined",
	Fix:   "return an error from the handler; in 2026-07-28 there is nothing to send, and the call is not sent again",
	Judge: func(e *Evidence) Verdict {
		r, missing := declinedRound(e)
		if missing != nil {
			return *missing
		}
		a := r.Result()
		switch {
		case a == nil && len(r.Answers) == 0 && !e.Revision.Modern():
			return NotApplicable("the client neither refused nor answered what the person had declined (see consent/declined)")
		case a == nil:
			return e.refused(r, "no answer was made up")
		case isNone(a) && e.Revision.Modern():
			return Warn("the retry has %s where an answer belongs: an input response is a result, and a refusal has none", noneText(a)).See(a.Place, "%s", compact(a.Result))
		case isNone(a):
			return Warn("the client gave a result that holds no answer, where an error is due").See(a.Place, "%s", compact(a.Result))
		case len(r.Model) > 0:
			return Pass("the answer is the model's").See(r.Model[0].Place, "")
		case len(e.Session.Unmarked) > 0:
			return NotObserved("the model was asked something that has the mark of no conversation, so that the answer may be its").See(e.Session.Unmarked[0], "")
		}
		return Broken("the person declined, nobody asked the model, and the server was given an answer as if it were the model's").See(a.Place, "%s", compact(a.Result))
	},
}

// isNone reports whether nothing of an answer is in the place of one: it has the shape of an error, or of another method's result, or is empty.
func isNone(a *Answer) bool { return a.member("content") == nil && a.member("role") == nil }

// isError reports whether it is an error that stands in the place of an answer.
func isError(a *Answer) bool {
	return isNone(a) && (a.member("error") != nil || a.member("code") != nil)
}

// noneText names what is in the place of an answer and is none.
func noneText(a *Answer) string {
	if isError(a) {
		return "an error"
	}
	return "what is no answer"
}

var declinedMRTR = Check{
	ID: "declined-mrtr", Rule: "a call is not sent again without the input that it was asked for", Levels: inModern(report.Must), Asked: 1, Cases: []string{"request", "fifty"},
	Requirements: []string{"2026-07-28/mrtr/22"},
	Cause:        "the input requests that were refused are left out, and the call is sent again with the rest",
	Fix:          "send a call again only with an answer under every key that it was asked for; else end it, and tell the person or the model",
	Judge: func(e *Evidence) Verdict {
		if v := e.sentWithout("the call was sent again without what it was asked for"); v != nil {
			return *v
		}
		if e.Case.ID == "consent/fifty" {
			if len(e.Rounds[0].Answers) == 0 {
				return NotApplicable("the call was not sent again")
			}
			return Pass("the retry has all that it was asked for").See(e.Rounds[0].Answers[0].Place, "")
		}
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.Answers) > 0:
			return Pass("the retry has what it was asked for").See(r.Answers[0].Place, "")
		}
		return e.refused(r, "the person declined")
	},
}

var declinedAfter = Check{
	ID: "declined-after", Rule: "an answer that the person refuses does not reach the server", Levels: everywhere(report.Should), Asked: 1, Cases: []string{"answer"},
	Requirements: everyoneMayReview,
	Cause:        "the answer is on its way before the person has seen it, or stands in the error",
	Fix:          "show the answer first, and where it is refused send an error that says nothing of it; in 2026-07-28 do not send the call again",
	Judge: func(e *Evidence) Verdict {
		r, missing := declinedRound(e)
		switch {
		case missing != nil:
			return *missing
		case len(r.completed()) == 0 && len(e.Session.Unmarked) == 0:
			return Unsupported("the model gave no answer that the person could have refused: it takes a client that asks the model first, and then the person").See(r.Asked, "")
		}
		for _, sent := range e.Session.sends(func(string) bool { return true }) {
			if hit, where, text := sent.find(keptBack); text != "" {
				return Broken("the person refused the model's answer, and the server was told %s all the same%s", hit.Name, inForm(hit)).
					Saw("model was asked", r.Asked, "and said %q", refusedAnswer).See(where, "%s", text)
			}
		}
		switch a := r.Result(); {
		case a != nil && !isNone(a):
			return Broken("the person refused the model's answer, and the server was given another").See(a.Place, "%s", compact(a.Result))
		case a != nil && !e.Revision.Modern():
			return Broken("the person refused the model's answer, and the server was given a result that holds none: an error is due").See(a.Place, "%s", compact(a.Result))
		}
		return e.refused(r, "the answer that the person refused was kept from the server")
	},
}

// keptBack finds the answer that the person refused, or what is left of it where an error was made short.
var keptBack = leak.New(leak.Secret{Name: "it", Value: refusedAnswer}, leak.Secret{Name: "how it begins", Value: refusedAnswer[:len("It is the Nile")]},
	leak.Secret{Name: "how it ends", Value: refusedAnswer[len("It is the Nile, "):]})

var declinedAlive = Check{
	ID: "alive", Rule: "the session goes on after the person has declined", Levels: everywhere(report.Robust), Asked: 1, Cases: []string{"request", "answer"},
	Cause: "what is thrown for a refusal ends the connection, or the client",
	Fix:   "turn it into an error for that one request, and go on",
	Judge: func(e *Evidence) Verdict {
		r, missing := declinedRound(e)
		if missing != nil {
			return *missing
		}
		s := e.Session
		switch {
		case len(r.Answers) == 0 && !e.Revision.Modern() && s.Ended != nil && s.Ended.Deadline:
			return NotApplicable("the client neither refused nor answered what the person had declined (see consent/declined)")
		case s.later(s.order[r.Asked.Ref]):
			return Pass("the client went on")
		case s.Ended != nil && s.Ended.Clean():
			return *e.unsettled(r)
		}
		return s.seeOutput(Broken("the client did not go on after the person had declined: %s", s.ending()).See(r.Asked, "%s", compact(r.Raw)))
	},
}

var burst = Check{
	ID: "burst", Rule: "what becomes of 50 requests at once: a client may refuse some, with errors", Levels: everywhere(report.May), Asked: burstSize,
	Cases:        []string{"fifty"},
	Requirements: []string{"2025-11-25/sampling/17", "2026-07-28/sampling/24"},
	Cause:        "there is no limit, or what is over the limit is forgotten",
	Fix:          "answer what is over the limit with an error",
	Judge: func(e *Evidence) Verdict {
		answered, refused, codes := 0, 0, map[int]bool{}
		var lost *Round
		var madeUp []*Answer
		for _, r := range e.Rounds {
			switch {
			case r.Result() != nil:
				answered++
				if a := r.Result(); len(r.Model) == 0 && len(e.Session.Unmarked) == 0 && !holds(a.blocks(), fruitSaid) {
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
			return NotApplicable("none of %d requests at once was answered, so that no limit shows", len(e.Rounds))
		case len(madeUp) > 0:
			return Warn("of %d requests at once %d were answered without the model, in words that are not its: an error is due", len(e.Rounds), len(madeUp)).
				See(madeUp[0].Place, "%s", compact(madeUp[0].Result))
		case refused > 0 && lost == nil:
			return Info("of %d requests at once %d were answered and %d refused, with the codes %v", len(e.Rounds), answered, refused, slices.Sorted(maps.Keys(codes)))
		case lost == nil:
			return Info("all %d requests at once were answered", len(e.Rounds))
		}
		return Warn("of %d requests at once %d were answered, %d refused, and the others neither: an error is due", len(e.Rounds), answered, refused).See(lost.Asked, "")
	},
}
