package harness

import (
	"io"
	"os"
	"sync"
	"time"
)

// keptOutput is how much of the end of a process's output is kept, in bytes, of each of its two streams.
const keptOutput = 16 << 10

// output is one of a process's two streams: the pipe that it writes into, and the last of what came out of it. The pipe is ours and not
// one of os/exec, whose Wait waits for everybody who holds it: we are to know at once that the process has ended, whatever it left behind.
type output struct {
	tail
	read, write *os.File
	drained     chan struct{}
}

func newOutput() (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{read: r, write: w, drained: make(chan struct{})}
	go func() {
		defer close(o.drained)
		_, _ = io.Copy(&o.tail, r) // ends when nobody holds the other end any more, or with close
	}()
	return o, nil
}

// close closes our ends of the pipe, once everything was read or the patience is over: somebody may have got away with the other end.
func (o *output) close(patience time.Duration) {
	_ = o.write.Close() // closed already where the process was started
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-o.drained:
	case <-timer.C:
	}
	_ = o.read.Close()
	<-o.drained
}

// tail keeps the last of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
	lost bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - keptOutput; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.lost = true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost {
		return "…" + valid(string(t.kept))
	}
	return valid(string(t.kept))
}
