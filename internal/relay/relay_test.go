package relay_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// process is a relay that was launched as a client launches its server.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
	err bytes.Buffer
}

func launch(t *testing.T, command []string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(command[0], command[1:]...)}
	p.cmd.Env = []string{} // as some SDKs do
	p.cmd.Stderr = &p.err
	var err error
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	p.out, err = p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// within fails the test when a channel is still open after half a minute.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		require.FailNow(t, "the relay did not end")
		panic("not reached")
	}
}

// ends waits for the end of the relay and returns its exit status.
func (p *process) ends() int {
	p.t.Helper()
	over := make(chan error, 1)
	go func() { over <- p.cmd.Wait() }()
	within(p.t, over)
	return p.cmd.ProcessState.ExitCode()
}

// listen serves relays with a function.
func listen(t *testing.T, serve func(*relay.Conn)) *relay.Listener {
	t.Helper()
	l, err := relay.Listen(func(c *relay.Conn) {
		defer c.Close()
		serve(c)
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// shout answers each line in upper case, and the end with "bye".
func shout(c *relay.Conn) {
	lines := bufio.NewScanner(c)
	lines.Buffer(nil, 2<<20)
	for lines.Scan() {
		_, _ = io.WriteString(c, strings.ToUpper(lines.Text())+"\n")
	}
	_, _ = io.WriteString(c, "bye")
}

func TestBytesAndTheirEndGoBothWays(t *testing.T) {
	l := listen(t, shout)
	first, second := launch(t, l.Command()), launch(t, l.Command())
	out := bufio.NewReader(first.out)
	for _, line := range []string{"hello\n", "\x00\r\n", strings.Repeat("x", 1<<20) + "\n"} {
		go func() { _, _ = io.WriteString(first.in, line) }()
		got, err := out.ReadString('\n')
		require.NoError(t, err)
		require.True(t, strings.EqualFold(strings.ReplaceAll(line, "\r", ""), got))
	}
	require.NoError(t, first.in.Close())
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "bye", string(rest), "the server can write after the end of its input")
	require.Zero(t, first.ends())
	require.Empty(t, first.err.String())
	_, err = io.WriteString(second.in, "me too\n")
	require.NoError(t, err)
	got, err := bufio.NewReader(second.out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ME TOO\n", got, "the second relay has its own connection")
}

func TestRelayEndsWithItsServer(t *testing.T) {
	writes := func(n int) func(*relay.Conn) { return func(c *relay.Conn) { _, _ = c.Write(make([]byte, n)) } }
	for name, c := range map[string]struct {
		serve func(*relay.Conn)
		close bool
	}{
		"serve returns": {func(*relay.Conn) {}, false},
		"serve returns, the client does not read":       {writes(1 << 17), false},
		"the listener closes":                           {func(c *relay.Conn) { _, _ = io.Copy(io.Discard, c) }, true},
		"the listener closes, the client does not read": {writes(64 << 20), true},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{})
			l := listen(t, func(conn *relay.Conn) {
				close(begun)
				c.serve(conn)
			})
			p := launch(t, l.Command())
			<-begun
			if c.close {
				require.NoError(t, l.Close())
			}
			over := make(chan error, 1)
			go func() { _, err := p.cmd.Process.Wait(); over <- err }() // without reading its output
			require.NoError(t, within(t, over))
		})
	}
}

func TestStderrReachesTheClient(t *testing.T) {
	begun, failed := make(chan struct{}, 2), make(chan error, 1)
	l := listen(t, func(c *relay.Conn) {
		begun <- struct{}{}
		_, _ = io.WriteString(c.Stderr(), "first\nsecond\n")
		_, _ = io.Copy(io.Discard, c)
		var err error
		for range 20 { // a connection accepts some bytes before it notices that its peer has gone
			_, err = io.WriteString(c.Stderr(), strings.Repeat("x", 1<<20)+"\n")
		}
		failed <- err
	})
	p := launch(t, l.Command())
	<-begun
	require.NoError(t, p.in.Close())
	require.NoError(t, <-failed)
	require.Zero(t, p.ends())
	require.True(t, strings.HasPrefix(p.err.String(), "first\nsecond\nxxx"))
	require.Len(t, p.err.String(), len("first\nsecond\n")+20*(1<<20+1), "complete, although the server has ended")

	p = launch(t, l.Command())
	<-begun
	require.NoError(t, p.cmd.Process.Kill())
	require.Error(t, <-failed)
}

func TestKilledReportsARelayThatEndsBeforeItsInput(t *testing.T) {
	for _, settled := range []bool{false, true} {
		begun, killed := make(chan struct{}, 1), make(chan bool)
		l := listen(t, func(c *relay.Conn) {
			begun <- struct{}{}
			_, _ = io.Copy(io.Discard, c)
			killed <- c.Killed()
		})
		p := launch(t, l.Command())
		<-begun
		require.NoError(t, p.in.Close())
		require.False(t, <-killed)
		require.Zero(t, p.ends())

		p = launch(t, l.Command())
		<-begun
		if settled {
			l.Settle(time.Nanosecond)
		}
		require.NoError(t, p.cmd.Process.Kill())
		require.Equal(t, !settled, <-killed)
	}
}

func TestConnectionNeedsTheToken(t *testing.T) {
	served := make(chan struct{}, 100)
	l := listen(t, func(*relay.Conn) { served <- struct{}{} })
	raw, err := os.ReadFile(l.Command()[2])
	require.NoError(t, err)
	address, token, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	require.NotContains(t, strings.Join(l.Command(), " "), token, "every user can see command lines")
	if runtime.GOOS != "windows" { // which has no such permissions
		info, err := os.Stat(l.Command()[2])
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	host, _, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", host)
	for _, hello := range []string{"", "\n", token + "\n",
		rand.Text() + " data " + rand.Text() + "\n", token + " show " + rand.Text() + "\n",
		"GET / HTTP/1.1\r\nHost: " + address + "\r\n\r\n" + strings.Repeat("x", 100)} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(c, hello)
		require.NoError(t, err)
		_ = c.(*net.TCPConn).CloseWrite() // fails if the listener has closed it
		reply, _ := io.ReadAll(c)         // may be reset
		require.Empty(t, reply, "%q", hello)
		require.NoError(t, c.Close())
	}
	require.Empty(t, served)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, l.Close(), "Close does not wait for a connection that sends nothing")
}

func TestRelayReportsThatTheSessionIsOver(t *testing.T) {
	l := listen(t, shout)
	command := l.Command()
	raw, err := os.ReadFile(command[2])
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoDirExists(t, filepath.Dir(command[2]))

	path := filepath.Join(t.TempDir(), "relay")
	for _, c := range []struct{ text, want string }{
		{"", "the relay to the server under test: the session is over: open "},
		{string(raw), "the session is over: dial tcp "},
		{"nothing", path + " has no address and token"},
	} {
		if c.text != "" {
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		}
		late := launch(t, []string{command[0], command[1], path})
		require.Equal(t, 1, late.ends())
		require.Contains(t, late.err.String(), c.want)
	}
}

func TestOnlyTheWholeCommandLineMakesARelay(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := launch(t, []string{self, "-test.run=^$", relay.Argument, "path"})
	out, err := io.ReadAll(p.out)
	require.NoError(t, err)
	require.Contains(t, string(out), "PASS", "main runs")
	require.Zero(t, p.ends())
}

func TestGoneIsClosedWhenTheProcessEnds(t *testing.T) {
	conns, end := make(chan *relay.Conn, 1), make(chan struct{})
	l := listen(t, func(c *relay.Conn) {
		conns <- c
		<-end
	})
	p := launch(t, l.Command())
	c := <-conns
	select {
	case <-c.Gone():
		require.Fail(t, "the process is still running")
	default:
	}
	close(end)
	within(t, c.Gone())
	require.Zero(t, p.ends())
}
