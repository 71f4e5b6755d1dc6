package trace

import (
	"sync"
	"time"
)

// DefaultLimit is how many bytes of payload a [Recorder] keeps when no limit is given.
const DefaultLimit = 256 << 20

// eventCost is what an event counts beside its payload.
const eventCost = 128

// Recorder writes a trace. It is safe for concurrent use. Payloads are kept as they are given, not copied: do not
// change them afterwards. A nil Recorder records nothing; the zero Recorder is of no use, make one with [NewRecorder].
type Recorder struct {
	mu      sync.Mutex
	start   time.Time
	header  Header
	events  []Event
	seq     map[string]int64
	left    int64
	dropped int64
	stopped bool
}

// NewRecorder returns a recorder that keeps at most limit bytes (0 or less: [DefaultLimit]). Its clock starts now.
func NewRecorder(header Header, limit int64) *Recorder {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Recorder{start: time.Now(), header: header, seq: map[string]int64{}, left: limit}
}

// Record appends an event, whose Seq and At it sets, and returns its name. Past the recorder's limit events are counted but
// not kept, except those of a Process, of which there are few and without which a trace says nothing of its end.
// What is not kept has no name: the zero Ref.
func (r *Recorder) Record(e Event) Ref {
	if r == nil {
		return Ref{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return Ref{}
	}
	r.left -= eventCost + e.size()
	if r.left < 0 && e.Process == nil {
		r.dropped++
		return Ref{}
	}
	r.seq[e.Case]++
	e.Seq = r.seq[e.Case]
	e.At = time.Since(r.start)
	r.events = append(r.events, e)
	return e.Ref()
}

// Count returns how many events have been kept so far; 0 for a nil Recorder.
func (r *Recorder) Count() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

func (e *Event) size() int64 {
	switch {
	case e.Frame != nil:
		return int64(len(e.Frame.Raw))
	case e.Request != nil:
		return int64(len(e.Request.Body))
	case e.Chunk != nil:
		return int64(len(e.Chunk.Data))
	case e.Mark != nil:
		return int64(len(e.Mark.Text))
	}
	return 0
}

// Stop ends the recording and returns what was recorded. What is recorded later is dropped silently: a
// client that is being killed may go on for a moment. Stop may be called again, with the same answer.
// That of a nil Recorder is an empty trace, which is not Whole.
func (r *Recorder) Stop() *Trace {
	if r == nil {
		return &Trace{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	return &Trace{Header: r.header, Events: r.events, Whole: r.dropped == 0, Dropped: r.dropped}
}
