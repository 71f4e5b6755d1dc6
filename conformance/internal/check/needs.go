package check

import (
	"cmp"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Need is a precondition of a check. It returns nil if the case fulfils it, and otherwise the verdict that takes the
// place of Judge's.
type Need func(*evidence.Case) *Verdict

// ModelReadsRequest needs a request to the model for the nth sampling request (from 1) that could be decoded. Judge
// finds it with [evidence.Round.LastExchange].
func ModelReadsRequest(n int) Need {
	return func(e *evidence.Case) *Verdict {
		if len(e.Rounds) < n {
			return Instead(NotObserved("the server did not send sampling request %d%s", n, e.WhyNoResult(n-1)))
		}
		_, v := ModelRequest(e.Rounds[n-1])
		return v
	}
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

// verdict judges one case, once all preconditions hold. Judge therefore finds only evidence that it can read.
func (c *Check) verdict(ev *evidence.Case) Verdict {
	if v := c.unjudged(ev); v != nil {
		return *v
	}
	for _, need := range c.Needs {
		if v := need(ev); v != nil {
			return *v
		}
	}
	return c.Judge(ev)
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
	case ev.NotPlayed != "":
		return Instead(NotObserved("the case was not played: %s", ev.NotPlayed))
	case c.Whole && s.Trace.Whole && !s.Interrupted():
		return nil
	case s.Interrupted() && !ev.Over:
		return Instead(NotObserved("the run was interrupted before the case was over"))
	case !s.Connected:
		return Instead(NotObserved("the client never used the server (see client/connects)"))
	case !s.Trace.Whole:
		return Instead(NotObserved("the trace is incomplete: %d events were over the recorder's limit", s.Trace.Dropped))
	}
	if v := notCalled(ev); v != nil {
		return v
	}
	return c.tooFew(ev)
}

// notCalled returns the verdict for a client that did not make the call, or that the server did not ask; nil for any
// other.
func notCalled(ev *evidence.Case) *Verdict {
	switch {
	case !ev.Called && ev.Case.Carrier != "" && ev.Died() == "":
		return Instead(Unsupported("the client never sent %s: make it use the prompts and resources of "+
			"MCP_CONFORMANCE_CONTEXT (Env.Prompts, Env.Resources)", ev.Case.Carrier))
	case !ev.Called:
		return Instead(NotObserved("the client never called the tool %s%s", ev.Case.Tool, ev.Died()))
	case ev.Withheld != "":
		return Instead(NotApplicable("the client does not declare %s, so the server must not ask for it", ev.Withheld))
	case len(ev.Rounds) == 0 && !ev.AskedForInput() && ev.TurnedDown != "":
		refusal := ev.Session.Trace.Find(ev.TurnedDownAt.Ref).Frame.Raw
		return Instead(NotObserved("the server refused the call with %s", ev.TurnedDown).
			ShowJSON(ev.TurnedDownAt, refusal))
	case ev.OnlyTakesTasks() && !ev.AsksForTask():
		return Instead(NotApplicable("the client accepts sampling requests only as tasks, as it may"))
	}
	return nil
}

// tooFew returns the verdict for a case with fewer requests or results than the check needs; nil for any other.
func (c *Check) tooFew(ev *evidence.Case) *Verdict {
	results := 0
	for results < len(ev.Rounds) && ev.Rounds[results].Result() != nil {
		results++
	}
	switch sent := len(ev.Rounds); {
	case sent < max(c.Requests, c.Results):
		return Instead(NotObserved("the server did not send sampling request %d%s", sent+1, cmp.Or(ev.WhyNoResult(sent),
			ev.Died())))
	case results < c.Results:
		return Instead(NotObserved("no result for sampling request %d%s", results+1, ev.WhyNoResult(results+1)))
	}
	return nil
}
