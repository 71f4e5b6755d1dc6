package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Pace is how fast the model speaks. The zero value is at once. In a testing/synctest bubble the waits are in its virtual time.
type Pace struct {
	// FirstToken is the time until the answer begins, header and all.
	FirstToken time.Duration
	// Token is the time between two events of a stream.
	Token time.Duration
	// Jitter makes each wait longer or shorter by up to this part of it, from 0 to 1.
	Jitter float64
	// Seed is what the jitter is drawn from: the same seed, the same waits in each answer.
	Seed int64
}

// Validate says what a server would refuse the pace for; nil when it would not.
func (p Pace) Validate() error {
	switch {
	case p.FirstToken < 0 || p.Token < 0:
		return errors.New("has a Pace with a wait below 0")
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		return errors.New("has a Pace with a Jitter that is not from 0 to 1")
	}
	return nil
}

// waits draws the waits of one answer.
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

// wait waits that long, and reports whether the caller is still there, and the server open, when the time has passed.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

// stall waits until the caller hangs up or the server is closed.
func (s *Server) stall(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.closing:
	}
}
