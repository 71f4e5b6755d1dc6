package harness

import (
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Progress says that a session began or ended, or that the client called the tool of one of its cases.
type Progress struct {
	Revision server.Revision
	// Total is how many cases the [Runner] plays.
	Total int
	// Session numbers the sessions of a run, from 1, in the order in which they began.
	Session int64
	// Cases are the IDs of the session's cases.
	Cases []string
	// Case is the ID of the case whose handler starts; "" when the session begins or ends.
	Case string
	// Limit is how long the session may take before its client is asked for progress.
	Limit time.Duration
	// Waits is true for a case that waits by design, beside the other sessions.
	Waits bool
	// Over is true at the end of the session.
	Over bool
}

// progress returns a function that reports on a session: on its cases by event, and on its end by nil. It has reported
// the beginning.
func (r *Runner) progress(cases []Case, limit time.Duration) func(*trace.Event) {
	if r.Progress == nil {
		return func(*trace.Event) {}
	}
	p := Progress{Revision: r.Revision, Limit: limit, Waits: cases[0].waiting()}
	if r.counts != nil {
		p.Total, p.Session = r.counts.cases, r.counts.sessions.Add(1)
	}
	for _, c := range cases {
		p.Cases = append(p.Cases, c.ID)
	}
	r.Progress(p)
	return func(e *trace.Event) {
		now := p
		switch {
		case e == nil:
			now.Over = true
		case e.Mark == nil || e.Mark.Name != trace.MarkHandlerStarted:
			return
		default:
			now.Case = e.Case
		}
		r.Progress(now)
	}
}
