package harness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The causes with which the context of a session ends at its time limit: errTimeUp for a client that hangs, errActive
// for one that still makes progress. Every other cause means that the run was cancelled.
var (
	errTimeUp = errors.New("the client's time is up")
	errActive = fmt.Errorf("%w, while it makes progress", errTimeUp)
)

const (
	// A time limit has this many parts. A session ends after idleParts of them in a row without a sign of life.
	parts, idleParts = 6, 3
	// An active session may last mostTimes its limit, plus a share for each sampling request.
	mostTimes = 4
	// On a busy machine, limits grow by at most this factor.
	mostSlow = 10
	// sampleShare is the part of [Runner.Timeout] by which each sampling request extends that.
	sampleShare = 10
	// mostCounted is how many calls of one tool count as progress: a client may make the same call for ever.
	mostCounted = 2
)

// pulse counts what a client does in a session. It is safe for concurrent use.
type pulse struct {
	steps    atomic.Int64 // all signs of life
	advances atomic.Int64 // messages about its cases, ends of handlers, and a few answers of the model for each sample
	samples  atomic.Int64 // sampling requests that it received

	answers atomic.Int64 // of the model
	turns   atomic.Int64 // of a host
	planned int64        // how many turns of a host the case plays

	over atomic.Bool   // the harness ends the client, and what follows does not count
	last atomic.Int64  // the time of the last step
	pace *atomic.Int64 // the longest time between two steps, in nanoseconds; nil if it does not matter
}

func (p *pulse) step(advances bool) {
	p.steps.Add(1)
	if advances {
		p.advances.Add(1)
	}
	now := time.Now().UnixNano()
	before := p.last.Swap(now)
	if before == 0 || p.pace == nil {
		return
	}
	for longest := p.pace.Load(); now-before > longest; longest = p.pace.Load() {
		if p.pace.CompareAndSwap(longest, now-before) {
			return
		}
	}
}

func (p *pulse) see(e *trace.Event) {
	counted := e.Case != "" && e.Call <= mostCounted
	switch {
	case p.over.Load():
	case e.End != nil && e.End.Host: // a turn of its own is a sign of life, and progress if the case plays it
		p.step(p.turns.Add(1) <= p.planned)
	case e.End != nil: // repeated refusals by the model are no progress
		if e.End.Status == http.StatusOK && e.End.Fault == "" {
			p.step(p.answers.Add(1) <= MostAttempts*p.samples.Load())
		}
	case e.Mark != nil && e.Mark.Name == trace.MarkHandlerEnded, e.Case != "" && fromClient(e) && !e.Frame.Closed:
		p.step(counted)
	case counted && e.Frame != nil && !e.Frame.Resent:
		p.samples.Add(int64(bytes.Count(e.Frame.Raw, []byte(`"sampling/createMessage"`))))
	}
}

func fromClient(e *trace.Event) bool { return e.Frame != nil && e.Frame.Dir == trace.FromClient }

// deadline is the time limit of a session. It starts anew at the client's first message, because a start may take long
// on a busy machine. A client that makes progress gets more time: up to mostTimes the limit, plus a share for each
// sampling request.
type deadline struct {
	limit, perSample time.Duration
	short            time.Duration // replaces limit for a client that has connected
	connected        <-chan struct{}
	pulse            *pulse // nil for a client whose progress does not count
	// pace is the longest time between two steps of the client in all sessions so far, in nanoseconds.
	pace *atomic.Int64
	// slowness is how many times longer everything takes than on an idle machine; nil for virtual time.
	slowness func() float64
	// ending is called before the context ends, unless the caller ended it.
	ending func()
}

// context returns a context that ends with errTimeUp at the time limit, and with the cause of ctx when that ends.
func (d *deadline) context(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		if cause := d.wait(ctx, limited.Done()); cause != nil {
			d.ending()
			cancel(cause)
		}
	}()
	return limited, func() { cancel(nil) }
}

// meter is how much time of a session has passed, in parts of the limit. Used and idle count what an idle machine would
// need; idle and still are the time since the last step, and since the last advance.
type meter struct {
	ticks, used, idle, still float64
	steps, advances          int64
}

// wait returns why the session has to end; nil if the client ended first.
func (d *deadline) wait(ctx context.Context, over <-chan struct{}) error {
	ticker := time.NewTicker(max(d.limit/parts, 1))
	defer ticker.Stop()
	m, connected := meter{}, d.connected
	for {
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-connected:
			m, connected, d.limit = meter{}, nil, cmp.Or(d.short, d.limit)
			ticker.Reset(max(d.limit/parts, 1))
			continue
		case <-ticker.C:
		}
		d.tick(&m)
		if cause := d.verdict(&m); cause != nil {
			return cause
		}
	}
}

func (d *deadline) tick(m *meter) {
	share := 1.0
	if d.slowness != nil {
		share = 1 / min(max(1, d.slowness()), mostSlow)
	}
	m.ticks, m.used, m.idle, m.still = m.ticks+1, m.used+share, m.idle+share, m.still+share
	if d.pulse == nil {
		return
	}
	if now := d.pulse.steps.Load(); now != m.steps {
		m.steps, m.idle = now, 0
	}
	if now := d.pulse.advances.Load(); now != m.advances {
		m.advances, m.still = now, 0
	}
}

// verdict returns why the session has to end now; nil for a session that goes on.
func (d *deadline) verdict(m *meter) error {
	part, patience, most := float64(max(d.limit/parts, 1)), float64(idleParts), float64(mostTimes*parts)
	if d.pulse != nil {
		patience = max(patience, 2*float64(d.pace.Load())/part)
		most += float64(d.pulse.samples.Load()) * float64(d.perSample) / part
	}
	const almost = 1e-6 // shares are fractions
	switch hangs := m.used+almost >= parts && m.idle+almost >= patience; {
	case hangs:
		return errTimeUp
	case m.ticks < most || m.used+almost < parts:
		return nil
	case m.still < patience:
		return errActive
	}
	return errTimeUp
}
