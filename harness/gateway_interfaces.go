package harness

import (
	"net"
	"net/netip"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// otherAddress returns an address of this machine on another interface than the loopback; invalid for none.
func otherAddress() netip.Addr {
	all, _ := net.InterfaceAddrs() // none with an error
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Is4() && p.Addr().IsGlobalUnicast() {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// reachLimit is how long a connection within the machine may take.
const reachLimit = 100 * time.Millisecond

// listens says on which interfaces a program that listens at a port of the loopback interface does so, by a connection
// to another address of this machine; "" without one.
func listens(other netip.Addr, port string) trace.Listening {
	if !other.IsValid() {
		return ""
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort(other.String(), port), reachLimit)
	if err != nil {
		return trace.OnLoopback
	}
	_ = c.Close()
	return trace.OnInterfaces
}
