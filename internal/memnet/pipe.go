package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// capacity is the number of bytes that a direction of a connection holds before Write waits, about as many as a
// kernel's loopback socket: enough for two peers that both write first, and few enough to notice a reader that has
// stopped.
const capacity = 256 << 10

// pipe is one direction of a connection: a bounded buffer.
type pipe struct {
	mu     sync.Mutex
	change sync.Cond // on mu: anything below changed, or a deadline passed

	buf  []byte // buf[read:] is yet to be read
	read int

	// writing is true during a Write. Concurrent Writes must not mix, and a mutex held while waiting would stop the
	// clock of a bubble.
	writing bool

	ended        bool // io.EOF follows buf
	writerClosed bool
	readerClosed bool

	readBy, writeBy deadline
}

func newPipe() *pipe {
	p := &pipe{}
	p.change.L = &p.mu
	return p
}

// Read waits for at least one byte.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.readerClosed:
			return 0, net.ErrClosed
		case p.readBy.passed():
			return 0, os.ErrDeadlineExceeded // before any data, as with a socket: net/http uses it to abort a read
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

// Write adds all of b, and waits while the buffer is full. With an error it returns the number of bytes that it added.
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

// writeError returns why nothing can be written, apart from a full buffer.
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

// compact drops the bytes that were read, once they are at least half of the buffer, so that it moves each byte at most
// once on average.
func (p *pipe) compact() {
	if p.read*2 >= len(p.buf) {
		p.buf = p.buf[:copy(p.buf, p.buf[p.read:])]
		p.read = 0
	}
}

// end half-closes the writing end.
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

// closeWriter closes the writing end. The bytes in the buffer can still be read.
func (p *pipe) closeWriter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.writerClosed = true, true
	p.writeBy.stop()
	p.change.Broadcast()
}

// closeReader closes the reading end, which loses the buffer, and reports whether it was open.
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

func (p *pipe) setReadDeadline(t time.Time) error  { return p.set(&p.readBy, t, &p.readerClosed) }
func (p *pipe) setWriteDeadline(t time.Time) error { return p.set(&p.writeBy, t, &p.writerClosed) }

// set moves the deadline of an end, unless the end is closed.
func (p *pipe) set(d *deadline, t time.Time, closed *bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *closed {
		return net.ErrClosed
	}
	d.set(t, p.wake)
	p.change.Broadcast()
	return nil
}

// wake lets waiting calls check their deadlines.
func (p *pipe) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change.Broadcast()
}
