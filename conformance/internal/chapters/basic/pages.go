package basic

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// tools/list has two pages, and the tool that samples is on the second.
var laterPage = harness.Case{
	ID: "basic/later-page", Isolated: true, ToolsPerPage: 1,
	Tools: []server.Tool{{Name: "first-page", Description: "Does nothing.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		Handler:     func(*server.Session) (any, error) { return "nothing to do", nil }}},
	Handler: asks("Which bird lays the largest egg?"),
	Script:  story.Says("The ostrich."),
}

// listing is how a client read the pages of tools/list.
type listing struct {
	page   *evidence.Place // the last result with a nextCursor; nil for none
	cursor json.RawMessage // its nextCursor
	asked  *evidence.Place // the next request with a cursor; nil for none
	with   json.RawMessage // its cursor
}

func listingOf(s *evidence.Session) *listing {
	l := &listing{}
	for i := range s.Trace.Events {
		ev := &s.Trace.Events[i]
		if ev.Frame == nil {
			continue
		}
		m := s.Message(ev)
		switch next := jsonvalue.Part(m.Result, "nextCursor"); {
		case ev.Frame.Dir == trace.ToClient && next != nil && l.page == nil:
			l.page, l.cursor = &evidence.Place{Ref: ev.Ref(), Path: "result.nextCursor", Label: "tools/list"}, next
		case ev.Frame.Dir == trace.FromClient && m.Method == "tools/list" && l.asked == nil:
			if with := jsonvalue.Part(m.Params, "cursor"); jsonvalue.IsGiven(with) {
				l.asked, l.with = &evidence.Place{Ref: ev.Ref(), Path: "params.cursor", Label: "next page"}, with
			}
		}
	}
	return l
}

var nextPage = check.Check{
	ID: "next-page", Cases: []string{"later-page"}, Whole: true,
	Rule:   "The client SHOULD read all pages of tools/list, each with the nextCursor of the one before, unchanged",
	Levels: check.Levels(report.Should, report.Should), Statements: []string{"pagination/flows", "pagination/opaque"},
	Cause: "the client takes the first result of tools/list for all tools, or changes the cursor",
	Fix:   "Repeat tools/list with the nextCursor of the result as cursor, until a result has none.",
	Judge: func(e *evidence.Case) check.Verdict {
		switch l := listingOf(e.Session); {
		case e.Called:
			return check.Pass("the client called the tool on the second page of tools/list")
		case l.page == nil:
			return check.NotApplicable("the client did not ask for the list of tools")
		case l.asked == nil:
			return check.Fail("expected a request of tools/list with the cursor %s, found none", l.cursor).At(*l.page)
		case !jsonvalue.Same(l.cursor, l.with):
			return check.Fail("expected a request of tools/list with the cursor %s, found %s", l.cursor, l.with).
				At(*l.page).At(*l.asked)
		}
		return check.NotObserved("the client never called the tool %s", e.Case.Tool)
	},
}
