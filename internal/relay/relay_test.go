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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// launched is a relay that was started as a client starts its server.
type launched struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
	err bytes.Buffer
}

func launch(t *testing.T, command []string) *launched {
	t.Helper()
	l := &launched{t: t, cmd: exec.Command(command[0], command[1:]...)}
	l.cmd.Env = []string{} // as some SDKs do
	l.cmd.Stderr = &l.err
	var err error
	l.in, err = l.cmd.StdinPipe()
	require.NoError(t, err)
	l.out, err = l.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, l.cmd.Start())
	t.Cleanup(func() { _ = l.cmd.Process.Kill() })
	return l
}

// ends waits for the relay's end and returns its exit status.
func (l *launched) ends() int {
	l.t.Helper()
	over := make(chan error, 1)
	go func() { over <- l.cmd.Wait() }()
	select {
	case <-over:
	case <-time.After(30 * time.Second):
		require.Fail(l.t, "the relay is still there")
	}
	return l.cmd.ProcessState.ExitCode()
}

// listen serves relays with a function.
func listen(t *testing.T, serve func(io.ReadWriteCloser)) *relay.Listener {
	t.Helper()
	l, err := relay.Listen(func(c *relay.Conn) {
		defer c.Close()
		serve(c)
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // where the test has not
	return l
}

// shout answers each line in upper case, and the end with a last word.
func shout(c io.ReadWriteCloser) {
	lines := bufio.NewScanner(c)
	lines.Buffer(nil, 2<<20)
	for lines.Scan() {
		_, _ = io.WriteString(c, strings.ToUpper(lines.Text())+"\n")
	}
	_, _ = io.WriteString(c, "bye")
}

func TestBytesGoBothWaysAndEachEndIsPassedOn(t *testing.T) {
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
	require.Equal(t, "bye", string(rest), "what is said after the end of the input arrives")
	require.Zero(t, first.ends())
	require.Empty(t, first.err.String())
	_, err = io.WriteString(second.in, "me too\n")
	require.NoError(t, err)
	got, err := bufio.NewReader(second.out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ME TOO\n", got, "a second relay is a connection of its own")
}

func TestARelayEndsWithTheOtherEnd(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(io.ReadWriteCloser)
		close bool
	}{
		"the server ends the connection":                 {func(io.ReadWriteCloser) {}, false},
		"the session is over":                            {func(c io.ReadWriteCloser) { _, _ = io.Copy(io.Discard, c) }, true},
		"and nobody takes what is left":                  {func(c io.ReadWriteCloser) { _, _ = c.Write(make([]byte, 64<<20)) }, true},
		"the server ends, and nobody takes what is left": {func(c io.ReadWriteCloser) { _, _ = c.Write(make([]byte, 1<<17)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{})
			l := listen(t, func(rw io.ReadWriteCloser) {
				close(begun)
				c.serve(rw)
			})
			r := launch(t, l.Command())
			<-begun
			if c.close {
				require.NoError(t, l.Close())
			}
			over := make(chan error, 1)
			go func() { _, err := r.cmd.Process.Wait(); over <- err }() // without reading what it wrote
			select {
			case err := <-over:
				require.NoError(t, err)
			case <-time.After(30 * time.Second):
				require.Fail(t, "the relay is still there")
			}
		})
	}
}

func TestARelayHasAStandardErrorOfItsOwn(t *testing.T) {
	begun, failed := make(chan struct{}, 2), make(chan error, 1)
	l := listen(t, func(c io.ReadWriteCloser) {
		begun <- struct{}{}
		to := c.(*relay.Conn).Stderr()
		_, _ = io.WriteString(to, "first\n")
		_, _ = io.WriteString(to, "second\n")
		_, _ = io.Copy(io.Discard, c)
		var err error
		for range 20 { // a connection takes some bytes before it tells that nobody is there
			_, err = io.WriteString(to, strings.Repeat("x", 1<<20)+"\n")
		}
		failed <- err
	})
	r := launch(t, l.Command())
	<-begun
	require.NoError(t, r.in.Close())
	require.NoError(t, <-failed)
	require.Zero(t, r.ends())
	require.True(t, strings.HasPrefix(r.err.String(), "first\nsecond\nxxx"))
	require.Len(t, r.err.String(), len("first\nsecond\n")+20*(1<<20+1), "all of it, though the server has ended")

	r = launch(t, l.Command())
	<-begun
	require.NoError(t, r.cmd.Process.Kill())
	require.Error(t, <-failed, "nobody is there to take it")
}

func TestTheServerLearnsOfARelayThatIsKilled(t *testing.T) {
	for _, settled := range []bool{false, true} {
		begun, killed := make(chan struct{}, 1), make(chan bool)
		l := listen(t, func(c io.ReadWriteCloser) {
			begun <- struct{}{}
			_, _ = io.Copy(io.Discard, c)
			killed <- c.(*relay.Conn).Killed()
		})
		r := launch(t, l.Command())
		<-begun
		require.NoError(t, r.in.Close())
		require.False(t, <-killed, "its input had ended")
		require.Zero(t, r.ends())

		r = launch(t, l.Command())
		<-begun
		if settled {
			l.Settle(time.Nanosecond)
		}
		require.NoError(t, r.cmd.Process.Kill())
		require.Equal(t, !settled, <-killed, "what is left in the end is ended by us")
	}
}

func TestNobodyElseIsLetIn(t *testing.T) {
	served := make(chan struct{}, 100)
	l := listen(t, func(c io.ReadWriteCloser) {
		served <- struct{}{}
		shout(c)
	})
	raw, err := os.ReadFile(l.Command()[2])
	require.NoError(t, err)
	address, token, _ := strings.Cut(strings.TrimSpace(string(raw)), " ")
	require.NotContains(t, strings.Join(l.Command(), " "), token, "command lines are for everybody to see")
	info, err := os.Stat(l.Command()[2])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	host, _, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", host)
	for _, hello := range []string{"", "\n", rand.Text() + " data " + rand.Text() + "\n", token + " show " + rand.Text() + "\n", token + "\n",
		"GET / HTTP/1.1\r\nHost: " + address + "\r\n\r\n" + strings.Repeat("x", 100)} {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(c, hello)
		require.NoError(t, err)
		_ = c.(*net.TCPConn).CloseWrite() // it may have been shown the door
		said, _ := io.ReadAll(c)          // a reset tells as much
		require.Empty(t, said, "%q", hello)
		require.NoError(t, c.Close())
	}
	require.Empty(t, served)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, l.Close(), "who says nothing is not waited for")
}

func TestARelayThatComesTooLateSaysSo(t *testing.T) {
	l := listen(t, shout)
	command := l.Command()
	raw, err := os.ReadFile(command[2])
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoFileExists(t, command[2])
	require.NoDirExists(t, filepath.Dir(command[2]))
	late := launch(t, command)
	require.Equal(t, 1, late.ends())
	require.Contains(t, late.err.String(), "mcp-conform: the relay to the server under test: the session is over: open ")

	path := filepath.Join(t.TempDir(), "relay")
	for text, want := range map[string]string{string(raw): "the session is over: dial tcp ", "nothing": path + " holds no address and token"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		late = launch(t, []string{command[0], command[1], path})
		require.Equal(t, 1, late.ends())
		require.Contains(t, late.err.String(), want)
	}
}

func TestOnlyTheWholeCommandLineMakesARelay(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	r := launch(t, []string{self, "-test.run=^$", relay.Argument, "path"})
	out, err := io.ReadAll(r.out)
	require.NoError(t, err)
	require.Contains(t, string(out), "PASS", "main is reached")
	require.Zero(t, r.ends())
}

func TestARelayIsGoneWhenItsProcessEnds(t *testing.T) {
	conns, end := make(chan *relay.Conn, 1), make(chan struct{})
	l := listen(t, func(c io.ReadWriteCloser) {
		conns <- c.(*relay.Conn)
		<-end
	})
	r := launch(t, l.Command())
	c := <-conns
	select {
	case <-c.Gone():
		require.Fail(t, "it is still there")
	default:
	}
	close(end)
	select {
	case <-c.Gone():
	case <-time.After(30 * time.Second):
		require.Fail(t, "nobody says that it has gone")
	}
	require.Zero(t, r.ends())
}
