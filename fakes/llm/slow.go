package llm

import (
	"errors"
	"slices"
	"time"
)

// Spread delivers the answer evenly over this duration, in pieces unrelated to events, the first together with the
// header. It replaces the pace between events.
func Spread(over time.Duration) Fault {
	return fault(func(d *delivery) error {
		switch {
		case over <= 0:
			return errNoTime
		case d.splits():
			return errSecondSplit
		}
		d.spread = over
		return nil
	}, "Spread(%v)", over)
}

const maxSpreadPieces = 64

var (
	errNoTime      = errors.New("takes no time: expected a time above 0")
	errSecondPause = errors.New("is a second pause: expected one")
)

func (d *delivery) pauses() bool { return d.pause > 0 || d.delay > 0 }

// PauseBefore waits this long before the answer.
func PauseBefore(pause time.Duration) Fault {
	return fault(func(d *delivery) error {
		switch {
		case pause <= 0:
			return errNoTime
		case d.pauses():
			return errSecondPause
		}
		d.delay = pause
		return nil
	}, "PauseBefore(%v)", pause)
}

// PauseAfter sends the header and n events, waits, then sends the rest. Of a plain answer it sends half before the
// pause, or nothing if n is 0. The pause comes before the last event at the latest.
func PauseAfter(n int, pause time.Duration) Fault {
	return fault(func(d *delivery) error {
		switch {
		case n < 0 || pause <= 0:
			return errors.New("has a negative count or takes no time: expected at least 0 events and a time above 0")
		case d.pauses():
			return errSecondPause
		}
		d.pause, d.pauseAt = pause, n
		return nil
	}, "PauseAfter(%d, %v)", n, pause)
}

// spreadOut splits the answer where it must wait.
func (o *outcome) spreadOut() {
	d := &o.delivery
	switch {
	case d.spread > 0:
		o.Chunks = splitEvenly(slices.Concat(o.Chunks...), maxSpreadPieces)
	case d.pause > 0 && !o.Stream:
		d.pauseAt = min(d.pauseAt, 1)
		o.Chunks = splitEvenly(slices.Concat(o.Chunks...), 2)
	}
}

// due is when a chunk of a Spread is due, after the header. A late piece does not delay the next one.
func (o *outcome) due(chunk int) time.Duration {
	return o.delivery.spread * time.Duration(chunk) / time.Duration(max(len(o.Chunks)-1, 1))
}

func splitEvenly(body []byte, n int) [][]byte {
	size := max((len(body)+n-1)/n, 1)
	return splitBySize(func() int { return size })(body)
}

func (o *outcome) pauseBefore(chunk int) time.Duration {
	if o.delivery.pause > 0 && chunk == min(o.delivery.pauseAt, len(o.Chunks)-1) {
		return o.delivery.pause
	}
	return 0
}
