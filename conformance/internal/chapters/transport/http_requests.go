package transport

import (
	"maps"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// wholeSession is the case whose session the rules about HTTP requests judge, from its first request to its last.
var wholeSession = []string{"plain"}

func sentHTTP(e *evidence.Case) *check.Verdict {
	for range e.Session.HTTPRequests() {
		return nil
	}
	return check.Instead(check.NotObserved("the client sent no HTTP request"))
}

var endsSession = check.Check{
	ID: "ends-session", Rule: "The client SHOULD end a session that it no longer needs",
	Levels: check.InNewestLegacy(report.Should), Cases: wholeSession, Whole: true,
	Statements: []string{"transports/22"}, Needs: []check.Need{overHTTP, endedCleanly, sentHTTP},
	Cause: "the client closes its connections and does not notify the server",
	Fix:   "Send a DELETE with the session id at the end.",
	Judge: func(e *evidence.Case) check.Verdict {
		open := maps.Clone(e.Session.Issued)
		for ev := range e.Session.HTTPRequests() {
			if ev.Frame.HTTP.Method == "DELETE" {
				delete(open, ev.Frame.Session)
			}
		}
		if len(open) == 0 {
			return check.Pass("the client ended its session")
		}
		v := check.Fail("expected a DELETE for every session, found none for %d of %d", len(open), len(e.Session.Issued))
		for i := range e.Session.Trace.Events {
			if f := e.Session.Trace.Events[i].Frame; f != nil && f.Dir == trace.ToClient && open[f.Session] {
				return v.At(evidence.Place{Ref: e.Session.Trace.Events[i].Ref(), Label: "the session's first message"})
			}
		}
		return v.At(evidence.Place{})
	},
}

func endedCleanly(e *evidence.Case) *check.Verdict {
	s := e.Session
	return check.Unless(s.Ended != nil && s.Ended.Clean() && len(s.Issued) > 0,
		check.NotObserved("the session did not end cleanly: %s", s.Ending()))
}

// Prompts with names that a header cannot contain, or that look like an encoded name.
var (
	encodedName   = named("transport/encoded-name", "Größe in 東京")
	lookAlikeName = named("transport/look-alike-name", "=?base64?bG9vay1hbGlrZQ==?=")
)

func named(id, name string) harness.Case {
	return story.Delivered(harness.Case{ID: id, Name: name, Carrier: server.PromptsGet,
		Revisions: check.Modern}, askOnce())
}
