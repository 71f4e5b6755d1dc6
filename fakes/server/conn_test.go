package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const pong = `{"jsonrpc":"2.0","id":%v,"result":{}}`

func TestLegacySampleOverConnection(t *testing.T) {
	for _, responses := range []server.ResponseMode{server.Auto, server.SSE, server.JSON} {
		inEach(t, server.AllRevisions()[:3], func(t *testing.T, revision server.Revision) {
			r := startWith(t, server.Options{ResponseMode: responses}, tool("ask", ask))
			p := r.connect(revision, sampling)
			p.ask(1, "tools/list")
			p.ask(2, "ping")
			p.call(3, "ask")
			require.Contains(t, p.next().raw, `"name":"ask"`)
			require.Equal(t, fmt.Sprintf(pong, 2), p.next().raw)
			sample := p.next()
			require.Equal(t, "sampling/createMessage", sample.Method)
			p.send(sample.answer("a cat"))
			require.Contains(t, p.next().text(t), "a cat")
			p.end()
			r.requireStory("ask", "call, start, sample, client result, end, server result")
			require.Empty(t, r.frames(func(f *trace.Frame) bool {
				return f.HTTP != nil || f.Stream != "" || f.Session != "conn-1"
			}))
			story := r.story("")
			require.Equal(t, "client closed", story[len(story)-1])
		})
	}
}

func TestModernSampleOverConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, tool("ask", ask)).connect(server.V20260728, sampling)
		p.ask(1, "server/discover")
		require.Contains(t, p.next().raw, `"supportedVersions":["`+string(slices.Max(server.AllRevisions()))+`"`)
		p.call(2, "ask")
		required := p.next()
		require.Equal(t, "2", string(required.ID))
		p.call(3, "ask", retry(t, required, says("a cat")))
		done := p.next()
		require.Equal(t, "3", string(done.ID))
		require.Contains(t, done.text(t), "a cat")
	})
}

func TestEachConnectionIsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", ask))
		first, second := r.connect(server.V20251125, sampling), r.connect(server.V20250618, nothing)
		first.call(1, "ask")
		sample := first.next()
		second.send(sample.answer("not mine"))
		second.call(1, "ask")
		require.True(t, second.next().call(t).IsError, "it declares no sampling")
		first.send(sample.answer("mine"))
		require.Contains(t, first.next().text(t), "mine")
		require.Equal(t, 1, strings.Count(strings.Join(r.story("ask"), "\n"), "client result"))
	})
}

func TestInvalidLineIsRecordedAndGetsAnErrorSince20251125(t *testing.T) {
	const parse, invalid = -32700, -32600
	for name, c := range map[string]struct {
		line string
		code int // of the error; 0 for none
	}{
		"log line":                       {"Listening on stdin", parse},
		"truncated message":              {`{"jsonrpc":"2.0",`, parse},
		"two messages":                   {request(1, "ping", "{}") + request(2, "ping", "{}"), parse},
		"byte order mark":                {"\ufeff" + request(1, "ping", "{}"), parse},
		"binary":                         {"\x00\xff\xfe", parse},
		"number":                         {"7", invalid},
		"batch":                          {"[" + request(1, "ping", "{}") + "]", invalid},
		"no method":                      {`{"jsonrpc":"2.0","id":1}`, invalid},
		"invalid id":                     {request("{}", "ping", "{}"), invalid},
		"too long":                       {strings.Repeat("x", 1<<20), invalid},
		"too long message":               {request(1, "ping", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), invalid},
		"empty":                          {"", 0},
		"white space":                    {" \t\r", 0},
		"unknown notification":           {`{"jsonrpc":"2.0","method":"notifications/no"}`, 0},
		"unknown response":               {`{"jsonrpc":"2.0","id":77,"result":{}}`, 0},
		"error without an id":            {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`, 0},
		"cancellation of an unknown id":  {cancels(99), 0},
		"cancellation without a request": {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
				if name == "batch" && revision == server.V20250326 {
					t.Skip("this revision has batches")
				}
				r := startWith(t, server.Options{MaxBody: 1 << 16, Revisions: []server.Revision{revision}})
				p := r.connect(revision, nothing)
				r.forget()
				p.send(c.line)
				p.ask(5, "tools/list")
				got := p.next()
				if c.code != 0 && revision >= server.V20251125 {
					require.Nil(t, got.ID)
					got.requireError(t, c.code, "")
					got = p.next()
				}
				require.Equal(t, "5", string(got.ID), "later lines are served")
				switch frame := r.trace()[0].Frame; {
				case strings.TrimSpace(c.line) == "":
					require.Equal(t, "tools/list", loosely(frame.Raw).Method)
				case len(c.line) > 1<<16:
					require.Equal(t, c.line[:1<<10], string(frame.Raw), "the beginning is kept")
					require.True(t, frame.Partial)
				default:
					require.Equal(t, c.line, string(frame.Raw))
					require.False(t, frame.Partial)
				}
				r.forget() // the frames after initialize are not valid without it
			})
		})
	}
}

func TestLineMayEndInCRLF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		p := r.connect(server.V20251125, nothing)
		p.send(request(1, "ping", "{}") + "\r")
		require.Equal(t, "1", string(p.next().ID))
		events := r.trace()
		require.Equal(t, request(1, "ping", "{}")+"\r", string(events[len(events)-2].Frame.Raw))
	})
}

func TestLineCutOffByTheEndOfTheConnectionIsNotServed(t *testing.T) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"me`, request(1, "ping", "{}")} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t)
			p := r.connect(server.V20251125, nothing)
			_, err := io.WriteString(p.conn, text)
			require.NoError(t, err)
			require.NoError(t, p.closeWrite())
			p.ends()
			events := r.trace()
			half, end := events[len(events)-2].Frame, events[len(events)-1].Frame
			require.Equal(t, text, string(half.Raw))
			require.True(t, half.Partial)
			require.Equal(t, &trace.Frame{Dir: trace.FromClient, Session: "conn-1", Closed: true}, end)
		})
	}
}

func TestLegacyConnectionBeginsWithInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWith(t, server.Options{Revisions: []server.Revision{server.V20251125}}, tool("ask", ask))
		p := r.pipe(t.Context())
		p.dialect = dialect{revision: server.V20251125, capabilities: sampling}
		for id, method := range []string{"tools/list", "tools/call", "server/discover"} {
			p.send(request(id, method, `{"name":"ask"}`))
			p.next().requireError(t, -32600, "initialize comes first")
		}
		p.ask(5, "ping")
		require.Equal(t, fmt.Sprintf(pong, 5), p.next().raw, "ping may come first")
		p.send(initialized, `{"jsonrpc":"2.0","id":1,"result":{}}`, request(6, "initialize", "[]"))
		p.next().requireError(t, -32602, "params of initialize must be an object")
		p.send(p.initialize(7))
		require.Equal(t, "7", string(p.next().ID))
		p.send(p.initialize(8))
		p.next().requireError(t, -32600, "already initialized")
	})
}

func TestModernConnectionHasItsStateInEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWith(t, server.Options{Revisions: []server.Revision{server.V20260728}}, tool("ask", ask))
		p := r.connect(server.V20260728, nothing)
		for _, c := range []struct {
			revision, want string
			code           int
		}{
			{`{}`, "protocolVersion", -32602},
			{`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, "clientCapabilities", -32602},
			{`{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}`,
				"unsupported", -32022},
		} {
			p.send(request(1, "tools/list", `{"_meta":`+c.revision+`}`))
			got := p.next()
			got.requireError(t, c.code, c.want)
			if c.code == -32022 {
				require.JSONEq(t, `{"requested":"1900-01-01","supported":["2026-07-28"]}`, string(got.Error.Data))
			}
		}
		p.send(dialect{revision: server.V20251125, capabilities: sampling}.initialize(2))
		p.next().requireError(t, -32022, "2026-07-28")
		p.ask(3, "no")
		p.next().requireError(t, -32601, "")
		p.call(4, "ask")
		p.next().requireError(t, -32021, "")
	})
}

func TestOneConnectionMaySpeakBothProtocols(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", ask))
		p := r.connect(server.V20251125, nothing)
		p.send(dialect{revision: server.V20260728, capabilities: sampling}.calls(1, "ask"), p.calls(2, "ask"))
		got := p.next().raw + p.next().raw
		require.Contains(t, got, "input_required")
		require.Contains(t, got, `"isError":true`)
		r.forget() // the session does not determine the revision
	})
}

func TestSendIsByteExactOnAConnection(t *testing.T) {
	const frame = "no JSON\r\nin two lines\n\n\x00\xff"
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		r := start(t, tool("send", func(s *server.Session) (any, error) { return "sent", s.Transport().Send([]byte(frame)) }))
		p := r.connect(revision, sampling)
		p.call(1, "send")
		got := make([]byte, len(frame)+1)
		_, err := io.ReadFull(p.rest, got)
		require.NoError(t, err)
		require.Equal(t, frame+"\n", string(got))
		require.Equal(t, "sent", p.next().text(t))
	})
}

func TestLineEndsInParamsBecomeSpaces(t *testing.T) {
	params := `{"messages":[{"role":"user",` + "\n" + `"content":{"type":"text","text":"a\nb"}}],` + "\r\n\t" +
		`"maxTokens":1}`
	flat := strings.NewReplacer("\r", " ", "\n", " ").Replace(params)
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		input := json.RawMessage(`{"method":"sampling/createMessage",` + "\n" + `"params":` + params + "}")
		p := start(t, tool("sample", samples(json.RawMessage(params))),
			tool("input", requires(server.InputRequiredResult{Requests: map[string]any{"k": input}}))).connect(revision,
			sampling)
		p.call(1, "sample")
		require.Contains(t, p.next().raw, `"params":`+flat)
		if revision.Modern() {
			p.call(2, "input")
			require.Contains(t, p.next().raw, flat)
		}
	})
}
