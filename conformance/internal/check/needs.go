package check

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Need is a precondition of a check. It returns nil if the case fulfils it, and otherwise the verdict that takes the
// place of Judge's.
type Need func(*evidence.Case) *Verdict

// ModelReadsRequest needs a request to the model for the nth sampling request (from 1) that could be decoded. Judge
// finds it with [evidence.Round.LastExchange].
func ModelReadsRequest(n int) Need {
	return func(e *evidence.Case) *Verdict {
		if len(e.Rounds) < n {
			return Instead(NotSent(e, n))
		}
		_, v := ModelRequest(e.Rounds[n-1])
		return v
	}
}

// AsksModel needs a client that asks the model in some case. One that never does has no model, or another one.
func AsksModel(e *evidence.Case) *Verdict {
	return Unless(len(e.Session.Exchanges) > 0, Unsupported("the client never asks the model: use the endpoints of "+
		"MCP_CONFORMANCE_CONTEXT (Env.Model), if the client has a model"))
}

// ReadableContent needs a result for the nth sampling request (from 1) whose content could be decoded.
func ReadableContent(n int) Need {
	return func(e *evidence.Case) *Verdict {
		_, v := ReadableResult(e, e.Rounds[n-1])
		return v
	}
}

// Unless returns nil if a precondition holds, and otherwise the verdict.
func Unless(holds bool, v Verdict) *Verdict {
	if holds {
		return nil
	}
	return &v
}

// Expected returns the Expect of the case. It panics if the case has an expectation of another type: a mistake of the
// catalogue.
func Expected[T any](e *evidence.Case) T { return e.Expect.(T) }

// verdict judges one case.
func (c *Check) verdict(ev *evidence.Case) Verdict {
	v := c.inTime(ev)
	noResult := func(r *evidence.Round) bool { return r.Result() == nil }
	if v.Details().unasked && ev.Session.AnswersItself && !slices.ContainsFunc(ev.Rounds, noResult) {
		return NotApplicable("the client answers by itself and never asks the model")
	}
	return v
}

// inTime judges a case that the harness did not end early.
func (c *Check) inTime(ev *evidence.Case) Verdict {
	if v := c.unjudged(ev); v != nil {
		return *v
	}
	v := c.judged(ev)
	s, open := ev.Session, v.Kind == Failed || v.Kind == report.NotObserved
	if !open || !s.EndedEarly() || s.CalledAfter(ev.OverAt) && c.judged(ev.EndedInTime()).Kind == v.Kind {
		return v
	}
	return *tooEarly(ev) // The reason may be how the client ended, or what it did not get to.
}

// judged judges a case with enough evidence. Judge finds only evidence that it can read.
func (c *Check) judged(ev *evidence.Case) Verdict {
	if v := unmet(c.Needs, ev); v != nil {
		return *v
	}
	return c.Judge(ev)
}

// seeEnd refers to the check that says how much time the client needs.
var seeEnd = evidence.See("client/ends-cleanly")

// tooEarly returns the verdict for a case that the harness ended although the client did not hang; nil for any other.
func tooEarly(ev *evidence.Case) *Verdict {
	switch s := ev.Session; {
	case s.Interrupted():
		return Instead(NotObserved("the run was interrupted before the case was over"))
	case s.Unfinished():
		return Instead(Unsupported("the client's time was up before the case was over %s", seeEnd))
	}
	return nil
}

// unjudged returns the verdict for a case without enough evidence; nil if there is enough.
func (c *Check) unjudged(ev *evidence.Case) *Verdict {
	s := ev.Session
	switch {
	case len(ev.HarnessErrors) > 0:
		return Instead(NewVerdict(report.HarnessError, "the harness broke the protocol: %s",
			[]any{strings.Join(ev.HarnessErrors, "; ")}))
	case s.SpokeOtherRevision():
		return Instead(NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried))
	case ev.Omitted == trace.MarkInapplicable:
		return Instead(NotApplicable("the case was not played: %s", ev.NotPlayed))
	case ev.Omitted != "":
		return Instead(Unsupported("the case was not played: %s", ev.NotPlayed))
	case ev.OutOfTime:
		return Instead(Unsupported("the case was not played: %s %s", ev.NotPlayed, seeEnd))
	case ev.NotPlayed != "":
		return Instead(NotObserved("the case was not played %s: %s", seeEnd, ev.NotPlayed))
	case c.Whole && s.Trace.Whole && !s.EndedEarly():
		return nil
	case s.EndedEarly() && !ev.Over:
		return tooEarly(ev)
	case !s.Connected:
		return Instead(NeverUsed(s))
	case !s.Trace.Whole:
		return Instead(NotObserved("the trace is incomplete: %d events were over the recorder's limit", s.Trace.Dropped))
	}
	return unmet(slices.Concat([]Need{notCalled, Limited}, c.First, []Need{c.tooFew}), ev)
}

// unmet returns the verdict of the first need that the case does not meet; nil if it meets all.
func unmet(needs []Need, ev *evidence.Case) *Verdict {
	for _, need := range needs {
		if v := need(ev); v != nil {
			return v
		}
	}
	return nil
}

// NeverUsed is the verdict for a session in which the client did not use the server.
func NeverUsed(s *evidence.Session) Verdict {
	return NotObserved("the client never used the server %s%s", evidence.See("client/connects"), s.WhyUnused())
}

// notCalled returns the verdict for a client that did not make the call, or that the server did not ask; nil for any
// other.
func notCalled(ev *evidence.Case) *Verdict {
	switch {
	case !ev.Called && ev.Case.Carrier != "" && ev.Died().Text == "":
		return Instead(Unsupported("the client never sent %s: make it use the prompts and resources of "+
			"MCP_CONFORMANCE_CONTEXT (Env.Prompts, Env.Resources), or declare that it has none (--has tools-only)",
			ev.Case.Carrier))
	case !ev.Called:
		return Instead(NotObserved("the client never called the tool %s%s%s", ev.Case.Tool, ev.Session.WhyUnused(),
			ev.Died()))
	case ev.Session.DeclaredInRun[ev.Withheld]:
		return Instead(NotObserved("the client does not declare %s here, but declares it elsewhere in the run %s",
			ev.Withheld, evidence.See("always/capabilities-constant")))
	case ev.Withheld != "":
		return Instead(NotApplicable("the client does not declare %s, so the server must not ask for it", ev.Withheld))
	case len(ev.Rounds) == 0 && !ev.AskedForInput() && ev.TurnedDown != "":
		refusal := ev.Session.Trace.Find(ev.TurnedDownAt.Ref)
		return Instead(NotObserved("the server refused the call with %s", ev.Session.Refusal(refusal)).
			ShowJSON(ev.TurnedDownAt, refusal.Frame.Raw))
	case ev.OnlyTakesTasks() && !ev.AsksForTask():
		return Instead(NotApplicable("the client accepts sampling requests only as tasks, as it may"))
	}
	return nil
}

func offersTools(r *evidence.Round) bool { return r.Params != nil && len(r.Params.Tools) > 0 }

// tooFew returns the verdict for a case with fewer requests or results than the check needs; nil for any other.
func (c *Check) tooFew(ev *evidence.Case) *Verdict {
	results := 0
	for results < len(ev.Rounds) && ev.Rounds[results].Result() != nil {
		results++
	}
	switch sent := len(ev.Rounds); {
	case sent > 0 && sent == results && sent < max(c.Requests, c.Results) && offersTools(ev.Rounds[sent-1]) &&
		AsksModel(ev) != nil: // a client that answers by itself uses no tool, so that the server does not go on
		return AsksModel(ev)
	case sent < max(c.Requests, c.Results):
		return Instead(NotSent(ev, sent+1))
	case results < c.Results:
		return Instead(NotObserved("no result for sampling request %d%s", results+1, ev.WhyNoResult(results+1)))
	}
	return nil
}
