package check

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
)

// LimitOption is how a user declares the client's own time limit.
const LimitOption = "--client-timeout, conformance.ClientTimeout"

// Abandoned returns the event that shows that the client abandoned its call, as the harness asked, or the verdict for
// a client that did not. In 2026-07-28 the MCP wire does not show it for a call that came back for input. The model's
// wire does: the client hung up there and sent no answer.
func Abandoned(ev *evidence.Case) (evidence.Place, *Verdict) {
	if places, _ := ev.CallCancels(); len(places) > 0 {
		return places[0], nil
	}
	if shown := ev.Reported(harness.Abandoned); shown != nil {
		return *shown, nil
	}
	if p := ev.Session.Ended; p != nil && p.Clean() { // a client that died hung up on everybody
		if shown := ev.StreamClosed(); shown != nil {
			return *shown, nil
		}
	}
	if x := hungUpOnModel(ev); x != nil {
		return x.Place, nil
	}
	return evidence.Place{}, Instead(Unsupported("the client did not abandon its call: its driver must follow giveUp of " +
		"MCP_CONFORMANCE_CONTEXT (Env.Abandon): call the tool with a progress token, and cancel the call at the first " +
		"progress notification or when the model begins to answer; if it never abandons a call, declare that (--has " +
		"never-abandons)").At(evidence.Place{Ref: ev.FirstCall, Label: "the call"}))
}

// hungUpOnModel returns a request to the model, of a round without an answer, on which the client hung up before its
// own limit.
func hungUpOnModel(ev *evidence.Case) *evidence.Exchange {
	if !ev.Revision.Modern() {
		return nil
	}
	for _, r := range ev.Rounds {
		for _, x := range r.Model {
			if x.End.HungUp && len(r.Answers) == 0 && ByItsLimit(ev, r, x) == nil {
				return x
			}
		}
	}
	return nil
}

// ByItsLimit returns the verdict for a client that hung up on the model after its own limit had passed: the limit
// explains it as well as a cancel does. It returns nil for a client that hung up earlier, or not at all.
func ByItsLimit(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) *Verdict {
	header := ev.Session.Trace.Header
	if !header.TimeoutDeclared || !x.End.HungUp || ev.ModelEndTime(x)-ev.TimeOf(r.Asked.Ref) < header.ClientTimeout {
		return nil
	}
	return Instead(Unsupported("the client hung up on the model after its own limit of %s: declare one "+
		"of 10 seconds or more (%s)",
		header.ClientTimeout, LimitOption).At(r.Asked, x.Place))
}

// NoProgress is the verdict for a client that reports no progress.
func NoProgress() Verdict {
	return NotApplicable("the client reports no progress, as it may")
}
