package memnet

import "time"

// deadline is when a read or a write times out; the zero value is never. Its pipe's mutex guards it.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

// set moves the deadline to t (the zero time is never) and calls wake once it has passed. It may also call wake for a
// deadline that was moved meanwhile: check passed.
func (d *deadline) set(t time.Time, wake func()) {
	d.stop()
	d.at = time.Time{}
	if t.IsZero() {
		return
	}
	// Use the monotonic clock, like the timer: a wall-clock time could still be ahead when the timer fires.
	now := time.Now()
	wait := t.Sub(now)
	d.at = now.Add(wait)
	if wait > 0 {
		d.timer = time.AfterFunc(wait, wake)
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
