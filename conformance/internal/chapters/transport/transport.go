// Package transport judges how messages come and go: over Streamable HTTP, over stdio, in batches, and in a revision
// that both sides speak.
package transport

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "transport",
	Purpose:   "streams that break, sessions that are lost, and every legal form of a message",
	Revisions: server.AllRevisions(),
	Cases: slices.Concat([]harness.Case{plain, getStream, postStream, toolsChanged, sameID, repeated, events, rareEvents,
		disconnect, lostSession, encodedName, lookAlikeName, pipe, pipeEnd, together}, versionCases),
	Checks: []check.Check{
		onPostStream, afterNotice, onGETStream, acceptsJSON, idCollision, duplicateRequest, reconnects, retryHonoured,
		sessionLost, handlersSurvive, endsSession, sseDetails, sseRare, overPipe, stderrIsNoError, pipeEnds,
		restarts, shutsDown, batch, VersionListed, negotiatedRules, otherVersion,
	},
},
	story.Again([]string{"get-stream", "repeated", "disconnect", "pipe"},
		story.ToolsOffered, story.SecondRound, story.AfterImage),
	story.Again([]string{"same-id", "encoded-name", "events"}, story.SecondRound, story.AfterImage),
)

var (
	must     = check.InNewestLegacy(report.Must)
	robust   = check.InNewestLegacy(report.Robust)
	mustBoth = check.SinceTools(report.Must)
)

func askOnce(options ...server.RequestOption) server.Handler {
	return func(s *server.Session) (any, error) {
		return "done", askAndWait(s, s.Ask("Does this come through?"), options...)
	}
}

// askAndWait waits for a response as [story.Wait] does.
func askAndWait(s *server.Session, ask any, options ...server.RequestOption) error {
	asked, err := s.Start(ask, options...)
	if err == nil {
		story.Wait(s, asked)
	}
	return err
}

// overHTTP and overStdio need a session over the transport that the rule is about.
func overHTTP(e *evidence.Case) *check.Verdict {
	return check.Unless(!e.Session.OverStdio(),
		check.NotApplicable("the rule is about HTTP, and the client speaks over stdio"))
}

func overStdio(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Session.OverStdio(),
		check.NotApplicable("the rule is about stdio, and the client speaks over HTTP"))
}

// asked needs a sampling request. Unlike Check.Requests, it can follow another precondition.
func asked(e *evidence.Case) *check.Verdict {
	return check.Unless(len(e.Rounds) > 0, check.NotObserved("the server did not send a sampling request"))
}

func find(e *evidence.Case, matches func(*trace.Event) bool) *trace.Event {
	for i := range e.Session.Trace.Events {
		if ev := &e.Session.Trace.Events[i]; ev.Case == e.Case.ID && matches(ev) {
			return ev
		}
	}
	return nil
}

func mark(e *evidence.Case, name string) *trace.Event {
	return find(e, func(ev *trace.Event) bool { return ev.Mark != nil && ev.Mark.Name == name })
}

// at returns the place of an event.
func at(e *trace.Event, label string) evidence.Place {
	return evidence.Place{Ref: e.Ref(), Label: label}
}

// served judges that the client responded to a round; how says how the request came. An error response counts, except
// for "method not found".
func served(e *evidence.Case, r *evidence.Round, how string) check.Verdict {
	if len(r.Answers) == 0 {
		if !e.Session.AnswersAny() {
			return answersNothing(e)
		}
		return check.Survived(e, r.Asked, "the client did not go on after a sampling request "+how).
			Or(check.Missing("expected a response to a sampling request %s, found none", how).At(r.Asked))
	}
	if a := r.Answers[0]; a.Err != nil && a.Err.Code == evidence.CodeMethodNotFound {
		return check.Fail("expected a result for a sampling request %s, found error %d", how, a.Err.Code).
			At(r.Asked).Show(a.Place, "%s", a.RawErr)
	}
	return check.Pass("the client responded to a sampling request %s", how)
}

func answersNothing(e *evidence.Case) check.Verdict {
	return check.NotObserved("the client answered no sampling request %s%s", evidence.See("basic/answered"),
		e.WhySilent(e.FirstCall))
}
