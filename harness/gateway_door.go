package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// frontDoor sends the requests of a client to a gateway, with its headers, and notices answers that are not those of an
// MCP endpoint. Other requests, as those to the model, it only passes on. It is safe for concurrent use.
type frontDoor struct {
	host   string
	header http.Header
	// recorded is the way to the gateway, next that to others.
	recorded, next http.RoundTripper

	mu    sync.Mutex
	first string // the first odd answer; "" for none
}

// client follows no redirect: a gateway's endpoint is where it says.
func (d *frontDoor) client() *http.Client {
	return &http.Client{Transport: d,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (d *frontDoor) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != d.host {
		return d.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	maps.Copy(req.Header, d.header)
	resp, err := d.recorded.RoundTrip(req)
	if err == nil && req.Method == http.MethodPost {
		d.note(req, resp)
	}
	return resp, err
}

func (d *frontDoor) note(req *http.Request, resp *http.Response) {
	odd := oddAnswer(req.URL.Path, resp)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first == "" {
		d.first = odd
	}
}

func (d *frontDoor) odd() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}

// firstEvent is how many bytes of a stream are read to recognize its transport, and patience how long that may take.
const (
	firstEvent = 256
	patience   = 2 * time.Second
)

// older says at which of the paths the gateway serves HTTP with SSE, which Streamable HTTP has replaced; "" for none.
func (d *frontDoor) older(ctx context.Context, paths ...string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, path := range paths {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.host+path, nil)
		if err != nil {
			continue
		}
		maps.Copy(req.Header, d.header)
		req.Header.Set("Accept", "text/event-stream")
		resp, err := d.next.RoundTrip(req)
		if err != nil {
			continue
		}
		begin := make([]byte, firstEvent)
		n, _ := io.ReadAtLeast(resp.Body, begin, len("event: endpoint")) // less is another answer
		resp.Body.Close()
		if bytes.HasPrefix(begin[:n], []byte("event: endpoint")) {
			return "the gateway serves HTTP with SSE at " + path + ", the transport of 2024-11-05: tell it to serve " +
				"Streamable HTTP, and use --path if that is not at /mcp"
		}
	}
	return ""
}

// oddAnswer says what is wrong with an answer that no MCP endpoint gives, and what to do; "" for other answers.
func oddAnswer(path string, resp *http.Response) string {
	status, kind := resp.StatusCode, resp.Header.Get("Content-Type")
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Sprintf("HTTP %d: the gateway wants a login: pass a key with --header, such as "+
			"--header 'Authorization=Bearer KEY', or turn the login off", status)
	case status >= 300 && status < 400:
		return fmt.Sprintf("HTTP %d: the gateway redirects %s to %q: use --path", status, path, resp.Header.Get("Location"))
	case strings.HasPrefix(kind, "text/html"):
		return fmt.Sprintf("HTTP %d with %s: %s is not the gateway's MCP endpoint: use --path", status, kind, path)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("HTTP %d: %s may not be the gateway's MCP endpoint: use --path", status, path)
	case status >= 500:
		return fmt.Sprintf("HTTP %d: the gateway may not reach the server", status)
	}
	return ""
}

// lowestPort and ports are a range below that from which systems choose ports for those who name none: a port of theirs
// may be taken again before the gateway listens there.
const lowestPort, ports = 20000, 12000

// nextPort counts the ports that this process gave to gateways. One that starts slowly does not listen yet when the
// next one needs a port, here or in another process: each process begins elsewhere, and gives no port twice.
var nextPort = func() *atomic.Int64 {
	const spread = 7919 // a prime: processes that start one after the other begin far apart
	n := new(atomic.Int64)
	n.Store(int64(os.Getpid()) * spread)
	return n
}()

// freePort returns a port of this machine that nobody listens on.
func freePort() (string, error) {
	var l net.Listener
	err := errors.New("no port")
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.FormatInt(lowestPort+nextPort.Add(1)%ports, 10))
		if l, err = net.Listen("tcp", address); err == nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("finding a port for the gateway: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// listen is the address for a gateway.
func (e *Env) listen() string { return net.JoinHostPort("127.0.0.1", e.port) }
