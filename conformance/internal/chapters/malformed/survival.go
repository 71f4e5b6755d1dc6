package malformed

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// wrongRequest is the round of the wrong request: the second of its case.
func wrongRequest(e *evidence.Case) *evidence.Round { return e.Rounds[1] }

// expected returns what is wrong with the request of a case. Of one from another seed or a file, the schema tells.
func expected(e *evidence.Case) check.Refusal {
	if f, ok := e.Expect.(check.Refusal); ok {
		return f
	}
	f := check.Refusal{What: "an unusual request that the schema allows", Index: 1}
	var wrong *schema.Error
	raw := wrongRequest(e).Raw
	invalid := errors.As(schema.Validate(string(e.Revision), schema.CreateMessageRequestParams, raw), &wrong)
	if invalid {
		f.What, f.Path = "a request in which "+cmp.Or(wrong.Path, "params")+" is wrong ("+wrong.Message+")", wrong.Path
	}
	if generated, ok := e.Expect.(frameOf); ok {
		_, name, _ := strings.Cut(e.Case.ID, "/")
		if frame := generated(e.Revision); bytes.Equal(Addressed(frame.Params, name), raw) {
			f.What = "a request in which " + frame.Broken
			f.Path, _, _ = strings.Cut(frame.Broken, " ")
			if !invalid {
				f.What += ", which the schema allows"
			}
		}
	}
	return f
}

// Request names the wrong request in a message, and show adds its wrong part.
func Request(e *evidence.Case) string { return expected(e).What }
func show(v check.Verdict, e *evidence.Case) check.Verdict {
	return expected(e).Show(v, wrongRequest(e))
}

// continued reports whether the client responded to a later request of another case. Responses to its own case do not
// count: the client may have sent them in parallel while it hung.
func continued(e *evidence.Case) bool {
	s, r := e.Session, wrongRequest(e)
	for _, c := range s.Trace.Header.Cases {
		for _, other := range s.Calls[c.ID] {
			if c.ID != e.Case.ID && slices.ContainsFunc(other.Rounds, func(later *evidence.Round) bool {
				return len(later.Answers) > 0 && s.Order[later.Asked.Ref] > s.Order[r.Asked.Ref]
			}) {
				return true
			}
		}
	}
	return false
}

// perished returns the verdict of other checks for a client that did not survive the request; nil for one that did.
func perished(e *evidence.Case) *check.Verdict {
	s := e.Session
	if s.Ended == nil || s.Ended.Clean() || continued(e) {
		return nil
	}
	return check.Instead(check.NotObserved("the client died of the request %s: %s", evidence.See("malformed/survives"),
		s.Ending()))
}

// ifAlive returns a judge of clients that responded to the request, or survived it.
func ifAlive(judge func(*evidence.Case) check.Verdict) func(*evidence.Case) check.Verdict {
	return func(e *evidence.Case) check.Verdict {
		if v := perished(e); v != nil && len(wrongRequest(e).Answers) == 0 {
			return *v
		}
		return judge(e)
	}
}

var survives = check.Check{
	ID:     "survives",
	Rule:   "A malformed request neither crashes nor hangs the client",
	Levels: check.Robust, Results: 1, Requests: 2,
	Cause: "a member is used before it is validated: a null object, a missing array, nesting without a limit",
	Fix:   "Validate the params before you use them. Turn every exception into an error for that one request.",
	Judge: func(e *evidence.Case) check.Verdict {
		s := e.Session
		switch {
		case continued(e):
			return check.Pass("the client continued after %s", Request(e))
		case s.Ended == nil:
			return check.NotObserved("the trace does not say how the client ended")
		case s.Ended.Clean():
			return check.Pass("the client ended cleanly after %s", Request(e))
		}
		message := "expected the client to survive %s: %s"
		if s.Ended.Deadline {
			message = "expected the client to continue or end after %s, found that it hung: %s"
		}
		return show(check.Fail(message, Request(e), s.Ending()), e).ShowOutput(s)
	},
}

var answered = check.Check{
	ID:     "answered",
	Rule:   "A malformed request gets a response: an error or a result",
	Levels: check.InLegacy(report.Robust), Results: 1, Requests: 2,
	Cause: "a parser drops the request, or nobody catches the handler's exception; the server waits for ever",
	Fix:   "Respond to every request that has an id, with an error if you cannot read it.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := wrongRequest(e)
		if len(r.Answers) > 0 {
			return check.Pass("the request got a response").At(r.Answers[0].Place)
		}
		if v := perished(e); v != nil {
			return *v
		}
		if why := e.Session.Unsettled(r.Asked); why != "" {
			return check.NotObserved("no response came, but one could still have come: %s", why).At(r.Asked)
		}
		return show(check.Missing("expected a response to %s, found none; later requests got one", Request(e)), e)
	},
}

var alive = check.Check{
	ID:     "alive",
	Rule:   "The client samples as before after a malformed request",
	Levels: check.Robust, Results: 1, Requests: 2,
	Cause: "an exception ends the connection, or leaves it in a state without responses",
	Fix:   "Turn the exception into an error for that one request, and continue.",
	Judge: func(e *evidence.Case) check.Verdict {
		later := validAfter(e.Session, wrongRequest(e))
		for _, r := range later {
			if a := r.Result(); a != nil {
				return check.Pass("a later plain question got a result").At(a.Place)
			}
		}
		if v := perished(e); v != nil {
			return *v
		}
		if len(later) == 0 {
			return check.Unsupported("no request followed: the client must call the tools in the order of tools/list")
		}
		last := later[len(later)-1]
		v := show(check.Fail("expected a result for the plain question after %s, found none", Request(e)), e)
		if len(last.Answers) > 0 {
			return v.ShowJSON(last.Answers[0].Place, last.Answers[0].RawErr)
		}
		return v.ShowJSON(last.Asked, last.Raw)
	},
}

// validAfter returns the valid requests after a round, in order.
func validAfter(s *evidence.Session, r *evidence.Round) []*evidence.Round {
	order := func(r *evidence.Round) int { return s.Order[r.Asked.Ref] }
	var found []*evidence.Round
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			for _, other := range ev.Rounds {
				if !other.Hostile && order(other) > order(r) {
					found = append(found, other)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b *evidence.Round) int { return order(a) - order(b) })
	return found
}
