package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// pipe is a client on a connection with one message a line.
type pipe struct {
	dialect
	t    testing.TB
	conn net.Conn
	rest *bufio.Reader
	over chan struct{} // closed when ServeConn has returned
}

// pipe connects a client that has sent nothing.
func (r *rig) pipe(ctx context.Context) *pipe {
	r.t.Helper()
	network := memnet.New()
	listener, err := network.Listen("127.0.0.1:0")
	require.NoError(r.t, err)
	client, err := network.DialContext(r.t.Context(), "tcp", listener.Addr().String())
	require.NoError(r.t, err)
	served, err := listener.Accept()
	require.NoError(r.t, err)
	require.NoError(r.t, listener.Close())
	p := &pipe{t: r.t, conn: client, rest: bufio.NewReader(client), over: make(chan struct{})}
	go func() {
		defer close(p.over)
		r.ServeConn(ctx, served)
	}()
	r.t.Cleanup(func() { client.Close() })
	return p
}

// connect connects a client of a revision, in a bubble. A legacy one initializes its session.
func (r *rig) connect(revision server.Revision, capabilities string) *pipe {
	r.t.Helper()
	p := r.pipe(r.t.Context())
	p.dialect = dialect{revision: revision, capabilities: capabilities}
	if !revision.Modern() {
		p.send(p.initialize(`"init"`))
		require.Contains(r.t, p.next().raw, fmt.Sprintf(`"protocolVersion":%q`, revision))
		p.send(initialized)
	}
	synctest.Wait() // until all of it is recorded
	return p
}

// send sends lines.
func (p *pipe) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.conn, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

// ask sends a request. More has further params.
func (p *pipe) ask(id any, method string, more ...string) {
	p.t.Helper()
	p.send(request(id, method, p.params(more...)))
}

// call calls a tool. More has further params.
func (p *pipe) call(id any, tool string, more ...string) {
	p.t.Helper()
	p.send(p.calls(id, tool, more...))
}

// next reads the next line.
func (p *pipe) next() message {
	p.t.Helper()
	text, err := p.rest.ReadString('\n')
	require.NoError(p.t, err)
	return loosely([]byte(strings.TrimSuffix(text, "\n")))
}

// closeWrite ends what the client sends.
func (p *pipe) closeWrite() error { return p.conn.(interface{ CloseWrite() error }).CloseWrite() }

// end closes the client's end and waits for ServeConn.
func (p *pipe) end() {
	require.NoError(p.t, p.conn.Close())
	<-p.over
}

// ends requires the end of the connection.
func (p *pipe) ends() {
	p.t.Helper()
	rest, err := io.ReadAll(p.rest)
	require.NoError(p.t, err)
	require.Empty(p.t, string(rest))
	<-p.over
}
