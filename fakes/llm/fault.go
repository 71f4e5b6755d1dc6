package llm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Fault is something that goes wrong while an answer is delivered: see [Rule.Fault]. Its String is the call that made
// it.
//
// A cut ends an answer after a number of stream events. A plain answer or an error counts as one event: half of it is
// sent, or nothing if the number is 0. A stream always loses at least its last event.
type Fault struct {
	name  string
	apply func(*delivery) error
}

func (f Fault) String() string { return f.name }

func fault(apply func(*delivery) error, format string, args ...any) Fault {
	return Fault{fmt.Sprintf(format, args...), apply}
}

// StallBeforeHeaders sends nothing until the caller hangs up or the server closes.
func StallBeforeHeaders() Fault {
	return cutFault(cut{ending: stalls, silent: true}, "StallBeforeHeaders()")
}

// StallAfter sends the header and n events, then nothing until the caller hangs up or the server closes.
func StallAfter(n int) Fault { return cutFault(cut{ending: stalls, after: n}, "StallAfter(%d)", n) }

// ResetBeforeHeaders resets the connection instead of answering.
func ResetBeforeHeaders() Fault {
	return cutFault(cut{ending: resets, silent: true}, "ResetBeforeHeaders()")
}

// ResetAfter sends the header and n events, then resets the connection, or closes it on a network without resets.
func ResetAfter(n int) Fault { return cutFault(cut{ending: resets, after: n}, "ResetAfter(%d)", n) }

// TruncateAfter ends the answer after n events, as valid HTTP.
func TruncateAfter(n int) Fault {
	return cutFault(cut{ending: truncates, after: n}, "TruncateAfter(%d)", n)
}

// TruncateInside is TruncateAfter plus half of the next event. A plain answer is cut in the middle.
func TruncateInside(n int) Fault {
	return cutFault(cut{ending: truncates, after: n, half: true}, "TruncateInside(%d)", n)
}

// ErrorAfter sends n events, then the error as the provider sends it inside a stream, and ends the stream. If the
// answer is not a stream, or the provider has no such event, the error is the whole answer.
func ErrorAfter(n int, e *Error) Fault {
	if e == nil {
		return fault(func(*delivery) error { return errors.New("has no error to send") }, "ErrorAfter(%d, nil)", n)
	}
	copied := *e
	return cutFault(cut{ending: errs, after: n, err: &copied}, "ErrorAfter(%d, %d)", n, e.Status)
}

// SplitEveryByte sends each byte by itself, so that reads end inside characters, JSON tokens and lines.
func SplitEveryByte() Fault {
	return splitFault(func() splitter { return splitBySize(func() int { return 1 }) }, 0, "SplitEveryByte()")
}

// SplitAtRandom sends each event in pieces of 1 to 16 bytes. Equal seeds cut an answer equally.
func SplitAtRandom(seed int64) Fault {
	return splitFault(func() splitter {
		random := random(seed)
		return splitBySize(func() int { return 1 + random.IntN(16) })
	}, 0, "SplitAtRandom(%d)", seed)
}

// Drip sends pieces of that many bytes, with a wait between them.
func Drip(bytes int, wait time.Duration) Fault {
	if bytes < 1 || wait <= 0 {
		return fault(func(*delivery) error {
			return errors.New("never ends or never waits: expected at least 1 byte, and a wait above 0")
		}, "Drip(%d, %v)", bytes, wait)
	}
	return splitFault(func() splitter { return splitBySize(func() int { return bytes }) }, wait, "Drip(%d, %v)",
		bytes, wait)
}

// WrongContentType replaces the answer's content type; "" sends none.
func WrongContentType(mimeType string) Fault {
	return fault(func(d *delivery) error {
		if d.contentType != nil {
			return errors.New("is a second content type: expected one")
		}
		d.contentType = &mimeType
		return nil
	}, "WrongContentType(%q)", mimeType)
}

// delivery is the combination of a rule's faults. The zero value has none.
type delivery struct {
	names       string
	cut         cut
	split       func() splitter // nil keeps events whole
	between     time.Duration   // the pieces of an event
	contentType *string
	spread      time.Duration // duration of the whole answer; 0: the rule's pace
	pause       time.Duration // before event pauseAt, from 0
	pauseAt     int
	delay       time.Duration // before the header
}

// cut is an early end of an answer.
type cut struct {
	ending ending
	silent bool   // before the header
	after  int    // complete events to send
	half   bool   // plus half of the next
	err    *Error // that errs sends
}

type ending string

const (
	whole     ending = ""
	stalls    ending = "stall"
	resets    ending = "reset"
	truncates ending = "truncate"
	errs      ending = "error"
)

// splitter cuts an event into pieces. It may keep state between events.
type splitter func(event []byte) [][]byte

func splitBySize(next func() int) splitter {
	return func(event []byte) [][]byte {
		var pieces [][]byte
		for len(event) > 0 {
			n := min(next(), len(event))
			pieces, event = append(pieces, event[:n]), event[n:]
		}
		return pieces
	}
}

func random(seed int64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0)) }

func cutFault(c cut, format string, args ...any) Fault {
	return fault(func(d *delivery) error {
		switch {
		case d.cut.ending != whole:
			return errors.New("also ends the answer: expected one such fault")
		case c.after < 0:
			return fmt.Errorf("comes after %d events: expected at least 0", c.after)
		case c.err != nil && (c.err.Status < 400 || c.err.Status > 599):
			return fmt.Errorf("has the status %d: expected one from 400 to 599", c.err.Status)
		}
		d.cut = c
		return nil
	}, format, args...)
}

func splitFault(split func() splitter, between time.Duration, format string, args ...any) Fault {
	return fault(func(d *delivery) error {
		if d.splits() {
			return errSecondSplit
		}
		d.split, d.between = split, between
		return nil
	}, format, args...)
}

func (d *delivery) splits() bool { return d.split != nil || d.spread > 0 }

var errSecondSplit = errors.New("also splits events: expected one such fault")

// deliver combines faults, or reports the first that is invalid.
func deliver(faults []Fault) (delivery, error) {
	var d delivery
	for _, f := range faults {
		if f.apply == nil {
			return d, errors.New("has a zero Fault: create one with a function such as StallAfter")
		}
		if err := f.apply(&d); err != nil {
			return d, fmt.Errorf("has the fault %v, which %w", f, err)
		}
		if d.names != "" {
			d.names += ", "
		}
		d.names += f.name
	}
	return d, nil
}

// cutShort drops the part of the answer after the cut.
func (o *outcome) cutShort(codec dialect.Codec, x *Exchange, req *Request, reply *dialect.Reply) {
	c := o.delivery.cut
	switch {
	case c.ending == errs:
		event, sent := []byte(nil), first(o.Chunks, c.after)
		if o.Stream {
			event = codec.EncodeErrorEvent(req, reply, len(sent), c.err)
		}
		if event == nil {
			o.Answer = codec.EncodeError(c.err.At(x.url))
			return
		}
		o.Chunks = slices.Concat(sent, [][]byte{event})
	case o.Stream:
		events := first(o.Chunks, c.after)
		if c.half {
			next := o.Chunks[len(events)]
			events = append(events, next[:len(next)/2])
		}
		o.Chunks = events
	default:
		body := slices.Concat(o.Chunks...)
		if c.ending != truncates {
			header := o.Header.Clone()
			header.Set("Content-Length", strconv.Itoa(len(body))) // promises more than is sent
			o.Header = header
		}
		o.Chunks = nil
		if c.after > 0 || c.half {
			o.Chunks = [][]byte{body[:len(body)/2]}
		}
	}
}

// first copies the first n events, but never the last of all.
func first(events [][]byte, n int) [][]byte {
	return slices.Clone(events[:max(0, min(n, len(events)-1))])
}
