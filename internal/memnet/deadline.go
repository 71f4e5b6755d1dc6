package memnet

import "time"

// deadline is a point in time after which a read or a write gives up. The zero deadline is none. Its pipe's mutex guards it.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

// set moves the deadline to t (the zero time: none) and arranges for wake to be called once it has passed. wake may
// also be called for a deadline that was moved meanwhile: passed has the last word.
func (d *deadline) set(t time.Time, wake func()) {
	d.stop()
	d.at = time.Time{}
	if t.IsZero() {
		return
	}
	// On the monotonic clock, as the timer is: or a wall-clock time could still lie ahead when the timer fires.
	now := time.Now()
	wait := t.Sub(now)
	d.at = now.Add(wait)
	if wait > 0 {
		d.timer = time.AfterFunc(wait, wake)
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// stop gives back the timer. The deadline stays as it is.
func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
