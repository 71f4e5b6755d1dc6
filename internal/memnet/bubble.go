package memnet

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
)

// bubbles is the network of all bubbles, so that each address is used once in a process.
var bubbles = New()

// InBubble reports whether the caller runs in a synctest bubble.
func InBubble() bool {
	var stack [256]byte
	first, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(first, []byte(", synctest bubble "))
}

// ListenLocally listens on a free port of 127.0.0.1: on a socket, or in memory if the caller runs in a bubble, where
// waiting for a socket would stop the clock. [ClientOf] reaches both. Requests from a bubble through
// [http.DefaultTransport] to such an address in memory fail and say so.
func ListenLocally() (net.Listener, error) {
	if !InBubble() {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	advise()
	return bubbles.Listen("127.0.0.1:0")
}

// ClientOf returns a new HTTP client that reaches a listener on a socket or in memory.
func ClientOf(l net.Listener) *http.Client {
	if l, inMemory := l.(*listener); inMemory {
		return l.network.Client()
	}
	return &http.Client{Transport: &http.Transport{}}
}

// advise makes the default transport refuse requests to bubbles. A default transport of the test's own, or one that
// already has such a registration, keeps its own error: nothing listens on a socket.
var advise = sync.OnceFunc(func() {
	defer func() { _ = recover() }() // another package has registered "http"
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport.RegisterProtocol("http", advisor{})
	}
})

type advisor struct{}

// RoundTrip leaves all other requests to the transport.
func (advisor) RoundTrip(r *http.Request) (*http.Response, error) {
	if !bubbles.has(r.URL.Host) || !InBubble() {
		return nil, http.ErrSkipAltProtocol
	}
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, fmt.Errorf("%s is a fake in memory, since it was started in a synctest bubble: the default transport "+
		"cannot reach it. Use the *http.Client of its method Client", r.URL.Host)
}

func (n *Network) has(addr string) bool {
	port, err := portOf(addr)
	if err != nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.listeners[port] != nil
}
