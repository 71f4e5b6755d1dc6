// Package client judges the client as a whole: that it connects, is of use, and ends cleanly. Its checks judge all
// sessions of a revision, not cases. They are part of every run, so that no run passes without evidence.
package client

import (
	"cmp"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// wholeCheck is a check of sessions. Its level is ROBUST in every revision.
type wholeCheck struct {
	check.Check
	judge func([]*evidence.Session) check.Verdict
}

const (
	connectsID     = "connects"
	sampledID      = "sampled"
	endsCleanlyID  = "ends-cleanly"
	onlyMessagesID = "only-messages"
	contentTypeID  = "always/content-type"
)

var checks = []wholeCheck{
	{check.Check{
		ID:    connectsID,
		Rule:  "The client connects to the server and uses it in the revision of the run",
		Cause: "the client exits before it connects, speaks another transport, or gets the address or a header wrong",
		Fix: "Connect to the URL that the client receives, or launch the server's command, in the revision that " +
			"MCP_CONFORMANCE_PROTOCOL_VERSION names.",
	}, connects},
	{check.Check{
		ID:         onlyMessagesID,
		Rule:       "Over stdio, the client MUST write only JSON-RPC messages to the server, one per line",
		Statements: []string{"stdio/03", "stdio/01", "transports/01"},
		Cause: "the client writes logs or a byte order mark to the pipe, breaks JSON over lines, or ends in the middle of " +
			"a message",
		Fix: "Write each message as UTF-8 JSON without line breaks, then one line feed. Write logs to standard error.",
	}, always.OnlyMessages},
	{check.Check{
		ID:    sampledID,
		Rule:  "The client answers at least one sampling request with a result",
		Cause: "the client does not declare sampling, never calls the tools, or answers every request with an error",
		Fix:   "Declare sampling (with tools), call every tool of tools/list, and return the model's answer.",
	}, sampled},
	{check.Check{
		ID:    endsCleanlyID,
		Rule:  "The client serves sampling requests to the end, ends by itself, and reports success",
		Cause: "the client crashes, hangs after its last call, stops serving, or reports a failure of its own",
		Fix:   "Exit with status 0 (return nil) once every tool has been called.",
	}, endsCleanly},
}

// Checks returns the checks of the client as a whole. They belong to no scenario of the catalogue.
func Checks() []check.Check {
	var all []check.Check
	for _, c := range checks {
		all = append(all, c.Check)
	}
	return all
}

// NeedsARun reports whether a check judges what only a run shows: how the client begins and ends, and whether it
// samples.
func NeedsARun(scenario, id string) bool {
	return scenario == check.ClientScenario && id != onlyMessagesID
}

// Judge judges the client as a whole in one revision.
func Judge(revision server.Revision, sessions []*evidence.Session) []check.Judged {
	var results []check.Judged
	for _, c := range checks {
		if c.ID == onlyMessagesID && !slices.ContainsFunc(sessions, (*evidence.Session).OverStdio) {
			continue
		}
		v := c.verdict(revision, sessions)
		r := report.Result{Scenario: check.ClientScenario, Revision: string(revision), Check: c.ID, Level: report.Robust,
			Verdict: check.Settle(v.Kind, report.Robust), Message: v.Message,
			Requirement: c.Requirement(revision), Evidence: append([]report.Evidence{}, v.Evidence...),
			Case: v.Details().Case, Together: v.Details().Together}
		if r.Verdict == report.Fail {
			r.Cause, r.Fix = v.Advise(&c.Check)
		}
		for _, s := range sessions {
			if n := len(s.Trace.Events); n > 0 {
				r.DurationMS = max(r.DurationMS, s.Trace.Events[n-1].At.Milliseconds())
			}
		}
		results = append(results, check.Judged{Result: r, Reason: v.Reason, See: v.Details().See})
	}
	return results
}

// NothingPlayed is the result of a revision in which no client was started.
func NothingPlayed(revision server.Revision, s *evidence.Session) check.Judged {
	return check.Judged{Result: report.Result{Scenario: check.ClientScenario, Revision: string(revision),
		Check: connectsID,
		Level: report.Robust, Verdict: report.NotObserved, Evidence: []report.Evidence{},
		Message: "no case was played: " + s.Case(s.Trace.Header.Cases[0].ID).NotPlayed}}
}

// verdict judges all sessions without a fault of ours. An incomplete or interrupted trace makes a failure
// not_observed.
func (c *wholeCheck) verdict(revision server.Revision, sessions []*evidence.Session) check.Verdict {
	sound := slices.DeleteFunc(slices.Clone(sessions), func(s *evidence.Session) bool { return s.Fault != "" })
	v := c.judge(sound)
	incomplete := func(s *evidence.Session) bool { return !s.Trace.Whole }
	switch {
	case len(sound) == 0:
		return check.NewVerdict(report.HarnessError, "%s", []any{sessions[0].Fault})
	case c.ID != connectsID && evidence.AllSpokeOtherRevision(sessions):
		return check.NotApplicable("the client does not speak %s: it tried %s", revision, sessions[0].Tried)
	case v.Kind != check.Failed:
		return v
	case slices.ContainsFunc(sessions, (*evidence.Session).Interrupted):
		return check.NotObserved("the run was interrupted first")
	case c.ID == sampledID && ignoresAll(sessions): // more time would change nothing
	case c.ID != endsCleanlyID && slices.ContainsFunc(sessions, (*evidence.Session).Unfinished):
		return check.NotObserved("the client's time was up first %s",
			evidence.See(check.ClientScenario+"/"+endsCleanlyID))
	case c.ID != endsCleanlyID && slices.ContainsFunc(sessions, incomplete): // the trace keeps all process events
		return check.NotObserved("the trace is incomplete")
	}
	return v
}

// NamePrerequisite names, in each result of a revision that observed nothing, the check whose result explains that. A
// client without a connection, or without any result, leaves nothing to judge; else it is the check that the verdict
// refers to. The lack of every result also explains what is unsupported, and a failure that is only about one result.
// Its own reason may be a content type that the server refuses.
func NamePrerequisite(results []check.Judged) {
	of := func(id string) *check.Judged { return unmet(results, id) }
	root := cmp.Or(of(check.ClientScenario+"/"+connectsID), of(check.ClientScenario+"/"+sampledID))
	if refused := of(contentTypeID); root != nil && refused != nil && refused.Verdict == report.Fail {
		root.Prerequisite, root = refused.ID(), refused // the server refuses every response
	}
	for i := range results {
		r := &results[i]
		if !isIdle(r) && r.Verdict != report.Fail {
			continue
		}
		cause := explains(root, r)
		if cause == nil && r.See != "" && isIdle(r) {
			cause = of(r.See)
		}
		if cause != nil && cause != r && cause.Prerequisite == "" {
			r.Prerequisite = cause.ID()
		}
	}
}

func isIdle(r *check.Judged) bool {
	return r.Verdict == report.NotObserved || r.Verdict == report.Unsupported
}

// unmet returns the result of a check that did not pass, and therefore may explain others; nil for any other.
func unmet(results []check.Judged, id string) *check.Judged {
	for i := range results {
		if r := &results[i]; r.ID() == id && (isIdle(r) || r.Verdict == report.Fail) {
			return r
		}
	}
	return nil
}

// explains returns the root if it explains the result, and otherwise nil. Only a failure explains other failures, and
// what is unsupported. A client whose response the server has refused waits.
func explains(root, r *check.Judged) *check.Judged {
	switch {
	case root == nil, r.Verdict == report.NotObserved:
		return root
	case root.ID() == contentTypeID && r.Reason.Has(evidence.NoResponse|evidence.StillRunning):
		return root
	case root.Verdict != report.Fail, r.Verdict == report.Fail && !r.Reason.Has(evidence.NoResult):
		return nil
	}
	return root
}

// RequireSomeRevision turns "does not speak the revision" into a failure if it is so in every revision: then the
// client was never judged. Otherwise it notes the revisions in which it was not.
func RequireSomeRevision(rs *report.Results) {
	var other []*report.Result
	judged := false
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == check.ClientScenario && r.Check == connectsID {
			if r.Verdict == report.NotApplicable {
				other = append(other, r)
			} else {
				judged = true
			}
		}
	}
	for _, r := range other {
		if judged {
			rs.Notes = append(rs.Notes,
				r.Message+", so nothing was judged; --revision "+r.Revision+" makes that a failure")
			continue
		}
		r.Verdict = report.Fail
		r.Message += "; it was not judged in any revision"
		r.Cause, r.Fix = checks[0].Cause, checks[0].Fix
	}
}
