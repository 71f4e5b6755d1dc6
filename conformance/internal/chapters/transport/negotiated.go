package transport

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// negotiatedRules judges the session by the rules for every case, in the version that the client has found out. The
// first failure is its verdict, or else a warning.
var negotiatedRules = check.Check{
	ID: "negotiated-rules", Whole: true,
	Rule:   "In the version that it has negotiated, the client follows the rules for every message",
	Levels: check.SinceTools(report.Robust),
	Cases:  []string{"older-version", "both-eras", "older-era", "older-era-told", "older-era-discovered"},
	Needs:  needsVersions,
	Cause:  "what the client sets up for its first version is missing after it falls back to another",
	Fix:    "Set up a session in the same way, however its version was found: headers, capabilities and handlers.",
	Judge: func(e *evidence.Case) check.Verdict {
		spoken := negotiated(e.Session)
		s, rules := e.Session.InRevision(spoken), check.Catalogue{always.Scenario}
		var warned *check.Verdict
		for _, j := range check.Judge(rules, spoken, []*evidence.Session{s}, nil) {
			broken := check.Fail("in %s, which the client and the server agreed on: %s (%s)", spoken, j.Message, j.ID()).
				Because(j.Cause, j.Fix).Repeats(j.ID())
			broken.Evidence = j.Evidence
			switch j.Verdict {
			case report.Fail:
				return broken
			case report.Warn:
				broken.Kind = report.Warn
				warned = &broken
			}
		}
		switch {
		case warned != nil:
			return *warned
		case !e.Called:
			return check.NotApplicable("the client did not continue in a version of the server")
		}
		return check.Pass("the client follows the rules for every message in %s", spoken)
	},
}

// negotiated returns the version of the session: that of the latest response to initialize, or else that of the run.
func negotiated(s *evidence.Session) server.Revision {
	version := s.Revision
	for i := range s.Trace.Events {
		if e := &s.Trace.Events[i]; e.Frame != nil && e.Frame.Dir == trace.ToClient {
			if agreed := evidence.ObjectOf(s.Message(e).Result).Text("protocolVersion"); agreed != "" {
				version = server.Revision(agreed)
			}
		}
	}
	return version
}
