package harness

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// How much of a process's output is kept of each of its two streams, in bytes: the beginning, where the cause often stands, and the end.
const (
	keptHead = 4 << 10
	keptTail = 16 << 10
)

// output is one of a process's two streams: the pipe that it writes into, and what is kept of what came out of it. The pipe is ours and not
// one of os/exec, whose Wait waits for everybody who holds it: we are to know at once that the process has ended, whatever it left behind.
type output struct {
	kept        ends
	read, write *os.File
	drained     chan struct{}
}

// newOutput makes a stream that tells the environment what the lines in it say that are the contract's; nil where none are expected.
func newOutput(env *Env) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{read: r, write: w, drained: make(chan struct{})}
	go func() {
		defer close(o.drained)
		if env == nil {
			_, _ = io.Copy(&o.kept, r) // ends when nobody holds the other end any more, or with close
			return
		}
		lines := &outcomes{to: &o.kept, report: env.Report, announce: env.announce}
		_, _ = io.Copy(lines, r)
		lines.flush()
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

// ends keeps the beginning and the end of what is written to it. It is safe for concurrent use.
type ends struct {
	mu         sync.Mutex
	head, tail []byte
	dropped    int64
}

func (e *ends) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := min(len(p), keptHead-len(e.head))
	e.head = append(e.head, p[:first]...)
	e.tail = append(e.tail, p[first:]...)
	if len(e.tail) > 4*keptTail { // not with every line, which would be slow
		e.trim()
	}
	return len(p), nil
}

// trim drops what is too much.
func (e *ends) trim() {
	if over := len(e.tail) - keptTail; over > 0 {
		e.tail = append(e.tail[:0], e.tail[over:]...)
		e.dropped += int64(over)
	}
}

// String returns what was kept, with a line that says how much is missing between the two.
func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.trim(); e.dropped == 0 {
		return valid(string(e.head) + string(e.tail))
	}
	return fmt.Sprintf("%s\n… %d bytes are left out here …\n%s", valid(string(e.head)), e.dropped, valid(string(e.tail)))
}
