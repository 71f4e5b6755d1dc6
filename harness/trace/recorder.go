package trace

import (
	"sync"
	"sync/atomic"
	"time"
)

// DefaultLimit is how many bytes of payload a [Recorder] keeps when no limit is given.
const DefaultLimit = 256 << 20

// eventCost is what an event counts besides its payload, in bytes.
const eventCost = 128

// Recorder writes a trace. It is safe for concurrent use. It keeps payloads without a copy: do not change them
// afterwards. A nil Recorder records nothing; the zero Recorder is not usable.
type Recorder struct {
	mu      sync.Mutex
	start   time.Time
	header  Header
	events  []Event
	seq     map[string]int64
	left    int64
	dropped int64
	stopped bool
	shared  *atomic.Int64 // nil: no limit
}

// NewRecorder returns a recorder that keeps at most limit bytes (0 or less: [DefaultLimit]). Its clock starts now.
func NewRecorder(header Header, limit int64) *Recorder {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Recorder{start: time.Now(), header: header, seq: map[string]int64{}, left: limit}
}

// large is the size of a payload that counts against the limit of [Recorder.ShareLarge].
const large = 1 << 20

// ShareLarge limits payloads of more than 1 MiB to the bytes in left, which other recorders share. Call it first.
func (r *Recorder) ShareLarge(left *atomic.Int64) { r.shared = left }

// Record appends an event, sets its Seq and At, and returns its name. Beyond the limit it counts events without
// keeping them, and returns the zero Ref. It always keeps Process events: they are few, and say how the client ended.
func (r *Recorder) Record(e Event) Ref {
	if r == nil {
		return Ref{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return Ref{}
	}
	size := e.size()
	r.left -= eventCost + size
	if r.left < 0 && e.Process == nil || size > large && r.shared != nil && r.shared.Add(-size) < 0 {
		r.dropped++
		return Ref{}
	}
	r.seq[e.Case]++
	e.Seq = r.seq[e.Case]
	e.At = time.Since(r.start)
	r.events = append(r.events, e)
	return e.Ref()
}

// Count returns how many events were kept so far; 0 for a nil Recorder.
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
	case e.Front != nil:
		return int64(len(e.Front.Raw))
	case e.Request != nil:
		return int64(len(e.Request.Body))
	case e.Chunk != nil:
		return int64(len(e.Chunk.Data))
	case e.Mark != nil:
		return int64(len(e.Mark.Text))
	}
	return 0
}

// Stop ends the recording and returns the trace; repeated calls return the same. Later events are dropped silently,
// because a client that is being killed may continue for a moment. A nil Recorder returns an empty trace, not Whole.
func (r *Recorder) Stop() *Trace {
	if r == nil {
		return &Trace{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	return &Trace{Header: r.header, Events: r.events, Whole: r.dropped == 0, Dropped: r.dropped}
}
