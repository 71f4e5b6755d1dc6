package client

import (
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// timeOptions is how a user gives the client more time.
const timeOptions = "--timeout, conformance.Timeout"

// needsTime is the verdict for a client that was out of time in these sessions, and in no other way at fault.
func needsTime(slow []*evidence.Session) check.Verdict {
	s := slow[0]
	pace, how := paceOf(slow), ""
	if rounded := pace.Round(time.Second / 10); rounded > 0 {
		how = fmt.Sprintf("; a sampling result takes it %s on average", rounded)
	} else if id, waited := longestCall(s); waited >= time.Second {
		how = fmt.Sprintf(", or a shorter limit of its own: it ended its call for %s after %s", id, waited)
	}
	return check.Unsupported("the client needs more time%s: set a limit such as %s (%s), or select fewer scenarios; %s",
		how, advised(s, pace), timeOptions, s.Ending())
}

// paceOf returns the average time that a sampling request took to get a result.
func paceOf(sessions []*evidence.Session) time.Duration {
	answered, pace := 0, time.Duration(0)
	for _, s := range sessions {
		for _, calls := range s.Calls {
			for _, ev := range calls {
				for _, r := range ev.Rounds {
					if a := r.Result(); a != nil {
						answered++
						pace += ev.TimeOf(a.Ref) - ev.TimeOf(r.Asked.Ref)
					}
				}
			}
		}
	}
	return pace / time.Duration(max(answered, 1))
}

// longestCall returns the first case whose call the client reported as ended after the longest time, in whole seconds.
func longestCall(s *evidence.Session) (id string, waited time.Duration) {
	begun := map[string]time.Duration{}
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		since, called := begun[e.Case]
		switch {
		case e.Case != "" && e.Frame != nil && !called:
			begun[e.Case] = e.At
		case e.Mark != nil && e.Mark.Name == trace.MarkOutcome && called:
			if took := (e.At - since).Round(time.Second); took > waited {
				id, waited = e.Case, took
			}
		}
	}
	return id, waited
}

const (
	// perAnswer is how many times the pace of a client its limit should be: each sampling request extends it by a tenth.
	perAnswer = 13
	// ofAll is how many times the limit of a session with one case that of a session with several is.
	ofAll = 3
)

// advised returns a limit that is enough for the client.
func advised(s *evidence.Session, pace time.Duration) time.Duration {
	limit := 2 * s.Trace.Header.Timeout
	if len(s.Trace.Header.Cases) == 1 {
		limit *= ofAll
	}
	return max(limit, perAnswer*pace+10*time.Second).Truncate(10 * time.Second)
}
