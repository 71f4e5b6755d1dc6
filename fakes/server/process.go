package server

import (
	"fmt"
	"io"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The methods that a connection to ServeConn may have when the client launched a process for it.
type (
	// withStderr has the standard error of the process.
	withStderr interface{ Stderr() io.Writer }
	// killable reports whether the process was killed before its input ended.
	killable interface{ Killed() bool }
	// exiting has a channel that is closed when the process exits.
	exiting interface{ Gone() <-chan struct{} }
)

// exitTimeout is how long CloseConnection waits for the process to exit.
const exitTimeout = 10 * time.Second

// OverStdio reports whether the call came over a connection with one message a line, as over stdio, and not over HTTP.
func (t Transport) OverStdio() bool { return t.s.lines }

// LogToStderr writes a line to the server's standard error, where a server may write any text (2025-11-25,
// basic/transports#stdio; 2026-07-28, basic/transports/stdio). It is recorded as [trace.MarkStderr] and has reached the
// client when it returns. Over HTTP, and on a connection without standard error, it returns ErrNoStream.
func (t Transport) LogToStderr(text string) error {
	c := t.s.protocol.pending().conn
	if c == nil {
		return ErrNoStream
	}
	to, ok := c.rwc.(withStderr)
	if !ok {
		return ErrNoStream
	}
	t.s.Mark(trace.MarkStderr, text)
	if _, err := io.WriteString(to.Stderr(), text+"\n"); err != nil {
		return fmt.Errorf("%w: %w", ErrNoStream, err)
	}
	return nil
}

// CloseConnection closes the connection of the call, or of its latest round, as a server does that exits unexpectedly.
// All calls on it are abandoned, except modern ones that wait for a retry. The trace marks the end as hostile.
// CloseConnection waits up to ten seconds for the server's process to exit. Over HTTP it breaks the connection of the
// response, in the middle of a stream; other calls go on.
func (t Transport) CloseConnection() error {
	x := t.s.protocol.pending()
	c := x.conn
	if c == nil {
		x.cut(true)
		return nil
	}
	c.turn <- struct{}{}
	if !c.closed.Swap(true) {
		t.s.server.frame(t.s.scope(), trace.Frame{Dir: trace.ToClient, Session: c.name, Closed: true, Hostile: true})
	}
	c.cancel()
	_ = c.rwc.Close()
	<-c.turn
	if process, ok := c.rwc.(exiting); ok {
		timeout := time.NewTimer(exitTimeout)
		defer timeout.Stop()
		select {
		case <-process.Gone():
		case <-t.s.server.ctx.Done(): // Close does not wait for a process
		case <-timeout.C:
		}
	}
	return nil
}

func (c *legacyCall) pending() *exchange { return c.x }
