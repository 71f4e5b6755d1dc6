// Package memnet is a network in memory: listeners and connections that behave like TCP on loopback, without
// a socket. A server and its clients on it may live in a [testing/synctest] bubble, where a stall of a
// minute costs no time; outside of one they work as well.
//
// Everything that waits here waits on a [sync.Cond], which a bubble counts as durably blocked, and nothing here starts a
// goroutine that outlives its timer. Make the [Network] inside the bubble that uses it: deadlines are timers of the bubble.
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

// firstClientPort is where the ports of dialling ends begin, as on a real machine, so that a log tells both ends apart.
const firstClientPort = 49152

// Network is a set of listeners that can be dialled. Make one with [New]; it needs no closing, only its listeners and
// connections do. It is safe for concurrent use.
type Network struct {
	mu         sync.Mutex
	listeners  map[int]*listener // by port
	assigned   int               // the last port given for ":0"
	clientPort int               // the last port given to a dialling end
}

// New returns a network on which nobody listens yet.
func New() *Network {
	return &Network{listeners: map[int]*listener{}, clientPort: firstClientPort - 1}
}

// Listen listens on addr, such as "127.0.0.1:80". The host must be loopback, or empty, and is 127.0.0.1 in the
// listener's address whatever was written. Port 0 gets the next free port, counted from 1, so that the ports of a run
// are the same each time. An address in use is an error wrapping [syscall.EADDRINUSE]. Connections that
// nobody accepted wait without a limit, and are closed with the listener.
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
	l := newListener(address(port), func() { n.forget(port) })
	n.listeners[port] = l
	return l, nil
}

// DialContext connects to addr, which must be loopback. It never waits: ctx matters only if it has ended already. When nobody
// listens at addr the error wraps [syscall.ECONNREFUSED] and lists who does. The signature is that of
// [net.Dialer.DialContext]; network must be one of the TCP networks. The connection has a CloseWrite method like
// that of [net.TCPConn].
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
	local := address(n.clientPort)
	n.mu.Unlock()
	if l != nil {
		if conn, ok := l.connect(local); ok {
			return conn, nil
		}
	}
	return failed(n.refused(addr))
}

// Client returns an HTTP client whose own transport dials this network and nothing else: no proxy, no compression (what a test
// sees is what was sent), no connection shared with [http.DefaultTransport]. Each call makes a new one;
// CloseIdleConnections closes what it keeps open, which a bubble has to do before it ends.
func (n *Network) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: n.DialContext, DisableCompression: true}}
}

// free returns the next port that nobody listens on. A port that was given before is not given again, so that a late
// client of a closed server never reaches its successor.
func (n *Network) free() int {
	for n.assigned++; n.listeners[n.assigned] != nil; n.assigned++ {
	}
	return n.assigned
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
	listening := "nobody listens on it"
	for i, port := range ports {
		if i == 0 {
			listening = "listening on it: "
		} else {
			listening += ", "
		}
		listening += address(port).String()
	}
	return fmt.Errorf("%w: %s is an address on an in-memory network; %s", syscall.ECONNREFUSED, addr, listening)
}

// portOf returns the port of a loopback address.
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
		return 0, fmt.Errorf("%s: want a port from 0 to 65535: %w", addr, errors.Unwrap(err))
	}
	return int(number), nil
}

// address returns the one spelling of a loopback address. A *net.TCPAddr, because some servers ask for no less.
func address(port int) *net.TCPAddr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
}
