package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Pace is the speed of the model. The zero value is immediate: all events of a stream leave together. In a
// testing/synctest bubble its waits are virtual.
type Pace struct {
	// FirstToken is the time before the answer's header.
	FirstToken time.Duration
	// Token is the time between two events of a stream.
	Token time.Duration
	// Jitter varies each wait randomly by up to this fraction, 0 to 1.
	Jitter float64
	// Seed seeds the jitter. Equal seeds give each answer equal waits.
	Seed int64
}

// Validate returns the error with which a server would reject the pace.
func (p Pace) Validate() error {
	switch {
	case p.FirstToken < 0 || p.Token < 0:
		return errors.New("has a Pace with a negative wait")
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		return errors.New("has a Pace with a Jitter that is not from 0 to 1")
	}
	return nil
}

type waits struct {
	Pace
	random *rand.Rand // nil without jitter
}

func (p Pace) waits() waits {
	w := waits{Pace: p}
	if p.Jitter > 0 {
		w.random = random(p.Seed)
	}
	return w
}

func (w *waits) vary(d time.Duration) time.Duration {
	if w.random == nil {
		return d
	}
	return time.Duration(float64(d) * (1 + w.Jitter*(2*w.random.Float64()-1)))
}

// wait waits. False: the caller left or the server closed first.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	return until(ctx, s, timer.C)
}

// until waits for an event; a nil channel has none. False: the caller left or the server closed first.
func until[T any](ctx context.Context, s *Server, event <-chan T) bool {
	select {
	case <-event:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}
