package harness

import (
	"cmp"
	"time"
)

const (
	// DefaultTimeout is the default of [Runner.Timeout].
	DefaultTimeout = 30 * time.Second
	// DefaultCaseTimeout is the default of [Runner.CaseTimeout].
	DefaultCaseTimeout = 10 * time.Second
	// DefaultClientTimeout is how long a client is asked to wait for the model if nothing is declared.
	DefaultClientTimeout = time.Minute
	// MostAttempts is how often a client may ask the model for one sample, and wait each time.
	MostAttempts = 3
)

// Limits say how long a client has to wait for the model, and how long the model lets it wait.
type Limits struct {
	// Client is how long the client has to wait for the model, from the request to the end of the answer.
	Client time.Duration
	// Declared is true if Client is a known property of the client ([Runner.ClientTimeout]). Else Client is a request,
	// and a client with a limit of its own may ignore it.
	Declared bool
	// ModelDelay is how long the model of a [Case.Timed] takes. For [Beyond] it exceeds Client by a margin for a busy
	// machine: a client that still waits then did not time out at Client.
	ModelDelay time.Duration
}

// Timing says how long the model of a case takes.
type Timing int

const (
	// Untimed is no measurable time.
	Untimed Timing = iota
	// Within is a part of the client's limit.
	Within
	// Beyond is more than the client's limit.
	Beyond
)

const (
	// briefTimeout replaces DefaultClientTimeout when the wait takes real time, and briefMargin is added to it.
	briefTimeout, briefMargin = 2 * time.Second, 4 * time.Second
	// declaredMargin is added to twice a declared limit.
	declaredMargin = 5 * time.Second
	// virtualPatience is practically for ever.
	virtualPatience = 15 * time.Minute
	// withinReal bounds a wait in real time within the limit.
	withinReal = time.Second
)

func (r *Runner) limits(c *Case) Limits {
	virtual := r.inVirtualTime(c)
	l := Limits{Client: r.ClientTimeout, Declared: r.ClientTimeout > 0}
	if !l.Declared {
		l.Client = DefaultClientTimeout
	}
	switch {
	case c.Timed == Untimed:
	case c.Timed == Within && virtual:
		l.ModelDelay = l.Client / 4
	case c.Timed == Within:
		l.ModelDelay = min(l.Client/4, withinReal)
	case l.Declared: // also in virtual time, so that verdicts do not depend on the clock
		l.ModelDelay = 2*l.Client + declaredMargin
	case virtual:
		l.ModelDelay = virtualPatience
	default:
		l.Client, l.ModelDelay = briefTimeout, briefTimeout+briefMargin
	}
	return l
}

// deadline is the time limit of a session. That of a case with a slow model includes all that the client needs.
func (r *Runner) deadline(limit time.Duration, first *Case, seen *pulse, connected <-chan struct{}) *deadline {
	d := &deadline{limit: limit, perSample: cmp.Or(r.Timeout, DefaultTimeout) / sampleShare, connected: connected,
		pace: &cmp.Or(r.counts, &counts{}).pace, pulse: seen, slowness: slowness}
	if !first.waiting() {
		seen.pace = d.pace
	}
	if first.Timed != Untimed {
		d.pulse = nil
	}
	if r.inVirtualTime(first) {
		d.slowness = nil
	}
	return d
}

// limit is how long a session may take. A case that waits by design has that time in addition.
func (r *Runner) limit(cases []Case) time.Duration {
	limit := cmp.Or(r.Timeout, DefaultTimeout)
	if len(cases) > 1 {
		return limit
	}
	waits := cases[0].Wait + MostAttempts*r.limits(&cases[0]).ModelDelay
	return cmp.Or(r.CaseTimeout, max(limit/3, min(limit, DefaultCaseTimeout))) + waits
}
