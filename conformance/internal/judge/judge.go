// Package judge judges the traces of one run by a catalogue: it decodes them, gives each check its sessions, and adds
// the checks of the client as a whole. It holds what spans several scenarios or revisions.
package judge

import (
	"errors"
	"maps"
	"runtime"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/client"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

// Traces judges the traces of one run by the wanted checks; nil wants all. The results are sorted by revision, then in
// the order of the catalogue. It returns an error if the traces have no session.
func Traces(
	scenarios check.Catalogue, traces []*trace.Trace, wanted func(*check.Scenario, *check.Check) bool,
) (*report.Results, error) {
	rs := &report.Results{Format: report.Format, Results: []report.Result{}, Played: map[string][]string{}}
	played := map[string][]*trace.Trace{}
	for _, t := range traces {
		played[t.Header.Revision] = append(played[t.Header.Revision], t)
		rs.Tool, rs.Client, rs.Seed, rs.Transport = t.Header.Tool, t.Header.Client, t.Header.Seed, t.Header.Transport
	}
	unmarked := 0
	for _, of := range slices.Sorted(maps.Keys(played)) {
		revision := server.Revision(of)
		sessions := decodeAll(played[of]) // one revision at a time: what is decoded takes more memory than the traces
		evidence.NoteRun(sessions)
		rs.Played[of] = called(sessions)
		begun := sameRevision(without(sessions, func(s *evidence.Session) bool { return s.GivenUp }))
		if len(begun) > 0 && evidence.AllSpokeOtherRevision(begun) {
			noteOtherRevision(sessions, begun[0].Tried)
		}
		judged := check.Judge(scenarios, revision, sessions, wanted)
		var whole []check.Judged // after the checks, which have validated all messages at the same time
		if len(begun) > 0 {
			whole = client.Judge(revision, begun)
		} else if sessions[0].Omitted {
			whole = append(whole, client.NothingPlayed(revision, sessions[0]))
		}
		judged = append(whole, judged...)
		client.NamePrerequisite(judged)
		check.NameSame(judged)
		unmarked += client.Unmarked(sessions)
		for _, j := range judged {
			rs.Results = append(rs.Results, j.Result)
		}
	}
	if len(rs.Results) == 0 {
		return nil, errors.New("nothing to judge: the traces have no session")
	}
	rs.Notes = append(client.Notes(unmarked), client.Hurried(traces)...)
	if slices.ContainsFunc(traces, func(t *trace.Trace) bool { return t.Header.Tapped }) {
		onlyWhatWasThere(rs)
		noteCut(rs, traces)
	} else {
		client.RequireSomeRevision(rs)
	}
	rs.Count()
	return rs, nil
}

// decodeAll decodes traces concurrently: with long requests, decoding takes as long as everything else.
func decodeAll(traces []*trace.Trace) []*evidence.Session {
	sessions := make([]*evidence.Session, len(traces))
	workers.Each(len(traces), runtime.GOMAXPROCS(0), func(i int) { sessions[i] = evidence.Decode(traces[i]) })
	return sessions
}

// called returns the cases whose tool the client called, in their order.
func called(sessions []*evidence.Session) []string {
	var all []string
	for _, s := range sessions {
		for _, one := range s.Trace.Header.Cases {
			if ev := s.Case(one.ID); ev.Called && !one.Replayed && !slices.Contains(all, one.ID) {
				all = append(all, one.ID)
			}
		}
	}
	return all
}

// without returns the sessions for which drop does not hold.
func without(sessions []*evidence.Session, drop func(*evidence.Session) bool) []*evidence.Session {
	return slices.DeleteFunc(slices.Clone(sessions), drop)
}

// sameRevision returns the sessions whose server spoke the revision of the run; all sessions if there are none.
func sameRevision(sessions []*evidence.Session) []*evidence.Session {
	same := without(sessions, func(s *evidence.Session) bool { return len(s.Trace.Header.ServerRevisions) > 0 })
	if len(same) > 0 {
		return same
	}
	return sessions
}

// noteOtherRevision notes in sessions without a client that it would have tried another revision.
func noteOtherRevision(sessions []*evidence.Session, tried string) {
	for _, s := range sessions {
		if s.GivenUp {
			s.Foreign, s.Tried = true, tried
		}
	}
}
