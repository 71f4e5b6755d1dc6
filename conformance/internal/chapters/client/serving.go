package client

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// stopsServing is the verdict for a client that served no sampling request of a session any more, although it serves
// the same ones in other sessions: something broke it for good. It is nil for any other client.
func stopsServing(sessions []*evidence.Session) *check.Verdict {
	for _, s := range sessions {
		cases := s.Trace.Header.Cases
		at := slices.IndexFunc(cases, func(c trace.Case) bool { return c.UnservedAfter != "" })
		if at < 0 || excused(s) || check.Limited(s.Case(cases[at].ID)) != nil {
			continue
		}
		first, before := s.Case(cases[at].ID), cases[at].UnservedAfter
		unserved, later := servedLater(s, first, sessions)
		if len(later) == 0 {
			continue
		}
		v := check.Fail("from %s on, the client served no sampling request of the session, but it served %d of %s in other "+
			"sessions", first.Case.ID, len(later), words.Count(unserved, "such case")).
			Because("one request, or what the client said to it, breaks its connection or its handler for good",
				"Let an error end only the request to which it belongs. Go on reading and answering the others.").
			At(first.Rounds[0].Asked).In(first.Case.ID)
		if later[0] == first.Case.ID {
			v.Message += fmt.Sprintf("; %s may have broken it", before)
		}
		v = v.Together(slices.Compact([]string{before, first.Case.ID, later[len(later)-1]})...)
		if a := first.Rounds[0].Answers; len(a) > 0 {
			v = v.At(a[0].Place)
		}
		v = v.ShowOutput(s)
		return &v
	}
	return nil
}

// servedLater counts the cases that a session left unserved, from the first on, and returns those of them that the
// client served in another session.
func servedLater(s *evidence.Session, first *evidence.Case, sessions []*evidence.Session) (n int, later []string) {
	for _, c := range s.Trace.Header.Cases {
		ev := s.Case(c.ID)
		counts := c.ID != harness.BarrierID && len(ev.Rounds) > 0
		if counts && !served(ev) && s.Order[ev.FirstCall] >= s.Order[first.FirstCall] {
			n++
			if servedIn(sessions, c.ID) {
				later = append(later, c.ID)
			}
		}
	}
	return n, later
}

// served reports whether the client asked the model for a sampling request of the case.
func served(ev *evidence.Case) bool {
	return slices.ContainsFunc(ev.Rounds, func(r *evidence.Round) bool { return len(r.Model) > 0 })
}

// servedIn reports whether the client served the case in a session that counts for it.
func servedIn(sessions []*evidence.Session, id string) bool {
	return slices.ContainsFunc(sessions, func(s *evidence.Session) bool {
		ev := s.Case(id)
		return ev != nil && !ev.Case.Replayed && served(ev)
	})
}

// ignoresAll reports whether a client ended several calls with a sampling request to which it neither responded nor
// asked the model, and served none.
func ignoresAll(sessions []*evidence.Session) bool {
	const several = 3
	ignored := 0
	for _, s := range sessions {
		for _, c := range s.Trace.Header.Cases {
			for _, ev := range s.Calls[c.ID] {
				switch {
				case len(ev.Rounds) == 0:
				case served(ev) || len(ev.Rounds[0].Answers) > 0:
					return false
				case ev.Outcome != nil || ev.StreamClosed() != nil:
					ignored++
				}
			}
		}
	}
	return ignored >= several
}
