package always

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var ownCancels = check.Check{
	ID:     "own-cancels",
	Rule:   "The client MUST cancel only requests of its own that are in progress, by their id, and never initialize",
	Levels: check.Must, Negotiated: true,
	Statements: []string{"cancellation/behavior", "cancellation/11", "cancellation/initialize", "basic/22"},
	Cause: "the client writes the id as a string, or names a request of the server or one that is over, or gives the " +
		"cancel an id of its own",
	Fix: "Send a notification, without an id. Write requestId exactly as the id of the client's request. Send none once " +
		"the response is there.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		var requests, cancels []ownMessage
		for e, m := range s.FromClient() {
			switch {
			case m.Method == evidence.MethodCancelled:
				cancels = append(cancels, ownMessage{evidence.Place{Ref: e.Ref(), Path: "params", Label: "cancel"}, m})
			case m.Method != "" && m.ID != nil:
				requests = append(requests, ownMessage{evidence.Place{Ref: e.Ref(), Label: m.Method}, m})
			}
		}
		if len(cancels) == 0 {
			return check.NotApplicable("the client cancelled no request")
		}
		verdict := check.Pass("the client cancelled only requests of its own")
		cancelled := map[trace.Ref]ownMessage{} // the latest cancel of each request
		for _, cancel := range cancels {
			named := namedBy(s, cancel, requests)
			if v := misnames(cancel, named); v != nil {
				return *v
			}
			if len(named) > 1 {
				continue // only the client knows which of the requests with this id it means
			}
			if v := cancelsWhatIsOver(s, cancel, named[0], cancelled); v != nil {
				verdict = *v
			}
			cancelled[named[0].Ref] = cancel
		}
		return verdict
	},
}

// ownMessage is a message of the client.
type ownMessage struct {
	evidence.Place
	*evidence.Message
}

// namedBy returns the requests that a cancel may name: a client may have used the id twice. Over HTTP, a cancel may
// overtake its request.
func namedBy(s *evidence.Session, cancel ownMessage, requests []ownMessage) []ownMessage {
	id, _ := evidence.CancelOf(cancel.Message)
	frame := s.Trace.Find(cancel.Ref).Frame
	var named []ownMessage
	for _, r := range requests {
		before := s.Order[r.Ref] < s.Order[cancel.Ref]
		if evidence.SameID(r.ID, id) && s.InSessionOf(r.Ref, frame) && (before || !s.OverStdio()) {
			named = append(named, r)
		}
	}
	return named
}

// misnames returns nil if a cancel names a request of the client, and otherwise the verdict.
func misnames(cancel ownMessage, named []ownMessage) *check.Verdict {
	id, isNotification := evidence.CancelOf(cancel.Message)
	switch {
	case !isNotification:
		at := evidence.Place{Ref: cancel.Ref, Path: "id", Label: "cancel"}
		return check.Instead(check.Fail("expected a cancel without an id, found the id %s", cancel.ID).
			Show(at, "%s", cancel.ID))
	case len(named) == 0:
		return check.Instead(check.Fail("expected requestId to name a request of the client, found %s",
			check.OrMissing(id)).ShowJSON(cancel.At("requestId"), id))
	case !slices.ContainsFunc(named, func(r ownMessage) bool { return r.Method != "initialize" }):
		return check.Instead(check.Fail("expected no cancel of initialize, found one").
			Show(cancel.At("requestId"), "%s", id))
	}
	return nil
}

// cancelsWhatIsOver returns a warning of a cancel of a request that is no longer in progress; nil for any other.
func cancelsWhatIsOver(
	s *evidence.Session, cancel, request ownMessage, cancelled map[trace.Ref]ownMessage,
) *check.Verdict {
	if first, again := cancelled[request.Ref]; again {
		return check.Instead(check.Warn("expected 1 cancel of a request, found 2: it is no longer in progress").
			ShowJSON(first.Place, first.Params).ShowJSON(cancel.Place, cancel.Params))
	}
	if calls := s.Calls[request.Ref.Case]; len(calls) == 1 { // of several, the trace does not show which has completed
		if over := calls[0].Reported(harness.Completed); over != nil {
			return check.Instead(check.Warn("expected no cancel of a call that the client reports as completed, found one").
				At(*over).ShowJSON(cancel.Place, cancel.Params))
		}
	}
	return nil
}
