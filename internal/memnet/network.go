// Package memnet is an in-memory network: listeners and connections that behave like TCP on loopback, without sockets.
// A server and its clients can live in a [testing/synctest] bubble, where a stall of a minute takes no time; outside of
// a bubble they work too. Protocols do not belong here, only their transport.
//
// Everything that waits uses a [sync.Cond], which a bubble counts as durably blocked, and no goroutine outlives its
// timer. Create the [Network] inside the bubble that uses it: deadlines are timers of the bubble.
package memnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// firstClientPort is the first port of a dialling end. It is high, as on a real machine, so that a log tells the ends
// apart.
const (
	firstClientPort = 49152
	lastPort        = 65535
)

// Network is a set of listeners. Create it with [New]; close only its listeners and connections. It is safe for
// concurrent use.
type Network struct {
	mu         sync.Mutex
	listeners  map[int]*listener // by port
	assigned   int               // the last port for ":0"
	clientPort int               // the last port of a dialling end
}

// New returns a network without listeners.
func New() *Network {
	return &Network{listeners: map[int]*listener{}, clientPort: firstClientPort - 1}
}

// Listen listens on addr, such as "127.0.0.1:80". The host must be empty or loopback; the listener's address always has
// 127.0.0.1. Port 0 selects the next free port from 1, so that ports are equal in every run. The error for an address
// in use wraps [syscall.EADDRINUSE]. Connections wait to be accepted without a limit, and are closed with the listener.
func (n *Network) Listen(addr string) (net.Listener, error) {
	port, err := portOf(addr)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == 0 {
		port = n.free()
	}
	if n.listeners[port] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: address(port), Err: syscall.EADDRINUSE}
	}
	l := newListener(n, port)
	n.listeners[port] = l
	return l, nil
}

// DialContext connects to addr, which must be loopback, with the signature of [net.Dialer.DialContext]. Network must be
// a TCP network. It never waits: ctx matters only if it is already done. Without a listener at addr the error wraps
// [syscall.ECONNREFUSED] and lists the listeners. The connection has a CloseWrite method, as [net.TCPConn] has.
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	failed := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return failed(err)
	}
	if !strings.HasPrefix(network, "tcp") {
		return failed(fmt.Errorf("the in-memory network has tcp only, not %q", network))
	}
	port, err := portOf(addr)
	if err != nil {
		return failed(err)
	}
	n.mu.Lock()
	l := n.listeners[port]
	n.clientPort++
	if n.clientPort > lastPort {
		n.clientPort = firstClientPort
	}
	local := address(n.clientPort)
	n.mu.Unlock()
	if l != nil {
		if conn, ok := l.connect(local); ok {
			return conn, nil
		}
	}
	return failed(n.refused(addr))
}

// Client returns a new HTTP client that dials this network only. Its own transport uses no proxy and no compression, so
// that a test sees the bytes that were sent. In a bubble, call CloseIdleConnections before the end.
func (n *Network) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: n.DialContext, DisableCompression: true}}
}

// free returns the next free port. It returns a port again only after all others, so that a late client of a closed
// server never reaches the server's successor.
func (n *Network) free() int {
	for {
		n.assigned = n.assigned%lastPort + 1
		if n.listeners[n.assigned] == nil {
			return n.assigned
		}
	}
}

func (n *Network) forget(port int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.listeners, port)
}

func (n *Network) refused(addr string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	ports := make([]int, 0, len(n.listeners))
	for port := range n.listeners {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	listeners := "it has no listeners"
	for i, port := range ports {
		if i == 0 {
			listeners = "its listeners: "
		} else {
			listeners += ", "
		}
		listeners += address(port).String()
	}
	return fmt.Errorf("%w: %s is on an in-memory network; %s", syscall.ECONNREFUSED, addr, listeners)
}

func portOf(addr string) (int, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	if ip := net.ParseIP(host); host != "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return 0, fmt.Errorf("%s: an in-memory network has loopback addresses only, such as 127.0.0.1:0", addr)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%s: expected a port from 0 to 65535: %w", addr, errors.Unwrap(err))
	}
	return int(number), nil
}

// address returns a loopback address as a *net.TCPAddr, which some servers require.
func address(port int) *net.TCPAddr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
}
