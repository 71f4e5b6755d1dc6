package memnet

import (
	"net"
	"sync"
)

// listener passes new connections to Accept, in the order in which they were dialled.
type listener struct {
	network *Network
	addr    *net.TCPAddr
	mu      sync.Mutex
	change  sync.Cond // on mu: waiting or closed changed

	waiting []*conn // to be accepted
	closed  bool
}

func newListener(n *Network, port int) *listener {
	l := &listener{network: n, addr: address(port)}
	l.change.L = &l.mu
	return l
}

// connect returns the dialling end of a new connection; false when the listener is closed.
func (l *listener) connect(from *net.TCPAddr) (net.Conn, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false
	}
	there, back := newPipe(), newPipe()
	l.waiting = append(l.waiting, &conn{in: there, out: back, local: l.addr, remote: from})
	l.change.Signal()
	return &conn{in: back, out: there, local: from, remote: l.addr}, true
}

func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && !l.closed {
		l.change.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
	}
	c := l.waiting[0]
	l.waiting = l.waiting[1:]
	return c, nil
}

// Close implements [net.Listener]. It closes connections that are not accepted yet; accepted ones continue.
func (l *listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
	}
	l.closed = true
	pending := l.waiting
	l.waiting = nil
	l.change.Broadcast()
	l.mu.Unlock()
	l.network.forget(l.addr.Port)
	for _, c := range pending {
		_ = c.Close()
	}
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }
