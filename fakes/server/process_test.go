package server_test

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestHangUpClosesTheConnection(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		r := start(t, tool("end", does(func(s *server.Session) {
			require.True(t, s.Transport().OverStdio())
			require.ErrorIs(t, s.Transport().LogToStderr("text"), server.ErrNoStream, "this connection has no standard error")
			require.NoError(t, s.Transport().CloseConnection())
			<-s.Context().Done()
			require.NoError(t, s.Transport().CloseConnection(), "the second has no effect")
		})))
		p := r.connect(revision, sampling)
		p.call(1, "end")
		p.ends()
		r.until("end", "end")
		require.Equal(t, []*trace.Frame{{Dir: trace.ToClient, Session: "conn-1", Closed: true, Hostile: true}},
			r.frames(func(f *trace.Frame) bool { return f.Closed }))
	})
}

func TestHTTPHasNoProcess(t *testing.T) {
	inCall(t, bothProtocols[:1], nothing, func(s *server.Session) {
		require.False(t, s.Transport().OverStdio())
		require.ErrorIs(t, s.Transport().LogToStderr("text"), server.ErrNoStream)
	})
}

func TestHangUpBreaksTheResponse(t *testing.T) {
	for _, revision := range bothProtocols {
		r := start(t, tool("end", does(func(s *server.Session) { require.NoError(t, s.Transport().CloseConnection()) })))
		c := r.client(revision, nothing)
		reply := c.call(1, "end")
		_, err := io.ReadAll(reply.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		r.until("end", "end")
		closed := r.frames(func(f *trace.Frame) bool { return f.Closed })
		require.Len(t, closed, 1)
		require.True(t, closed[0].Hostile)
	}
}

// process is a connection to a process.
type process struct {
	io.ReadWriteCloser
	gone <-chan struct{}
}

func (p process) Gone() <-chan struct{} { return p.gone }

// hangUpWith calls a tool that uses CloseConnection with a process, and returns how long that takes.
func hangUpWith(t *testing.T, gone <-chan struct{}, before func()) (r *rig, took <-chan time.Duration) {
	done := make(chan time.Duration, 1)
	r = start(t, tool("end", does(func(s *server.Session) {
		before()
		began := time.Now()
		require.NoError(t, s.Transport().CloseConnection())
		done <- time.Since(began)
	})))
	ours, theirs := net.Pipe()
	go r.ServeConn(t.Context(), process{theirs, gone})
	_, err := io.WriteString(ours, dialect{revision: server.V20260728, capabilities: sampling}.calls(1, "end")+"\n")
	require.NoError(t, err)
	return r, done
}

func TestHangUpWaitsForTheProcess(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			gone := make(chan struct{})
			_, took := hangUpWith(t, gone, func() { time.AfterFunc(after, func() { close(gone) }) })
			require.Equal(t, want, <-took)
		})
	}
}

func TestCloseDoesNotWaitForTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r, _ := hangUpWith(t, make(chan struct{}), func() {})
		synctest.Wait()
		require.NoError(t, r.Close())
		require.Zero(t, time.Since(began))
	})
}
