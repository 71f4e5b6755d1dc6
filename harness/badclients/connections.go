package badclients

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// connections are clients whose connections are not what they should be.
var connections = []Client{
	{Name: "slowloris", Doc: "posts a byte and then nothing more", opened: func(w *wire) {
		conn := w.dial()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", w.path(), w.host())
		// It stays open while the rest goes on.
	}},
	{Name: "slowloris-header", Doc: "never ends the header of a request, and waits for an answer", opened: func(w *wire) {
		conn := w.dial()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nX-Slow: ", w.path(), w.host())
		_, _ = io.ReadAll(conn) // which does not come
	}},
	{Name: "never-ends-its-body", Doc: "waits for an answer to a body that it does not end", asked: func(w *wire, s *sample) {
		if s.retry != nil {
			w.give(s, nil) // there is no response of its own to leave open in this era
			return
		}
		conn := w.dial()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Session-Id: %s\r\nMCP-Protocol-Version: %s\r\nContent-Length: 100000\r\n\r\n{\"jsonrpc\":",
			w.path(), w.host(), w.session, w.env.Revision)
		_, _ = io.ReadAll(conn)
	}, Legacy: true},
	{Name: "http-1.0", Doc: "speaks HTTP/1.0 with a connection for each request", opened: func(w *wire) {
		w.raw("HTTP/1.0", 1)
	}},
	{Name: "pipelines", Doc: "sends ten requests before it reads an answer", opened: func(w *wire) { w.raw("HTTP/1.1", 10) }},
	{Name: "no-keep-alive", Doc: "closes the connection after each request", wire: func(w *wire) {
		w.http.Transport.(*http.Transport).DisableKeepAlives = true
	}},
	{Name: "opens-200-gets", Doc: "opens the stream of the session two hundred times and reads none of them", Legacy: true, opened: func(w *wire) {
		for range 200 {
			r := w.build(http.MethodGet, "", "", nil)
			go func() { _, _ = w.http.Do(r) }() // some are refused
		}
	}},
	{Name: "connects-and-says-nothing", Doc: "opens fifty connections and sends nothing", opened: func(w *wire) {
		for range 50 {
			w.dial()
		}
	}},
	{Name: "reads-nothing", Doc: "makes calls and does not read what comes of them", opened: func(w *wire) {
		names, err := w.tools()
		if err != nil {
			return
		}
		for range 50 {
			conn := w.dial()
			body := dialect.Marshal(object{"jsonrpc": "2.0", "id": 7000, "method": "tools/call", "params": object{"name": names[0], "arguments": object{}, "_meta": object{
				"io.modelcontextprotocol/protocolVersion": w.env.Revision, "io.modelcontextprotocol/clientCapabilities": w.env.Declare}}})
			r := w.build(http.MethodPost, "tools/call", names[0], bytes.NewReader(body))
			_ = r.Write(conn) // and nothing is read
		}
	}},
	{Name: "closes-in-the-middle-of-a-stream", Doc: "hangs up when it is asked, and calls again", Legacy: true, asked: func() func(*wire, *sample) {
		closed := false
		return func(w *wire, s *sample) {
			if closed {
				w.give(s, w.ask(s))
				return
			}
			closed = true
			w.http.CloseIdleConnections()
			if c, ok := s.stream.(*bufio.Reader); ok {
				c.Reset(&empty{})
			}
		}
	}()},
	{Name: "resets", Doc: "resets a connection in the middle of a request", opened: func(w *wire) {
		conn := w.dial()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 50\r\n\r\n{", w.path(), w.host())
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}},
	{Name: "wrong-host", Doc: "names another host in each request", wire: func(w *wire) {
		w.change = func(r *http.Request) { r.Host = "mcp.example.com" }
	}},
	{Name: "wrong-origin", Doc: "comes from a page of another origin", wire: func(w *wire) {
		w.change = func(r *http.Request) { r.Header.Set("Origin", "https://evil.example.com") }
	}},
	{Name: "not-http", Doc: "speaks something else than HTTP", first: func(w *wire) {
		conn := w.dial()
		_, _ = conn.Write([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")) // the beginning of a TLS handshake
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.ReadAll(conn)
	}},
	{Name: "wrong-path", Doc: "posts to the root in place of the endpoint", wire: func(w *wire) {
		w.change = func(r *http.Request) { r.URL.Path = "/" }
	}},
}

// empty is a stream that has ended.
type empty struct{}

func (*empty) Read([]byte) (int, error) { return 0, io.EOF }

func (w *wire) endpoint() *url.URL {
	u, err := url.Parse(w.env.URL)
	if err != nil {
		panic(err) // it was read before
	}
	return u
}

func (w *wire) host() string { return w.endpoint().Host }
func (w *wire) path() string { return w.endpoint().RequestURI() }

// dial opens a connection, which lives as long as the process.
func (w *wire) dial() net.Conn {
	conn, err := net.Dial("tcp", w.host())
	if err != nil {
		panic(err)
	}
	return conn
}

// raw sends pings, all at once on one connection, and reads the answers.
func (w *wire) raw(version string, n int) {
	conn := w.dial()
	defer conn.Close()
	var all bytes.Buffer
	for i := range n {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 8000+i)
		fmt.Fprintf(&all, "POST %s %s\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n", w.path(), version, w.host())
		fmt.Fprintf(&all, "MCP-Session-Id: %s\r\nMCP-Protocol-Version: %s\r\nMcp-Method: ping\r\nContent-Length: %d\r\n\r\n%s", w.session, w.env.Revision, len(body), body)
	}
	_, _ = all.WriteTo(conn)
	answers := bufio.NewReader(conn)
	for range n {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			fmt.Println("raw:", err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
