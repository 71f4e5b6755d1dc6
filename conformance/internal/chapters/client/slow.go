package client

import (
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// timeOptions is how a user gives the client more time.
const timeOptions = "--timeout, conformance.Timeout"

// needsTime is the verdict for a client that was out of time in these sessions, and in no other way at fault.
func needsTime(slow []*evidence.Session) check.Verdict {
	s := slow[0]
	pace, how := paceOf(slow), ""
	if rounded := pace.Round(time.Second / 10); rounded > 0 {
		how = fmt.Sprintf("; a sampling result takes it %s on average", rounded)
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
