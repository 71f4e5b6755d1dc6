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
		var own ownMessages
		for e, m := range s.FromClient() {
			switch {
			case m.Method == evidence.MethodCancelled:
				own.cancels = append(own.cancels, ownMessage{evidence.Place{Ref: e.Ref(), Path: "params", Label: "cancel"}, m, e})
			case m.Method != "" && m.ID != nil:
				own.requests = append(own.requests, ownMessage{evidence.Place{Ref: e.Ref(), Label: m.Method}, m, e})
			}
		}
		if len(own.cancels) == 0 {
			return check.NotApplicable("the client cancelled no request")
		}
		verdict := check.Pass("the client cancelled only requests of its own")
		for i := range own.cancels {
			switch v := own.judge(s, i); {
			case v == nil:
			case v.Kind == check.Failed:
				return *v
			default:
				verdict = *v
			}
		}
		return verdict
	},
}

// ownMessage is a message of the client.
type ownMessage struct {
	evidence.Place
	*evidence.Message
	event *trace.Event
}

// ownMessages are the requests of the client and its cancels.
type ownMessages struct{ requests, cancels []ownMessage }

// judge returns nil for a cancel of a request in progress, and otherwise the verdict.
func (own *ownMessages) judge(s *evidence.Session, nth int) *check.Verdict {
	cancel := own.cancels[nth]
	id, isNotification := evidence.CancelOf(cancel.Message)
	before := func(a, b ownMessage) bool { return s.Order[a.Ref] < s.Order[b.Ref] }
	var named []ownMessage // a client may have used the id twice
	for _, r := range own.requests {
		if evidence.SameID(r.ID, id) && inSession(r, cancel) &&
			(before(r, cancel) || !s.OverStdio()) { // over HTTP a cancel may overtake its request
			named = append(named, r)
		}
	}
	var v check.Verdict
	switch {
	case !isNotification:
		at := evidence.Place{Ref: cancel.Ref, Path: "id", Label: "cancel"}
		v = check.Fail("expected a cancel without an id, found the id %s", cancel.ID).Show(at, "%s", cancel.ID)
	case len(named) == 0:
		v = check.Fail("expected requestId to name a request of the client, found %s", check.OrMissing(id)).
			ShowJSON(cancel.At("requestId"), id)
	case !slices.ContainsFunc(named, func(r ownMessage) bool { return r.Method != "initialize" }):
		v = check.Fail("expected no cancel of initialize, found one").Show(cancel.At("requestId"), "%s", id)
	default:
		request := named[len(named)-1]
		for _, first := range own.cancels[:nth] {
			if other, _ := evidence.CancelOf(first.Message); evidence.SameID(id, other) && !before(first, request) {
				return check.Instead(check.Warn("expected 1 cancel of a request, found 2: it is no longer in progress").
					ShowJSON(first.Place, first.Params).ShowJSON(cancel.Place, cancel.Params))
			}
		}
		if over := completed(s, request); over != nil {
			return check.Instead(check.Warn("expected no cancel of a call that the client reports as completed, found one").
				At(*over).ShowJSON(cancel.Place, cancel.Params))
		}
		return nil
	}
	return &v
}

// inSession reports whether a cancel can be about a request: of the same session, or of one without an id.
func inSession(request, cancel ownMessage) bool {
	of := request.event.Frame.Session
	return of == "" || of == cancel.event.Frame.Session || cancel.event.Frame.Session == ""
}

// completed returns where the client reported that the call that a request belongs to had completed; nil if it did not.
// It is nil, too, if the case has several calls.
func completed(s *evidence.Session, request ownMessage) *evidence.Place {
	if calls := s.Calls[request.event.Case]; len(calls) == 1 {
		return calls[0].Reported(harness.Completed)
	}
	return nil
}
