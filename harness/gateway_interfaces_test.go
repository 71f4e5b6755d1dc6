package harness

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAGatewayListensOnTheLoopbackInterfaceOrOnAll(t *testing.T) {
	other := otherAddress()
	for address, want := range map[string]trace.Listening{"127.0.0.1:0": trace.OnLoopback, ":0": trace.OnInterfaces} {
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		if !other.IsValid() {
			want = ""
		}
		require.Equal(t, want, listens(other, port), address)
		require.Empty(t, listens(netip.Addr{}, port))
	}
}

// A gateway that starts slowly does not listen yet when the next one gets its port.
func TestEachGatewayGetsAPortOfItsOwn(t *testing.T) {
	given := map[string]bool{}
	for range 300 {
		port, err := freePort()
		require.NoError(t, err)
		require.False(t, given[port], port)
		given[port] = true
	}
}
