package memnet

import (
	"context"
	"net"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListen(t *testing.T) {
	n := New()
	for _, step := range []struct{ addr, want string }{
		{"127.0.0.1:0", "127.0.0.1:1"},
		{":0", "127.0.0.1:2"},
		{"127.0.0.1:4", "127.0.0.1:4"},
		{"localhost:0", "127.0.0.1:3"},
		{"[::1]:0", "127.0.0.1:5"}, // 4 is taken
		{"localhost:8080", "127.0.0.1:8080"},
	} {
		l, err := n.Listen(step.addr)
		require.NoError(t, err)
		require.Equal(t, step.want, l.Addr().String())
		require.Equal(t, "tcp", l.Addr().Network())
	}
}

func TestListenErrors(t *testing.T) {
	n := New()
	_, err := n.Listen("127.0.0.1:80")
	require.NoError(t, err)
	for _, test := range []struct{ addr, want string }{
		{"127.0.0.1:80", "listen tcp 127.0.0.1:80: address already in use"},
		{"localhost:80", "listen tcp 127.0.0.1:80: address already in use"},
		{"10.0.0.1:80", "listen tcp: 10.0.0.1:80: an in-memory network has loopback addresses only, such as 127.0.0.1:0"},
		{"example.org:80", "listen tcp: example.org:80: an in-memory network has loopback addresses only, such as 127.0.0.1:0"},
		{"127.0.0.1", "listen tcp: address 127.0.0.1: missing port in address"},
		{"127.0.0.1:http", "listen tcp: 127.0.0.1:http: want a port from 0 to 65535: invalid syntax"},
		{"127.0.0.1:65536", "listen tcp: 127.0.0.1:65536: want a port from 0 to 65535: value out of range"},
	} {
		_, err := n.Listen(test.addr)
		require.EqualError(t, err, test.want)
	}
	_, err = n.Listen("127.0.0.1:80")
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

func TestAClosedListenerFreesItsPort(t *testing.T) {
	n := New()
	fixed, err := n.Listen("127.0.0.1:80")
	require.NoError(t, err)
	require.NoError(t, fixed.Close())
	require.ErrorIs(t, fixed.Close(), net.ErrClosed)
	_, err = n.Listen("127.0.0.1:80")
	require.NoError(t, err)

	first, err := n.Listen(":0")
	require.NoError(t, err)
	require.NoError(t, first.Close())
	second, err := n.Listen(":0")
	require.NoError(t, err)
	require.NotEqual(t, first.Addr().String(), second.Addr().String(), "late clients of the first must not reach the second")
}

func TestDialErrors(t *testing.T) {
	dial := func(n *Network, network, addr string) error {
		_, err := n.DialContext(context.Background(), network, addr)
		return err
	}
	n := New()
	require.EqualError(t, dial(n, "tcp", "127.0.0.1:9"),
		"dial tcp: connection refused: 127.0.0.1:9 is an address on an in-memory network; nobody listens on it")
	for range 2 {
		_, err := n.Listen(":0")
		require.NoError(t, err)
	}
	err := dial(n, "tcp4", "localhost:9")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.EqualError(t, err,
		"dial tcp4: connection refused: localhost:9 is an address on an in-memory network; listening on it: 127.0.0.1:1, 127.0.0.1:2")
	require.EqualError(t, dial(n, "tcp", "api.example.com:443"),
		"dial tcp: api.example.com:443: an in-memory network has loopback addresses only, such as 127.0.0.1:0")
	require.EqualError(t, dial(n, "udp", "127.0.0.1:1"), `dial udp: the in-memory network has tcp only, not "udp"`)

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = n.DialContext(ended, "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, context.Canceled)
}

func TestBothEndsAgreeOnTheirAddresses(t *testing.T) {
	client, server := connect(t)
	require.Equal(t, "127.0.0.1:1", server.LocalAddr().String())
	require.Equal(t, "127.0.0.1:49152", client.LocalAddr().String())
	require.Equal(t, client.LocalAddr(), server.RemoteAddr())
	require.Equal(t, client.RemoteAddr(), server.LocalAddr())
}

func TestConnectionsAreAcceptedInOrder(t *testing.T) {
	n := New()
	l, err := n.Listen(":0")
	require.NoError(t, err)
	for range 300 { // more than any backlog: dialling never waits
		_, err := n.DialContext(context.Background(), "tcp", l.Addr().String())
		require.NoError(t, err)
	}
	for i := range 300 {
		c, err := l.Accept()
		require.NoError(t, err)
		require.Equal(t, firstClientPort+i, c.RemoteAddr().(*net.TCPAddr).Port)
	}
}

func TestClosingAListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l, err := n.Listen(":0")
		require.NoError(t, err)
		accepting := make(chan error)
		go func() {
			_, err := l.Accept()
			assert.NoError(t, err)
			_, err = l.Accept()
			accepting <- err
		}()
		accepted, err := n.DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-accepting, net.ErrClosed)
		_, err = accepted.Write([]byte("x"))
		require.NoError(t, err, "what was accepted goes on")
		_, err = n.DialContext(t.Context(), "tcp", l.Addr().String())
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

func TestClosingAListenerClosesWhatNobodyAccepted(t *testing.T) {
	n := New()
	l, err := n.Listen(":0")
	require.NoError(t, err)
	waiting, err := n.DialContext(context.Background(), "tcp", l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = waiting.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
}
