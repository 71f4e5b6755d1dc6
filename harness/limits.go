package harness

import (
	"time"
)

// Limits are how long a client is to wait for the model, and how long the model lets it wait.
type Limits struct {
	// Client is how long the client waits for the model, from asking it to the end of the answer. The client is told so: [Env.Timeout].
	Client time.Duration
	// Declared is true where whoever started the run said so of the client: [Runner.ClientTimeout]. Where nobody did, Client is a wish, and a
	// client that has a limit of its own need not fulfil it.
	Declared bool
	// Patience is how long the model of a [Case.Timed] takes. Where that is [Beyond] the client's limit it is so by a margin for a busy machine:
	// who is still there when it has passed did not give up at Client.
	Patience time.Duration
}

// Timing says how long the model of a case takes.
type Timing int

const (
	// Untimed is no time to speak of.
	Untimed Timing = iota
	// Within is a part of the client's limit.
	Within
	// Beyond is more than the client's limit.
	Beyond
)

// DefaultClientTimeout is how long a client is told to wait for the model when nobody has declared what it does.
const DefaultClientTimeout = time.Minute

const (
	// briefTimeout is what it is told in its place where it has to be waited for by a real clock.
	briefTimeout = 2 * time.Second
	// briefMargin is how much longer than that it is waited for, and declaredMargin how much longer than twice what was declared.
	briefMargin, declaredMargin = 4 * time.Second, 5 * time.Second
	// virtualPatience is for ever, for all that anybody can wait.
	virtualPatience = 15 * time.Minute
	// withinReal is the most that is taken within a limit where it has to be waited for by a real clock.
	withinReal = time.Second
)

// MostAttempts is how often a client may be expected to ask the model for one sample, and be kept waiting each time.
const MostAttempts = 3

// limits are those of a session with the case.
func (r *Runner) limits(c *Case) Limits {
	virtual := r.inVirtualTime(c)
	l := Limits{Client: r.ClientTimeout, Declared: r.ClientTimeout > 0}
	if !l.Declared {
		l.Client = DefaultClientTimeout
	}
	switch {
	case c.Timed == Untimed:
	case c.Timed == Within && virtual:
		l.Patience = l.Client / 4
	case c.Timed == Within:
		l.Patience = min(l.Client/4, withinReal)
	case l.Declared: // in virtual time the same, so that a client is held to the same wherever it is played
		l.Patience = 2*l.Client + declaredMargin
	case virtual:
		l.Patience = virtualPatience
	default:
		l.Client, l.Patience = briefTimeout, briefTimeout+briefMargin
	}
	return l
}

// waits is how long the case waits by design.
func (r *Runner) waits(c *Case) time.Duration { return c.Wait + MostAttempts*r.limits(c).Patience }
