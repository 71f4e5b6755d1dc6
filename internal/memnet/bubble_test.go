package memnet

import (
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestInBubble(t *testing.T) {
	require.False(t, InBubble())
	synctest.Test(t, func(t *testing.T) {
		require.True(t, InBubble())
		in := make(chan bool)
		go func() { in <- InBubble() }()
		require.True(t, <-in)
	})
}

func TestListenLocally(t *testing.T) {
	l, err := ListenLocally()
	require.NoError(t, err)
	defer l.Close()
	require.IsType(t, (*net.TCPListener)(nil), l)
	require.False(t, bubbles.has(l.Addr().String()))
	synctest.Test(t, func(t *testing.T) {
		l, err := ListenLocally()
		require.NoError(t, err)
		require.True(t, bubbles.has(l.Addr().String()))
		require.NoError(t, l.Close())
		require.False(t, bubbles.has(l.Addr().String()))
	})
}

func TestPortsStartAgainAfterTheLast(t *testing.T) {
	n := New()
	listen(t, n, "127.0.0.1:1")
	n.assigned = lastPort - 1
	require.Equal(t, "127.0.0.1:65535", listen(t, n, ":0").Addr().String())
	l := listen(t, n, ":0")
	require.Equal(t, "127.0.0.1:2", l.Addr().String())
	n.clientPort = lastPort
	require.Equal(t, "127.0.0.1:49152", dial(t, n, l).LocalAddr().String())
}
