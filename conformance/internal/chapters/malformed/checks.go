package malformed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// validatesContent are the sentences on which it rests that a client refuses what is not well-formed.
var validatesContent = []string{"2025-03-26/sampling/validates", "2025-06-18/sampling/validates", "2025-11-25/sampling/15", "2026-07-28/sampling/22", "2026-07-28/sampling/13"}

var survives = check.Check{
	ID: "survives", Rule: "a request that is not well-formed neither crashes nor hangs the client", Levels: check.Everywhere(report.Robust), Results: 1, Requests: 2,
	Cause: "a member is used before it is looked at: a null where an object should be, a missing array, nesting that is followed without end",
	Fix:   "check the params before they are used, and turn whatever is thrown into an error for that one request",
	Judge: func(e *evidence.Case) check.Verdict {
		r, s := requestOf(e), e.Session
		switch {
		case wentOn(e, r):
			return check.Pass("the client went on after a request in which %s", wrongIn(e.Case.ID))
		case s.Ended == nil:
			return check.NotObserved("the trace does not say how the client ended")
		case s.Ended.Clean():
			return check.Pass("the client came to its end in order after a request in which %s", wrongIn(e.Case.ID))
		case s.Ended.Deadline:
			return check.ShowOutput(s, wrong(e, check.Fail("the client hung after a request in which %s: %s", wrongIn(e.Case.ID), s.Ending())))
		}
		return check.ShowOutput(s, wrong(e, check.Fail("the client did not survive a request in which %s: %s", wrongIn(e.Case.ID), s.Ending())))
	},
}

// malformed is the round of the request that is not well-formed: the second of its case.
func requestOf(ev *evidence.Case) *evidence.Round { return ev.Rounds[1] }

// wentOn reports whether the client answered a sample of another case, that was asked after a round: with those of its own case it may have been
// at work on the side while it hung.
func wentOn(ev *evidence.Case, r *evidence.Round) bool {
	s := ev.Session
	for _, c := range s.Trace.Header.Cases {
		if c.ID == ev.Case.ID {
			continue
		}
		for _, other := range s.Calls[c.ID] {
			if slices.ContainsFunc(other.Rounds, func(later *evidence.Round) bool {
				return len(later.Answers) > 0 && s.Order[later.Asked.Ref] > s.Order[r.Asked.Ref]
			}) {
				return true
			}
		}
	}
	return false
}

// wrong shows where the request is wrong.
func wrong(ev *evidence.Case, v check.Verdict) check.Verdict {
	r, at := requestOf(ev), ""
	if m := malformationOf(ev.Case.ID); m != nil {
		at = m.at
	}
	return v.ShowAs("server sent", r.Asked.At(at), "%s", evidence.Compact(r.Raw))
}

// unrefused returns the verdict on a request to which nothing came, where that is no refusal, or not known to be one; nil where the client did not
// fulfil it, which is how it refuses in the second era.
func unrefused(ev *evidence.Case) *check.Verdict {
	if v := perished(ev); v != nil {
		return v
	}
	r := requestOf(ev)
	if !ev.Revision.Modern() {
		v := check.NotObserved("the request was not answered (see malformed/answered)").Show(r.Asked, "")
		return &v
	}
	return check.Unsettled(ev, r)
}

// perished returns the verdict of other checks where the client did not survive; nil where it did.
func perished(ev *evidence.Case) *check.Verdict {
	s := ev.Session
	if s.Ended != nil && !s.Ended.Clean() && !wentOn(ev, requestOf(ev)) {
		v := check.NotObserved("the client did not survive the request (see malformed/survives): %s", s.Ending())
		return &v
	}
	return nil
}

var malformedAnswered = check.Check{
	ID: "answered", Rule: "a request that is not well-formed is answered, with an error or a result", Levels: check.InLegacy(report.Robust), Results: 1, Requests: 2,
	Cause: "the request fails in a parser that drops it, or in a handler whose exception nobody catches, and the server waits for ever",
	Fix:   "answer every request that has an id, with an error where it cannot be read",
	Judge: func(e *evidence.Case) check.Verdict {
		r := requestOf(e)
		if len(r.Answers) > 0 {
			return check.Pass("the request was answered").Show(r.Answers[0].Place, "")
		}
		if v := perished(e); v != nil {
			return *v
		}
		if why := e.Session.Unsettled(r.Asked); why != "" {
			return check.NotObserved("no response came, but one could still have come: %s", why).Show(r.Asked, "")
		}
		return wrong(e, check.Fail("a request in which %s was never answered, though later ones were: the server waits for ever", wrongIn(e.Case.ID)))
	},
}

var malformedAlive = check.Check{
	ID: "alive", Rule: "the client samples as before after a request that is not well-formed", Levels: check.Everywhere(report.Robust), Results: 1, Requests: 2,
	Cause: "what the client throws ends its connection, or leaves it in a state in which it answers no more",
	Fix:   "turn it into an error for that one request, and go on",
	Judge: func(e *evidence.Case) check.Verdict {
		r, s := requestOf(e), e.Session
		if a := plainAnswer(s, r); a != nil {
			return check.Pass("a plain question that was asked later was answered").Show(a.Place, "")
		}
		if v := perished(e); v != nil {
			return *v
		}
		if last := plainly(s, r); last != nil {
			v := wrong(e, check.Fail("the client answered a plain question before a request in which %s, and none after it", wrongIn(e.Case.ID)))
			if len(last.Answers) > 0 {
				return v.Show(last.Answers[0].Place, "%s", evidence.Compact(last.Answers[0].RawErr))
			}
			return v.Show(last.Asked, "%s", evidence.Compact(last.Raw))
		}
		return check.Unsupported("nothing was asked of the client after the request: it takes one that calls the tools in the order in which they are listed")
	},
}

// plainAnswer is a result that came for a plain question which was asked after a round; nil for none.
func plainAnswer(s *evidence.Session, r *evidence.Round) *evidence.Answer {
	for _, later := range plain(s, r) {
		if a := later.Result(); a != nil {
			return a
		}
	}
	return nil
}

// plainly is the last plain question that was asked after a round; nil for none.
func plainly(s *evidence.Session, r *evidence.Round) *evidence.Round {
	if all := plain(s, r); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// plain are the requests after a round that are nothing but right, in order.
func plain(s *evidence.Session, r *evidence.Round) []*evidence.Round {
	var found []*evidence.Round
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			for _, other := range ev.Rounds {
				if !other.Hostile && s.Order[other.Asked.Ref] > s.Order[r.Asked.Ref] {
					found = append(found, other)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b *evidence.Round) int { return s.Order[a.Asked.Ref] - s.Order[b.Asked.Ref] })
	return found
}

var errorDue = check.Check{
	ID: "error-due", Rule: "a request that lacks what it needs, or holds what nobody can read, is refused", Levels: check.Everywhere(report.Should), Results: 1, Requests: 2,
	Cases: sorted(due), Statements: validatesContent,
	Cause: "the params are handed on as they came, or what is missing is made up: a limit, a role, an empty message",
	Fix:   "hold the params against the schema before the model is asked, and answer with -32602; in 2026-07-28 do not fulfil the input request",
	Judge: judgeRefused,
}

var wrongTypes = check.Check{
	ID: "wrong-types", Rule: "a required field of a wrong type is refused", Levels: check.Everywhere(report.Should), Results: 1, Requests: 2,
	Cases: sorted(wrongType), Statements: validatesContent,
	Cause: "the value is coerced, or handed on as it came",
	Fix:   "hold the params against the schema before the model is asked, and answer with -32602; in 2026-07-28 do not fulfil the input request",
	Judge: judgeRefused,
}

// judgeRefused judges whether the malformed request was refused.
func judgeRefused(e *evidence.Case) check.Verdict {
	r := requestOf(e)
	says := wrongIn(e.Case.ID)
	if a := r.Result(); a != nil {
		if e.Revision.Modern() && a.Member("content") == nil {
			return wrong(e, check.Fail("a request in which %s was answered with something that is no result: in this revision what is refused is not fulfilled", says)).
				Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		return wrong(e, check.Fail("a request in which %s was answered as if nothing were wrong with it", says)).Show(a.Place, "%s", evidence.Compact(a.Result))
	}
	if len(r.Answers) > 0 {
		a := r.Answers[0]
		return check.Pass("a request in which %s was refused with the code %d", says, a.Err.Code).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	}
	if v := unrefused(e); v != nil {
		return *v
	}
	return check.Pass("a request in which %s was not fulfilled", says).Show(r.Asked, "")
}

var malformedCode = check.Check{
	ID: "error-code", Rule: "the error for a request that is not well-formed says that it is not", Levels: check.InLegacy(report.Advice), Results: 1, Requests: 2,
	Cases: sorted(due, wrongType),
	Cause: "every failure has one code, such as -32603, or the request fails on its way to the model",
	Fix:   "answer with -32602 (invalid params), or -32600 (invalid request)",
	Judge: func(e *evidence.Case) check.Verdict {
		r := requestOf(e)
		if v := perished(e); v != nil && len(r.Answers) == 0 {
			return *v
		}
		if len(r.Answers) == 0 || r.Answers[0].Err == nil {
			return check.NotApplicable("the client did not refuse the request (see malformed/error-due, malformed/wrong-types)")
		}
		a := r.Answers[0]
		if a.Err.Code == evidence.CodeInvalidParams || a.Err.Code == evidence.CodeInvalidRequest {
			return check.Pass("a request in which %s was refused with the code %d", wrongIn(e.Case.ID), a.Err.Code).Show(a.At("code"), "%d", a.Err.Code)
		}
		return wrong(e, check.Fail("a request in which %s was refused with the code %d, where -32602 or -32600 says whose fault it is", wrongIn(e.Case.ID), a.Err.Code)).
			Show(a.Place, "%s", evidence.Compact(a.RawErr))
	},
}

var malformedNoModelCall = check.Check{
	ID: "no-model-call", Rule: "a request that cannot be right costs no model call", Levels: check.Everywhere(report.Advice), Results: 1, Requests: 2,
	Cases: sorted(due, wrongType),
	Cause: "the model is asked first, and the request is looked at when its answer is there, or never",
	Fix:   "hold the params against the schema before the model is asked",
	Judge: func(e *evidence.Case) check.Verdict {
		r, s := requestOf(e), e.Session
		if completed := r.CompletedCalls(); len(completed) > 0 {
			v := wrong(e, check.Fail("the model was asked, and paid, for a request in which %s", wrongIn(e.Case.ID)))
			if body := completed[0].Request; body != nil {
				return v.Show(completed[0].Place, "%s", evidence.Compact(body.Body))
			}
			return v.Show(completed[0].Place, "")
		}
		if v := perished(e); v != nil {
			return *v
		}
		for _, stray := range s.Unmarked {
			if s.Order[stray.Ref] > s.Order[r.Asked.Ref] {
				return check.NotObserved("the model received a request without the mark of any case, which may be for this one").Show(stray, "")
			}
		}
		if why := s.Unsettled(r.Asked); why != "" {
			return check.NotObserved("that the model was not asked cannot be said: %s", why).Show(r.Asked, "")
		}
		if len(r.Model) > 0 {
			return check.Pass("the model refused what it was asked").Show(r.Model[0].Place, "")
		}
		return check.Pass("no call of the model was completed")
	},
}

var badSchema = check.Check{
	ID: "bad-schema", Rule: "a tool whose input schema is none is refused", Levels: check.SinceTools(report.Advice), Results: 1, Requests: 2, Cases: []string{badSchemaCase},
	Cause: "schemas are handed on to the model unread, or tools that cannot be read are dropped",
	Fix:   "compile the input schemas of the tools, and answer with -32602 where one is no schema",
	Judge: judgeRefused,
}

var tolerated = check.Check{
	ID: "tolerated", Rule: "what becomes of requests that make no sense and are valid by the schema, and of fields that need not be heeded",
	Levels: check.Everywhere(report.May), Results: 1, Requests: 2, Cases: slices.DeleteFunc(sorted(ignorable, valid), func(name string) bool { return name == badSchemaCase }),
	Cause: "there is nothing to break: answering, clamping and refusing are all right",
	Fix:   "nothing",
	Judge: func(e *evidence.Case) check.Verdict {
		r := requestOf(e)
		_, name, _ := strings.Cut(e.Case.ID, "/")
		if a := r.Result(); a != nil {
			how := "answered"
			if m := r.LastExchange(); m != nil && m.Request != nil && m.Request.MaxTokens != nil && aboutMaxTokens(e) {
				how += fmt.Sprintf(", with a limit of %d tokens", *m.Request.MaxTokens)
			}
			return check.Info("%s: %s", name, how).Show(a.Place, "")
		}
		if len(r.Answers) > 0 {
			return check.Info("%s: refused", name).Show(r.Answers[0].Place, "")
		}
		if v := unrefused(e); v != nil {
			return *v
		}
		return check.Info("%s: not fulfilled", name).Show(r.Asked, "")
	},
}

// aboutMaxTokens reports whether the case is about the limit.
func aboutMaxTokens(ev *evidence.Case) bool {
	m := malformationOf(ev.Case.ID)
	return m != nil && m.at == "maxTokens"
}
