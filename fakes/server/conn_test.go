package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// pipe is a raw client on a connection of its own.
type pipe struct {
	t    testing.TB
	conn net.Conn
	rest *bufio.Reader
	over chan struct{} // closed when the server has done with the connection
}

// pipe connects a client to the server.
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
	p := &pipe{r.t, client, bufio.NewReader(client), make(chan struct{})}
	go func() {
		defer close(p.over)
		r.ServeConn(ctx, served)
	}()
	r.t.Cleanup(func() { client.Close() })
	return p
}

// lines is a client of the first era, past initialize, on a connection. It is for tests in a bubble.
func (r *rig) lines(revision server.Revision, capabilities string) *pipe {
	r.t.Helper()
	p := r.pipe(r.t.Context())
	p.send(request(`"init"`, "initialize", initializeParams(revision, capabilities)))
	require.Contains(r.t, p.next().raw, fmt.Sprintf(`"protocolVersion":%q`, revision))
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	synctest.Wait() // until it was taken
	return p
}

// send sends lines.
func (p *pipe) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.conn, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

// next reads the next line.
func (p *pipe) next() message {
	p.t.Helper()
	text, err := p.rest.ReadString('\n')
	require.NoError(p.t, err)
	return loosely([]byte(strings.TrimSuffix(text, "\n")))
}

// end closes the client's end and waits until the server has done with it.
func (p *pipe) end() {
	require.NoError(p.t, p.conn.Close())
	<-p.over
}

// ends wants nothing more to come.
func (p *pipe) ends() {
	p.t.Helper()
	rest, err := io.ReadAll(p.rest)
	require.NoError(p.t, err)
	require.Empty(p.t, string(rest))
}

func callOf(id any, tool string) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool))
}

const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`

func TestASampleOverAConnectionOfTheFirstEra(t *testing.T) {
	for _, revision := range []server.Revision{server.V20250326, server.V20250618, server.V20251125} {
		for _, responses := range []server.Responses{server.Auto, server.SSE, server.JSON} {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Responses: responses}, server.Tool{Name: "ask", Handler: ask})
				p := r.lines(revision, sampling)
				p.send(request(1, "tools/list", "{}"), request(2, "ping", "{}"), callOf(3, "ask"))
				require.Contains(t, p.next().raw, `"name":"ask"`)
				require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, p.next().raw)
				question := p.next()
				require.Equal(t, "sampling/createMessage", question.Method)
				p.send(question.response(sampled("a cat")))
				require.Contains(t, p.next().call(t).text(t), "a cat")
				p.end()
				require.Equal(t, []string{"client tools/call", "mark handler-started", "server sampling/createMessage", "client result", "mark handler-ended", "server result"}, r.story("ask"))
				for _, e := range r.trace() {
					if e.Frame != nil {
						require.Nil(t, e.Frame.HTTP, "there is no HTTP")
						require.Empty(t, e.Frame.Stream)
						require.Equal(t, "conn-1", e.Frame.Session)
					}
				}
				all := r.story("")
				require.Equal(t, "client closed", all[len(all)-1], "the end that the client made")
			})
		}
	}
}

func TestASampleOverAConnectionOfTheSecondEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		p := r.pipe(t.Context())
		p.send(request(1, "server/discover", "{"+meta(sampling, "")+"}"))
		require.Contains(t, p.next().raw, `"supportedVersions":["2026-07-28"`)
		p.send(modernCall(2, "ask", sampling, ""))
		required := p.next()
		require.Equal(t, "2", string(required.ID))
		p.send(modernCall(3, "ask", sampling, retryOf(t, required, func(string) string { return sampled("a cat") })))
		done := p.next()
		require.Equal(t, "3", string(done.ID))
		require.Contains(t, done.call(t).text(t), "a cat")
	})
}

func TestConnectionsAreSessionsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		first, second := r.lines(server.V20251125, sampling), r.lines(server.V20250618, nothing)
		first.send(callOf(1, "ask"))
		question := first.next()
		second.send(question.response(sampled("not mine")), callOf(1, "ask"))
		require.True(t, second.next().call(t).IsError, "it declares no sampling")
		first.send(question.response(sampled("mine")))
		require.Contains(t, first.next().call(t).text(t), "mine")
		require.Equal(t, 1, strings.Count(strings.Join(r.story("ask"), "\n"), "client result"), "an answer belongs to the connection that it came on")
	})
}

func TestWhatIsNoMessageIsRecordedAndAnsweredAsTheRevisionHasIt(t *testing.T) {
	const parse, invalid = -32700, -32600
	for name, c := range map[string]struct {
		line    string
		code    int // of the answer; 0 for none
		message string
	}{
		"a log line":                       {"Listening on stdin", parse, "the message is not JSON"},
		"half a message":                   {`{"jsonrpc":"2.0",`, parse, "the message is not JSON"},
		"two in a line":                    {request(1, "ping", "{}") + request(2, "ping", "{}"), parse, "the message is not JSON"},
		"a byte order mark":                {"\ufeff" + request(1, "ping", "{}"), parse, "the message begins with a byte order mark, which JSON must not (RFC 8259, section 8.1)"},
		"bytes":                            {"\x00\xff\xfe", parse, "the message is not JSON"},
		"a number":                         {"7", invalid, "want a JSON-RPC message, got 7"},
		"a batch":                          {"[" + request(1, "ping", "{}") + "]", invalid, "want a single JSON-RPC message, got an array"},
		"no kind of message":               {`{"jsonrpc":"2.0","id":1}`, invalid, "neither request, notification nor response: no method, result or error"},
		"an id that is none":               {request("{}", "ping", "{}"), invalid, "id must be a string or a number, got {}"},
		"too long":                         {strings.Repeat("x", 1<<20), invalid, "the line is over the limit of 65536 bytes"},
		"too long, a message":              {request(1, "ping", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), invalid, "the line is over the limit of 65536 bytes"},
		"nothing":                          {"", 0, ""},
		"white space":                      {" \t\r", 0, ""},
		"an unknown notification":          {`{"jsonrpc":"2.0","method":"notifications/no"}`, 0, ""},
		"a stray response":                 {`{"jsonrpc":"2.0","id":77,"result":{}}`, 0, ""},
		"a stray error":                    {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`, 0, ""},
		"a cancellation of what never was": {fmt.Sprintf(cancelled, 99), 0, ""},
		"a cancellation of nothing":        {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 0, ""},
	} {
		for _, revision := range server.Revisions() {
			if name == "a batch" && revision == server.V20250326 {
				continue // that one has batches
			}
			t.Run(fmt.Sprint(name, " in ", revision), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{MaxBody: 1 << 16, Revisions: []server.Revision{revision}})
					ping, pong := request(5, "ping", "{}"), `{"jsonrpc":"2.0","id":5,"result":{}}`
					var p *pipe
					if revision.Modern() {
						p = r.pipe(t.Context())
						ping = request(5, "tools/list", "{"+meta(nothing, "")+"}")
					} else {
						p = r.lines(revision, nothing)
					}
					synctest.Wait() // until the connection was recorded
					r.forget()
					p.send(c.line, ping)
					got := p.next()
					if c.code != 0 && revision >= server.V20251125 {
						require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":%d,"message":%q}}`, c.code, c.message), got.raw)
						got = p.next()
					}
					require.Equal(t, "5", string(got.ID), "what follows is served")
					if !revision.Modern() {
						require.Equal(t, pong, got.raw)
					}
					frame := r.trace()[0].Frame
					switch {
					case strings.TrimSpace(c.line) == "":
						require.Equal(t, ping, string(frame.Raw))
					case len(c.line) > 1<<16:
						require.Equal(t, c.line[:1<<10], string(frame.Raw), "the beginning is kept")
						require.True(t, frame.Partial)
					default:
						require.Equal(t, c.line, string(frame.Raw), "byte for byte")
						require.False(t, frame.Partial)
					}
					r.forget() // what follows initialize is nothing without it
				})
			})
		}
	}
}

func TestLinesMayEndInCRLF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{})
		p := r.lines(server.V20251125, nothing)
		p.send(request(1, "ping", "{}") + "\r")
		require.Equal(t, "1", string(p.next().ID))
		p.end()
		require.Contains(t, r.story(""), "client ping")
		events := r.trace()
		require.Equal(t, request(1, "ping", "{}")+"\r", string(events[len(events)-3].Frame.Raw), "as it came")
	})
}

func TestALineThatTheConnectionCutsOffIsNotServed(t *testing.T) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"me`, request(1, "ping", "{}")} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{})
			p := r.lines(server.V20251125, nothing)
			_, err := io.WriteString(p.conn, text)
			require.NoError(t, err)
			require.NoError(t, p.conn.(interface{ CloseWrite() error }).CloseWrite())
			p.ends()
			<-p.over
			events := r.trace()
			half, end := events[len(events)-2].Frame, events[len(events)-1].Frame
			require.Equal(t, text, string(half.Raw))
			require.True(t, half.Partial)
			require.Equal(t, &trace.Frame{Dir: trace.FromClient, Session: "conn-1", Closed: true}, end)
		})
	}
}

func TestABatchOf20250326IsTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always("done", nil)})
		p := r.lines(server.V20250326, nothing)
		p.send(" [" + request(1, "ping", "{}") + `,7,{"jsonrpc":"2.0","method":"notifications/no"},` + request(2, "tools/list", "{}") + "]")
		require.Equal(t, "1", string(p.next().ID))
		require.Equal(t, "2", string(p.next().ID))
		require.Equal(t, []string{"mark batch", "client ping", "server result", `client "7"`, "client notifications/no", "client tools/list", "server result"}, r.story("")[4:])
		p.send("[]", request(3, "ping", "{}"))
		require.Equal(t, "3", string(p.next().ID), "an empty one is none, for which this revision has no error")
	})
}

func TestAConnectionOfTheFirstEraBeginsWithInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Revisions: []server.Revision{server.V20251125}}, server.Tool{Name: "ask", Handler: ask})
		p := r.pipe(t.Context())
		for id, method := range []string{"tools/list", "tools/call", "server/discover"} {
			p.send(request(id, method, `{"name":"ask"}`))
			require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32600,"message":"initialize comes first"}}`, id), p.next().raw)
		}
		p.send(request(5, "ping", "{}"))
		require.Equal(t, `{"jsonrpc":"2.0","id":5,"result":{}}`, p.next().raw, "which may come before all else")
		p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, request(6, "initialize", "[]"))
		require.Equal(t, `{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"params of initialize must be an object, got []"}}`, p.next().raw)
		p.send(request(7, "initialize", initializeParams(server.V20251125, sampling)))
		require.Equal(t, "7", string(p.next().ID))
		p.send(request(8, "initialize", initializeParams(server.V20251125, sampling)))
		require.Equal(t, `{"jsonrpc":"2.0","id":8,"error":{"code":-32600,"message":"this connection has been initialized before"}}`, p.next().raw)
	})
}

func TestAConnectionOfTheSecondEraSaysEverythingInEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Revisions: []server.Revision{server.V20260728}}, server.Tool{Name: "ask", Handler: ask})
		p := r.pipe(t.Context())
		for params, want := range map[string]string{
			`{}`: `"code":-32602,"message":"_meta has no string io.modelcontextprotocol/protocolVersion"`,
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`:                                                 `"code":-32602,"message":"_meta has no object io.modelcontextprotocol/clientCapabilities"`,
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`: `"code":-32022,"message":"unsupported protocol version: this server speaks [2026-07-28]","data":{"requested":"1900-01-01","supported":["2026-07-28"]}`,
		} {
			p.send(request(1, "tools/list", params))
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{`+want+`}}`, p.next().raw)
		}
		p.send(request(2, "initialize", initializeParams(server.V20251125, sampling)))
		require.Contains(t, p.next().raw, `"code":-32022,`, "who speaks an older revision is told which there is")
		p.send(request(3, "no", "{"+meta(nothing, "")+"}"))
		require.Contains(t, p.next().raw, `"id":3,"error":{"code":-32601,`)
		p.send(modernCall(4, "ask", nothing, ""))
		require.Contains(t, p.next().raw, `"id":4,"error":{"code":-32021,`)
	})
}

func TestAConnectionMaySpeakBothEras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		p := r.lines(server.V20251125, nothing)
		p.send(modernCall(1, "ask", sampling, ""), callOf(2, "ask"))
		got := []string{p.next().raw, p.next().raw}
		require.Contains(t, strings.Join(got, "\n"), "input_required")
		require.Contains(t, strings.Join(got, "\n"), `"isError":true`)
		r.forget() // a frame's session says nothing of its revision here
	})
}

func TestAFrameIsSentAsItIs(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			frame := "no JSON\r\nin two lines\n\n\x00\xff"
			r := inMemory(t, server.Options{}, server.Tool{Name: "send", Handler: func(s *server.Session) (any, error) { return "sent", s.Send([]byte(frame)) }})
			var p *pipe
			if revision.Modern() {
				p = r.pipe(t.Context())
				p.send(modernCall(1, "send", sampling, ""))
			} else {
				p = r.lines(revision, sampling)
				p.send(callOf(1, "send"))
			}
			got := make([]byte, len(frame)+1)
			_, err := io.ReadFull(p.rest, got)
			require.NoError(t, err)
			require.Equal(t, frame+"\n", string(got))
			require.Equal(t, "sent", p.next().call(t).text(t))
			r.forget()
		})
	}
}

func TestNoLineEndOfAPlayBreaksALine(t *testing.T) {
	params := `{"messages":[{"role":"user",` + "\n" + `"content":{"type":"text","text":"a\nb"}}],` + "\r\n\t" + `"maxTokens":1}`
	flat := strings.NewReplacer("\r", " ", "\n", " ").Replace(params)
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{},
				server.Tool{Name: "raw", Handler: func(s *server.Session) (any, error) { return s.Sample(json.RawMessage(params)) }},
				server.Tool{Name: "require", Handler: requires(server.Input{Requests: map[string]any{"k": json.RawMessage(`{"method":"sampling/createMessage",` + "\n" + `"params":` + params + "}")}})})
			if revision.Modern() {
				p := r.pipe(t.Context())
				p.send(modernCall(1, "raw", sampling, ""))
				require.Contains(t, p.next().raw, flat)
				p.send(modernCall(2, "require", sampling, ""))
				require.Contains(t, p.next().raw, flat)
				return
			}
			p := r.lines(revision, sampling)
			p.send(callOf(1, "raw"))
			require.Contains(t, p.next().raw, `"params":`+flat)
		})
	}
}
