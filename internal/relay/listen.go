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

// Listener is the end of the relays in this process: each that is started is a connection. Its methods are safe for concurrent use.
type Listener struct {
	command  []string
	dir      string
	listener net.Listener
	token    string
	serve    func(*Conn)

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	settled atomic.Bool // whoever is still there is about to be ended by us

	mu     sync.Mutex
	relays map[string]life // by what they call themselves
}

// life is that of a relay.
type life struct {
	ctx   context.Context
	over  context.CancelFunc
	gone  context.Context    // ends with the process, and so with its life line
	went  context.CancelFunc // likewise
	began chan net.Conn      // takes the life line, once
	input chan bool          // takes, once, whether the relay was there to see the end of its input
}

// Conn is the connection of a relay: its standard streams. Stderr is its standard error; what is written to it is not waited for.
type Conn struct {
	net.Conn
	life    life
	settled *atomic.Bool
}

// Stderr returns the relay's standard error. It fails when the relay has gone.
func (c *Conn) Stderr() io.Writer { return stderr{c.life} }

// Killed reports, once all was read, whether the relay was ended before its input was. It may be called once. What is ended after [Listener.Settle] is none of
// its business.
func (c *Conn) Killed() bool {
	select {
	case seen := <-c.life.input:
		return !seen && !c.settled.Load()
	case <-c.life.ctx.Done():
		return false
	}
}

// Gone is closed when the relay's process ends, as it does behind the connection.
func (c *Conn) Gone() <-chan struct{} { return c.life.gone.Done() }

type stderr struct{ life }

func (s stderr) Write(p []byte) (int, error) {
	select {
	case line := <-s.began:
		s.began <- line // for the next one
		return line.Write(p)
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// Listen begins to take relays, of which each is served by a call of serve, on a goroutine of its own; serve closes the connection, and
// the relay ends when serve returns. Whoever wants to connect has to show a token, which is in a file that only this
// user can read: command lines are for everybody to see.
func Listen(serve func(*Conn)) (_ *Listener, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot find itself, to be launched as a server: %w", err)
	}
	l := &Listener{token: rand.Text(), serve: serve, relays: map[string]life{}}
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

// Command is the command line that starts a relay. It may be started any number of times.
func (l *Listener) Command() []string { return l.command }

// Settle waits, so long at most, until the relays that there are have come to their end.
func (l *Listener) Settle(patience time.Duration) {
	defer l.settled.Store(true)
	patient, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	l.mu.Lock()
	lives := slices.Collect(maps.Values(l.relays))
	l.mu.Unlock()
	for _, life := range lives {
		select {
		case <-life.ctx.Done():
		case <-patient.Done():
			return
		}
	}
}

// Close takes no more relays, ends those that there are and waits for what serves them.
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

// take serves a connection of a relay, or ends with the other one.
func (l *Listener) take(c net.Conn) {
	kind, id := l.greet(c)
	switch kind {
	case dataLine:
		life := l.relay(id)
		defer life.over()
		if l.ctx.Err() == nil {
			l.serve(&Conn{c, life, &l.settled})
		}
	case lifeLine:
		life := l.relay(id)
		defer life.went()
		defer context.AfterFunc(life.ctx, func() { _ = c.(*net.TCPConn).CloseWrite() })() // the relay ends, and with it this line
		select {
		case life.began <- c:
		case <-life.ctx.Done():
			return
		}
		said, _ := io.ReadFull(c, make([]byte, 1))
		life.input <- said == 1
		_, _ = io.Copy(io.Discard, c)
	}
}

// relay is a relay's life, which either of its connections may be the first to tell of.
func (l *Listener) relay(id string) life {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.relays[id]
	if !ok {
		r.ctx, r.over = context.WithCancel(l.ctx)
		r.gone, r.went = context.WithCancel(l.ctx)
		r.began, r.input = make(chan net.Conn, 1), make(chan bool, 1)
		l.relays[id] = r
	}
	return r
}

// greet reads the first line of a connection and returns what it is for, and for which relay; nothing for one that does not have the token.
func (l *Listener) greet(c net.Conn) (kind, id string) {
	_ = c.SetReadDeadline(time.Now().Add(connectTimeout)) // a socket has deadlines
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	said := make([]byte, len(hello(l.token, dataLine, l.token))) // ids are as long as tokens
	if _, err := io.ReadFull(c, said); err != nil {
		return "", ""
	}
	id = string(said[len(said)-1-len(l.token) : len(said)-1])
	for _, kind := range []string{dataLine, lifeLine} {
		if subtle.ConstantTimeCompare(said, []byte(hello(l.token, kind, id))) == 1 {
			return kind, id
		}
	}
	return "", ""
}
