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

// listen listens on a network, on the next free port.
func listen(t testing.TB, n *Network, addr string) net.Listener {
	t.Helper()
	l, err := n.Listen(addr)
	require.NoError(t, err)
	return l
}

func dial(t testing.TB, n *Network, l net.Listener) net.Conn {
	t.Helper()
	c, err := n.DialContext(context.Background(), "tcp", l.Addr().String())
	require.NoError(t, err)
	return c
}

func TestListenAssignsPortsInOrder(t *testing.T) {
	n := New()
	for _, step := range []struct{ addr, want string }{
		{"127.0.0.1:0", "127.0.0.1:1"},
		{":0", "127.0.0.1:2"},
		{"127.0.0.1:4", "127.0.0.1:4"},
		{"localhost:0", "127.0.0.1:3"},
		{"[::1]:0", "127.0.0.1:5"}, // 4 is taken
		{"localhost:8080", "127.0.0.1:8080"},
	} {
		addr := listen(t, n, step.addr).Addr()
		require.Equal(t, step.want, addr.String())
		require.Equal(t, "tcp", addr.Network())
	}
}

func TestListenRejectsAddresses(t *testing.T) {
	n := New()
	listen(t, n, "127.0.0.1:80")
	for addr, want := range map[string]string{
		"127.0.0.1:80":    "listen tcp 127.0.0.1:80: address already in use",
		"localhost:80":    "listen tcp 127.0.0.1:80: address already in use",
		"10.0.0.1:80":     "loopback addresses only",
		"example.org:80":  "loopback addresses only",
		"127.0.0.1":       "missing port in address",
		"127.0.0.1:http":  "expected a port from 0 to 65535: invalid syntax",
		"127.0.0.1:65536": "expected a port from 0 to 65535: value out of range",
	} {
		_, err := n.Listen(addr)
		require.ErrorContains(t, err, want)
	}
	_, err := n.Listen("127.0.0.1:80")
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

func TestClosedListenerFreesOnlyAFixedPort(t *testing.T) {
	n := New()
	fixed := listen(t, n, "127.0.0.1:80")
	require.NoError(t, fixed.Close())
	require.ErrorIs(t, fixed.Close(), net.ErrClosed)
	listen(t, n, "127.0.0.1:80")

	first := listen(t, n, ":0")
	require.NoError(t, first.Close())
	second := listen(t, n, ":0")
	require.NotEqual(t, first.Addr().String(), second.Addr().String(), "a late client must not reach the second")
}

func TestDialErrors(t *testing.T) {
	dial := func(n *Network, network, addr string) error {
		_, err := n.DialContext(context.Background(), network, addr)
		return err
	}
	n := New()
	require.ErrorContains(t, dial(n, "tcp", "127.0.0.1:9"), "127.0.0.1:9 is on an in-memory network; it has no ")
	listen(t, n, ":0")
	listen(t, n, ":0")
	err := dial(n, "tcp4", "localhost:9")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.ErrorContains(t, err, "its listeners: 127.0.0.1:1, 127.0.0.1:2")
	require.ErrorContains(t, dial(n, "tcp", "api.example.com:443"), "loopback addresses only")
	require.ErrorContains(t, dial(n, "udp", "127.0.0.1:1"), `not "udp"`)

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
	l := listen(t, n, ":0")
	for range 300 { // more than any backlog: dialling never waits
		dial(t, n, l)
	}
	for i := range 300 {
		c, err := l.Accept()
		require.NoError(t, err)
		require.Equal(t, firstClientPort+i, c.RemoteAddr().(*net.TCPAddr).Port)
	}
}

func TestClosedListenerRefusesConnectionsAndKeepsAcceptedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l := listen(t, n, ":0")
		accepting := make(chan error)
		go func() {
			_, err := l.Accept()
			assert.NoError(t, err)
			_, err = l.Accept()
			accepting <- err
		}()
		accepted := dial(t, n, l)
		synctest.Wait()
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-accepting, net.ErrClosed)
		_, err := accepted.Write([]byte("x"))
		require.NoError(t, err)
		_, err = n.DialContext(t.Context(), "tcp", l.Addr().String())
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

func TestClosedListenerClosesPendingConnections(t *testing.T) {
	n := New()
	l := listen(t, n, ":0")
	pending := dial(t, n, l)
	require.NoError(t, l.Close())
	_, err := pending.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
}
