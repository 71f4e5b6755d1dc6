package badclients

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// connections are clients whose connections are wrong.
var connections = []Client{
	opens("slowloris", both, func(b *bad) {
		b.begin(b.dial(), "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
	}),
	opens("slowloris-header", both, func(b *bad) {
		conn := b.dial()
		b.begin(conn, "X-Slow: ")
		_, _ = io.ReadAll(conn) // which does not come
	}),
	onSample("never-ends-its-body", legacy, func(b *bad) {
		conn, h := b.dial(), b.wire.Header()
		b.begin(conn, "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
			headerSession+": "+h.Get(headerSession)+"\r\n"+headerVersion+": "+h.Get(headerVersion)+
			"\r\nContent-Length: 100000\r\n\r\n{\"jsonrpc\":")
		_, _ = io.ReadAll(conn)
	}),
	opens("http-1.0", both, func(b *bad) { b.raw("HTTP/1.0", 1) }),
	opens("pipelines", both, func(b *bad) { b.raw("HTTP/1.1", 10) }),
	edits("no-keep-alive", both, requests(func(r *http.Request) { r.Close = true })),
	opens("opens-200-gets", legacy, func(b *bad) {
		for range 200 {
			r := b.build(http.MethodGet, "", "", nil)
			go func() { _, _ = http.DefaultClient.Do(r) }() // some are refused
		}
	}),
	opens("connects-and-says-nothing", both, func(b *bad) {
		for range 50 {
			b.dial()
		}
	}),
	edits("reads-nothing", both, func(b *bad) mutants.Edit {
		var once sync.Once
		return mutants.Edit{Out: func(m *mutants.Message) {
			if m.Method() != "tools/call" {
				return
			}
			once.Do(func() {
				name, _ := m.Params()["name"].(string)
				var conn net.Conn
				for i := range 50 {
					body := jsonvalue.Marshal(object{"jsonrpc": "2.0", "id": 7000 + i, "method": "tools/call",
						"params": object{"name": name, "arguments": object{}, "_meta": b.meta()}})
					conn = b.dial()
					_ = b.build(http.MethodPost, "tools/call", name, bytes.NewReader(body)).Write(conn)
				}
				_, _ = conn.Read(make([]byte, 1)) // the server has begun a response
			})
		}}
	}),
	onSample("closes-in-the-middle-of-a-stream", legacy, func(b *bad) { b.wire.Die("a sampling request came") }),
	opens("resets", both, func(b *bad) {
		conn := b.dial()
		b.begin(conn, "Content-Length: 50\r\n\r\n{")
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}),
	edits("wrong-host", both, requests(func(r *http.Request) { r.Host = "mcp.example.com" })),
	edits("wrong-origin", both, requests(func(r *http.Request) { r.Header.Set("Origin", "https://evil.example.com") })),
	before("not-http", func(b *bad) {
		conn := b.dial()
		_, _ = conn.Write([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")) // the beginning of a TLS handshake
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.ReadAll(conn)
	}),
	edits("wrong-path", both, requests(func(r *http.Request) { r.URL.Path = "/" })),
}

func (b *bad) endpoint() *url.URL {
	u, err := url.Parse(b.env.URL)
	if err != nil {
		panic(err) // it was read before
	}
	return u
}

func (b *bad) host() string { return b.endpoint().Host }
func (b *bad) path() string { return b.endpoint().RequestURI() }

// begin writes the beginning of a request.
func (b *bad) begin(conn net.Conn, rest string) {
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\n%s", b.path(), b.host(), rest)
}

// dial opens a connection, which lives as long as the process.
func (b *bad) dial() net.Conn {
	conn, err := net.Dial("tcp", b.host())
	if err != nil {
		panic(err)
	}
	return conn
}

// raw sends pings, all at once on one connection, and reads the responses.
func (b *bad) raw(version string, n int) {
	conn := b.dial()
	defer conn.Close()
	h := b.wire.Header()
	var all bytes.Buffer
	for i := range n {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 8000+i)
		fmt.Fprintf(&all, "POST %s %s\r\nHost: %s\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\n%s: %s\r\n%s: %s\r\nMcp-Method: ping\r\n"+
			"Content-Length: %d\r\n\r\n%s", b.path(), version, b.host(), headerSession, h.Get(headerSession), headerVersion,
			b.env.Revision, len(body), body)
	}
	_, _ = all.WriteTo(conn)
	responses := bufio.NewReader(conn)
	for range n {
		resp, err := http.ReadResponse(responses, nil)
		if err != nil {
			fmt.Println("raw:", err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
