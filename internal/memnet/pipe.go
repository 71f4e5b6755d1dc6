package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// capacity is how many bytes one direction of a connection holds before Write waits, about what a kernel gives a loopback
// socket: enough that two peers may both write first, and little enough that a reader who stopped is noticed.
const capacity = 256 << 10

// pipe is one direction of a connection: a bounded buffer, written at one end and read at the other.
type pipe struct {
	mu     sync.Mutex
	change sync.Cond // on mu: anything below changed, or a deadline passed

	buf  []byte // buf[read:] is written and not yet read
	read int

	// writing is true while a Write has bytes to go. Two Writes at once must not mix, and a mutex held while waiting
	// would stop the clock of a bubble.
	writing bool

	ended        bool // no more will be written: end of file, after what is in buf
	writerClosed bool // the writing end is closed altogether
	readerClosed bool

	readBy, writeBy deadline
}

func newPipe() *pipe {
	p := &pipe{}
	p.change.L = &p.mu
	return p
}

// Read takes what is there, waiting for at least one byte.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.readerClosed:
			return 0, net.ErrClosed
		case p.readBy.passed():
			return 0, os.ErrDeadlineExceeded // before any data, as with a socket: net/http aborts a read by it
		case len(b) == 0:
			return 0, nil
		case p.read < len(p.buf):
			n := copy(b, p.buf[p.read:])
			p.read += n
			p.change.Broadcast()
			return n, nil
		case p.ended:
			return 0, io.EOF
		}
		p.change.Wait()
	}
}

// Write adds all of b, waiting while the buffer is full. On an error it returns how much was added before.
func (p *pipe) Write(b []byte) (written int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.writing {
		if err := p.writeError(); err != nil {
			return 0, err
		}
		p.change.Wait()
	}
	p.writing = true
	defer func() {
		p.writing = false
		p.change.Broadcast()
	}()
	for {
		if err := p.writeError(); err != nil {
			return written, err
		}
		if n := min(len(b)-written, capacity-(len(p.buf)-p.read)); n > 0 {
			p.compact()
			p.buf = append(p.buf, b[written:written+n]...)
			written += n
			p.change.Broadcast()
		}
		if written == len(b) {
			return written, nil
		}
		p.change.Wait()
	}
}

// writeError says why nothing can be written now, other than for want of room.
func (p *pipe) writeError() error {
	switch {
	case p.writerClosed:
		return net.ErrClosed
	case p.writeBy.passed():
		return os.ErrDeadlineExceeded
	case p.ended || p.readerClosed:
		return syscall.EPIPE
	}
	return nil
}

// compact drops what was read, once that is at least half of the buffer: each byte is moved at most once on average.
func (p *pipe) compact() {
	if p.read*2 >= len(p.buf) {
		p.buf = p.buf[:copy(p.buf, p.buf[p.read:])]
		p.read = 0
	}
}

// end is the half close of the writing end.
func (p *pipe) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writerClosed {
		return net.ErrClosed
	}
	p.ended = true
	p.change.Broadcast()
	return nil
}

// closeWriter closes the writing end. What was written can still be read.
func (p *pipe) closeWriter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.writerClosed = true, true
	p.writeBy.stop()
	p.change.Broadcast()
}

// closeReader closes the reading end and reports whether it was open. What was written is lost, and so is what will be.
func (p *pipe) closeReader() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := !p.readerClosed
	p.readerClosed = true
	p.buf, p.read = nil, 0
	p.readBy.stop()
	p.change.Broadcast()
	return was
}

func (p *pipe) setReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readerClosed {
		return net.ErrClosed
	}
	p.readBy.set(t, p.wake)
	p.change.Broadcast()
	return nil
}

func (p *pipe) setWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writerClosed {
		return net.ErrClosed
	}
	p.writeBy.set(t, p.wake)
	p.change.Broadcast()
	return nil
}

// wake lets those who wait look at the clock.
func (p *pipe) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change.Broadcast()
}
