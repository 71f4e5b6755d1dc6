package memnet

import (
	"errors"
	"io"
	"net"
	"time"
)

// conn is one end of a connection. It is safe for concurrent use.
type conn struct {
	in, out       *pipe
	local, remote *net.TCPAddr
}

// Read implements [net.Conn]. After the peer's Close or CloseWrite it returns the remaining bytes, then io.EOF.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	return n, c.wrap("read", err)
}

// Write implements [net.Conn]. It waits while the peer has 256 KiB to read. After the peer's Close, or its own end's
// CloseWrite, the error wraps [syscall.EPIPE].
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.out.Write(b)
	return n, c.wrap("write", err)
}

// CloseWrite ends the direction to the peer, which reads io.EOF and can still write.
func (c *conn) CloseWrite() error { return c.wrap("close", c.out.end()) }

// Close implements [net.Conn]. It closes both directions and does not wait.
func (c *conn) Close() error {
	open := c.in.closeReader()
	c.out.closeWriter()
	if !open {
		return c.wrap("close", net.ErrClosed)
	}
	return nil
}

func (c *conn) LocalAddr() net.Addr { return c.local }

func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements [net.Conn]. It also ends a Read that is waiting.
func (c *conn) SetReadDeadline(t time.Time) error { return c.wrap("set", c.in.setReadDeadline(t)) }

// SetWriteDeadline implements [net.Conn]. It also ends a Write that is waiting.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.wrap("set", c.out.setWriteDeadline(t)) }

// wrap returns an error as the net package does: io.EOF stays bare.
func (c *conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}
