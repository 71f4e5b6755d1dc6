// Package check defines what a scenario and a check are, and how the verdicts of a check on its cases become one
// result. It holds what checks of several chapters share: levels, verdicts, preconditions. It knows no chapter.
//
// # Which function for which verdict
//
// A [Need] and most helpers return a *Verdict: nil if Judge can go on, else the verdict that takes its place.
//
// To build such a verdict:
//
//	Unless          A condition must hold.
//	                Unless(e.Declared.Declares("tasks", "cancel"), NotApplicable("the client declares no tasks.cancel"))
//	Instead         The condition is known to be broken, as in a branch.
//	                return Instead(NotSent(e, n))
//	Observed        A Need: a search of the case must find something.
//	                Observed(sentLookAlike, "the server did not send such a result")
//	Verdict.Or      The first verdict, or the other one if the first is nil.
//	                return UnsettledSince(e, after).Or(Pass("%s", pass))
//
// If something is missing from the trace, it may be missing because the trace ended too early:
//
//	UnsettledSince  A response to what is at a place could still have come.
//	                return UnsettledSince(e, r.Asked).Or(NoResult(e, r))
//	UnsettledAfter  Something else could still have come; the caller says what.
//	                UnsettledAfter(e.Session, last, "the client could still run the tool")
//	Survived        The client must not end at a place; it fails if it did.
//	                Survived(e, r.Asked, "the client did not continue after a request for a task")
//
// To say what is missing:
//
//	Missing         A failure: what the server waited for did not come, such as a response or a retry.
//	                Missing("expected a retry with input, found none%s", e.WhySilent(e.FirstCall))
//	Unasked         Not observed, as no model request led to it. Not applicable if the client never asks the model.
//	                Unasked("the model received no request for sampling request %d: none had the mark of the case", r.N)
//	Unmarked        A model request without a mark may belong to the round.
//	                case Unmarked(e, r) != nil:
//	evidence.See    The message refers to the check that judges the reason.
//	                NotObserved("the client never used the server %s", evidence.See("client/connects"))
package check
