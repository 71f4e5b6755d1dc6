package server

import (
	"fmt"
	"io"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// stderr is what a connection may have beside what is read and written: the standard error of the process that the client launched.
type stderr interface{ Stderr() io.Writer }

// killable is a connection to a process that may have been ended by something else than the end of its input.
type killable interface{ Killed() bool }

// leaving is a connection to a process that takes a while to end behind it. Gone is closed when it does.
type leaving interface{ Gone() <-chan struct{} }

// leavePatience is how long that is waited for.
const leavePatience = 10 * time.Second

// OverStdio reports whether the call came over a connection on which each message is a line, as over stdio, and not over HTTP.
func (s *Session) OverStdio() bool { return s.lines }

// Log writes a line to the server's standard error, where servers write what they like (2025-11-25, basic/transports#stdio;
// 2026-07-28, basic/transports/stdio). It is recorded as [trace.MarkStderr], and has come to the client's end when Log returns. It returns ErrNoStream
// where there is no standard error: over HTTP, and over a connection that has none.
func (s *Session) Log(text string) error {
	c := s.carrier.connection()
	if c == nil {
		return ErrNoStream
	}
	to, ok := c.rwc.(stderr)
	if !ok {
		return ErrNoStream
	}
	s.Mark(trace.MarkStderr, text)
	if _, err := io.WriteString(to.Stderr(), text+"\n"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoStream, err)
	}
	return nil
}

// HangUp ends the connection that the call came on, or the latest request of it in the second era, as a server does that ends unexpectedly: what is
// under way on it is given up, but for calls of the second era that wait for a retry. The trace has it as an end of the stream that was meant. It
// waits for the end of a process that stands for the server, ten seconds at most. It returns ErrNoStream over HTTP.
func (s *Session) HangUp() error {
	c := s.carrier.connection()
	if c == nil {
		return ErrNoStream
	}
	c.turn <- struct{}{}
	if !c.closed.Swap(true) {
		s.server.frame(s.scope(), trace.Frame{Dir: trace.ToClient, Session: c.name, Closed: true, Hostile: true})
	}
	c.cancel()
	_ = c.rwc.Close()
	<-c.turn
	if process, ok := c.rwc.(leaving); ok {
		patience := time.NewTimer(leavePatience)
		defer patience.Stop()
		select {
		case <-process.Gone():
		case <-patience.C:
		}
	}
	return nil
}

func (c *legacyCall) connection() *conn { return c.x.conn }

func (c *modernCall) connection() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.x.conn
}
