package relay

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Listener accepts the connections of relays. Its methods are safe for concurrent use.
type Listener struct {
	command  []string
	dir      string
	listener net.Listener
	token    string
	serve    func(*Conn)

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	settled atomic.Bool // from now on, a relay that ends was ended by us

	mu     sync.Mutex
	relays map[string]state // by the ids that they generate
}

// state is what both connections of a relay share.
type state struct {
	ctx    context.Context // done when serve has returned
	over   context.CancelFunc
	gone   context.Context // done when the process, and so its life line, has ended
	left   context.CancelFunc
	stderr chan net.Conn // takes the life line, once
	input  chan bool     // takes, once, whether the relay saw the end of its input
}

// Conn is the connection of a relay: its standard streams.
type Conn struct {
	net.Conn
	state   state
	settled *atomic.Bool
}

// Stderr returns the relay's standard error. Writes do not wait for the client to read, and fail when the relay has
// gone.
func (c *Conn) Stderr() io.Writer { return stderr{c.state} }

// Killed reports whether the relay ended before its input did. Call it once, after Read has returned io.EOF. It is
// false after [Listener.Settle].
func (c *Conn) Killed() bool {
	select {
	case sawEnd := <-c.state.input:
		return !sawEnd && !c.settled.Load()
	case <-c.state.ctx.Done():
		return false
	}
}

// Gone returns a channel that is closed when the relay's process has ended, which happens after the connection ends.
func (c *Conn) Gone() <-chan struct{} { return c.state.gone.Done() }

type stderr struct{ state }

func (s stderr) Write(p []byte) (int, error) {
	select {
	case line := <-s.stderr:
		s.stderr <- line // for the next write
		return line.Write(p)
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// Listen starts to accept relays. It calls serve for each one, on a goroutine of its own; serve closes the connection,
// and the relay ends when serve returns. A relay authenticates with a token from a file that only this user can read,
// because every user can see command lines.
func Listen(serve func(*Conn)) (_ *Listener, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("a relay needs the path of this program: %w", err)
	}
	l := &Listener{token: rand.Text(), serve: serve, relays: map[string]state{}}
	if l.dir, err = os.MkdirTemp("", "mcp-conform-relay-"); err != nil {
		return nil, fmt.Errorf("a relay needs a folder: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(l.dir)
		}
	}()
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("a relay needs a port: %w", err)
	}
	path := filepath.Join(l.dir, "relay")
	l.command = []string{self, Argument, path}
	if err = os.WriteFile(path, []byte(l.listener.Addr().String()+" "+l.token+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("a relay needs a file: %w", err), l.listener.Close())
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.running.Go(l.accept)
	return l, nil
}

// Command returns the command line that starts a relay, any number of times.
func (l *Listener) Command() []string { return l.command }

// Settle waits until all current relays have ended, or for the timeout.
func (l *Listener) Settle(timeout time.Duration) {
	defer l.settled.Store(true)
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	l.mu.Lock()
	relays := slices.Collect(maps.Values(l.relays))
	l.mu.Unlock()
	for _, relay := range relays {
		select {
		case <-relay.ctx.Done():
		case <-ctx.Done():
			return
		}
	}
}

// Close accepts no more relays, ends the current ones and waits for the calls of serve.
func (l *Listener) Close() error {
	l.cancel()
	err := l.listener.Close()
	l.running.Wait()
	return errors.Join(err, os.RemoveAll(l.dir))
}

func (l *Listener) accept() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		l.running.Go(func() {
			defer c.Close()
			defer context.AfterFunc(l.ctx, func() { c.Close() })()
			l.take(c)
		})
	}
}

func (l *Listener) take(c net.Conn) {
	kind, id := l.greet(c)
	switch kind {
	case dataLine:
		relay := l.relay(id)
		defer relay.over()
		if l.ctx.Err() == nil {
			l.serve(&Conn{c, relay, &l.settled})
		}
	case lifeLine:
		relay := l.relay(id)
		defer relay.left()
		defer context.AfterFunc(relay.ctx, func() { _ = c.(*net.TCPConn).CloseWrite() })() // ends the relay
		select {
		case relay.stderr <- c:
		case <-relay.ctx.Done():
			return
		}
		n, _ := io.ReadFull(c, make([]byte, 1))
		relay.input <- n == 1
		_, _ = io.Copy(io.Discard, c)
	}
}

// relay returns the state of a relay. Either of its connections may come first.
func (l *Listener) relay(id string) state {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.relays[id]
	if !ok {
		r.ctx, r.over = context.WithCancel(l.ctx)
		r.gone, r.left = context.WithCancel(l.ctx)
		r.stderr, r.input = make(chan net.Conn, 1), make(chan bool, 1)
		l.relays[id] = r
	}
	return r
}

// greet reads the first line of a connection and returns its kind and the relay's id; "" without the token.
func (l *Listener) greet(c net.Conn) (kind, id string) {
	_ = c.SetReadDeadline(time.Now().Add(connectTimeout)) // a socket has deadlines
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	line := make([]byte, len(hello(l.token, dataLine, l.token))) // ids are as long as tokens
	if _, err := io.ReadFull(c, line); err != nil {
		return "", ""
	}
	id = string(line[len(line)-1-len(l.token) : len(line)-1])
	for _, kind := range []string{dataLine, lifeLine} {
		if subtle.ConstantTimeCompare(line, []byte(hello(l.token, kind, id))) == 1 {
			return kind, id
		}
	}
	return "", ""
}
