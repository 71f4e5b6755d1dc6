package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// A parsed message parses to the same again when it is rebuilt from its parts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`, `{"id":null,"error":{"code":1,"message":"m"}}`,
		`{"method":"notifications/cancelled"}`,
		` {"id":-1e9,"method":"\u0000\ud800"}`, `{"id":1,"id":2,"method":"a","Method":"b"}`,
		`[]`, `null`, `{"id":true,"result":1}`, "\xef\xbb\xbf{}", `{"id":01}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, bad := parse(raw)
		if bad != nil {
			require.Nil(t, m)
			require.NotEmpty(t, bad.Message)
			return
		}
		kinds := map[bool]int{}
		for _, is := range []bool{m.isRequest(), m.isNotification(), m.isResponse()} {
			kinds[is]++
		}
		require.Equal(t, 1, kinds[true], "exactly one of request, notification and response")
		var method []byte
		if m.Method != nil {
			method = mustEncode(*m.Method)
		}
		again, bad := parse(join(member{"id", m.ID}, member{"method", method}, member{"params", m.Params},
			member{"result", m.Result}, member{"error", m.Error}))
		require.Nil(t, bad)
		require.Equal(t, m, again)
		require.True(t, json.Valid(resultFrame(m.ID, []byte("{}"))), "the id can be sent back")
	})
}

// A connection is split at its line feeds only, however its bytes arrive, and lines over the limit are kept in part.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "\n", "a", "a\n", "a\nb", "a\r\n\r\nb\n\n", "\xef\xbb\xbf{}\n",
		strings.Repeat("x", 100) + "\ny\n", "\x00\xff\n"} {
		f.Add([]byte(seed), 16, false)
		f.Add([]byte(seed), 1000, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, limit int, bytewise bool) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		var r io.Reader = bytes.NewReader(text)
		if bytewise {
			r = iotest.OneByteReader(r)
		}
		lines := newLineReader(r, int64(limit))
		for want := range bytes.Lines(text) {
			want, ended := bytes.CutSuffix(want, []byte("\n"))
			got, err := lines.next()
			require.NoError(t, err)
			require.Equal(t, len(want) > limit, got.tooLong)
			require.Equal(t, got.tooLong || !ended, got.partial)
			if got.tooLong {
				want = want[:min(len(want), keptOfLong, len(got.raw))]
				require.Greater(t, len(got.raw), min(limit, keptOfLong-1))
			}
			require.Equal(t, string(want), string(got.raw))
		}
		for range 2 {
			_, err := lines.next()
			require.Equal(t, io.EOF, err)
		}
	})
}

// fuzzed is a server that keeps the client's frames.
type fuzzed struct {
	*Server
	t    *testing.T
	mu   sync.Mutex
	seen []string
}

func startFuzzed(t *testing.T, responses ResponseMode, tool Tool) *fuzzed {
	s := &fuzzed{t: t}
	var err error
	s.Server, err = Start(Options{MaxBody: 1 << 12, ResponseMode: responses, Record: func(e trace.Event) trace.Ref {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.Frame != nil && e.Frame.Dir == trace.FromClient && !e.Frame.Closed {
			s.seen = append(s.seen, string(e.Frame.Raw))
		}
		return trace.Ref{}
	}}, tool)
	require.NoError(t, err)
	return s
}

// finish requires that the server did not panic, and recorded the text byte for byte.
func (s *fuzzed) finish(text string) {
	require.NoError(s.t, s.Close())
	for _, problem := range s.Problems() {
		require.NotContains(s.t, problem, "panicked")
	}
	for _, frame := range s.seen {
		require.Contains(s.t, text, frame)
	}
}

const fuzzInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26",` +
	`"capabilities":{"sampling":{}},` +
	`"clientInfo":{"name":"f","version":"1"}}}`

// Any bytes on a connection are recorded, and each line of the response is JSON.
func FuzzConnection(f *testing.F) {
	const initialize = fuzzInitialize + "\n"
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}`
	for _, seed := range []string{"", "\n\r\n", initialize, initialize + `[{"id":1,"method":"ping"},7]` + "\n",
		initialize + `{"id":1,"method":"tools/call","params":{"name":"ask"}}` + "\n" + `{"id":1000001,"result":{}}` + "\n",
		initialize + initialize + `{"method":"notifications/cancelled","params":{"requestId":1}}` + "\n",
		`{"id":1,"method":"server/discover","params":{` + modern + "}}\n", "garbage\n{}",
		`{"id":1,"method":"tools/call","params":{"name":"ask",` + modern + "}}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		srv := startFuzzed(t, Auto,
			Tool{Name: "ask", Handler: func(s *Session) (any, error) { return s.Sample(s.Ask("?")) }})
		conn := &fuzzConn{Reader: bytes.NewReader(text)}
		srv.ServeConn(t.Context(), conn)
		srv.finish(string(text))
		for line := range strings.Lines(conn.String()) {
			require.True(t, strings.HasSuffix(line, "\n") && json.Valid([]byte(line)), "%q", line)
		}
	})
}

// fuzzConn is a connection with given input that keeps its output.
type fuzzConn struct {
	io.Reader
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *fuzzConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *fuzzConn) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

func (*fuzzConn) Close() error { return nil }

// Any posted batch is recorded, and its response is empty, or JSON on a stream or in an array.
func FuzzPostedBatch(f *testing.F) {
	for _, seed := range []string{`[]`, `[{"id":1,"method":"ping"}]`,
		` [{"id":1,"method":"ping"},7,null,[],{"method":"notifications/cancelled","params":{"requestId":1}}]`,
		`[{"id":1,"method":"initialize","params":{}},{"id":1,"method":"tools/list"},{"id":1,"method":"tools/list"}]`,
		`[{"id":1,"method":"tools/call","params":{"name":"say"}},{"id":"1","method":"tools/call","params":{"name":"say"}}]`,
		`[{"id":9,"result":{}},{"id":8,"error":{}}]`, `[{"id":1`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, plain bool) {
		responses := Auto
		if plain {
			responses = JSON
		}
		srv := startFuzzed(t, responses, Tool{Name: "say", Handler: func(*Session) (any, error) { return "said", nil }})
		post := func(body, session string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, srv.URL, strings.NewReader(body))
			r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			if session != "" {
				r.Header.Set(headerSession, session)
			}
			w := httptest.NewRecorder()
			srv.Handler().ServeHTTP(w, r)
			return w
		}
		session := post(fuzzInitialize, "").Header().Get(headerSession)
		require.NotEmpty(t, session)
		srv.seen = nil
		got := post(string(text), session)
		srv.finish(string(text))
		switch body := got.Body.String(); {
		case body == "":
			require.Equal(t, http.StatusAccepted, got.Code)
		case got.Header().Get("Content-Type") == "text/event-stream":
			for _, event := range strings.SplitAfter(body, "\n\n") {
				data, ok := strings.CutPrefix(event, "data: ")
				require.True(t, event == "" || ok && json.Valid([]byte(data)), "%q", event)
			}
		default:
			require.Equal(t, "application/json", got.Header().Get("Content-Type"))
			require.True(t, json.Valid([]byte(body)), "%q", body)
		}
	})
}

// Any value survives its sentinel form, and a plain value stays as it is.
func FuzzHeaderValue(f *testing.F) {
	for _, seed := range []string{"tool", "", "天気", " padded ", "=?base64?literal?=", "=?base64?=", "=?base64??=",
		"a\x00b", "a\tb", "\x7f", "=?base64?a\r\nA==?="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		sentinel := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
		decoded, err := DecodeHeaderValue(sentinel(value))
		require.NoError(t, err)
		require.Equal(t, value, decoded)

		decoded, err = DecodeHeaderValue(value)
		rest, isSentinel := strings.CutPrefix(value, "=?base64?")
		switch {
		case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }):
			require.Error(t, err)
		case !isSentinel || !strings.HasSuffix(rest, "?="):
			require.NoError(t, err)
			require.Equal(t, value, decoded)
		case err == nil:
			require.Equal(t, value, sentinel(decoded))
		}
	})
}

// Equal ids have equal keys, in any notation.
func FuzzIDKey(f *testing.F) {
	f.Add(int64(1), "a", "1e999999999")
	f.Add(int64(-1), "", "1.5")
	f.Add(int64(1<<53+1), "1", "-0")
	f.Add(int64(-1<<63), "null", "123456789012345678901234567890")
	f.Add(int64(1000001), "\"", "0.0000001e7")
	f.Fuzz(func(t *testing.T, n int64, text, number string) {
		key := fmt.Sprint(n)
		require.Equal(t, key, idKey(json.RawMessage(key)))
		require.Equal(t, key, idKey(mustEncode(key)), "a number that came back as a string")
		if -maxExact <= n && n <= maxExact {
			require.Equal(t, key, idKey(json.RawMessage(key+".0")))
			require.Equal(t, key, idKey(json.RawMessage(key+"e0")))
		}
		if utf8.ValidString(text) {
			require.Equal(t, text, idKey(mustEncode(text)))
		}
		if id := json.RawMessage(strings.TrimSpace(number)); json.Valid(id) && isID(id) {
			var compact bytes.Buffer
			require.NoError(t, json.Compact(&compact, id))
			require.Equal(t, idKey(id), idKey(compact.Bytes()))
			require.LessOrEqual(t, len(idKey(id)), 3*len(id)+20)
		}
	})
}

// A schema compiles or returns an error, and checking arguments is deterministic.
func FuzzToolSchema(f *testing.F) {
	f.Add([]byte(`[]`), []byte(`{"a":`))
	for _, c := range [][2]string{ // the members of the schema, and the arguments
		{``, `{}`},
		{`,"required":["a"],"properties":{"a":{"type":"string","pattern":"^a+$","format":"email"}}`, `{"a":1}`},
		{`,"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}`, `{"a":{"a":1}}`},
		{`,"$ref":"file:///etc/passwd"`, `{}`},
		{`,"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{}}`, `{"a":[1,2]}`},
		{`,"properties":{"a":{"multipleOf":1e-300,"maximum":1e300}}`, `{"a":1e301}`},
		{`,"$dynamicRef":"#a","unevaluatedProperties":false,"if":{},"then":{"minProperties":2}`, `{"a":1}`},
		{`,"properties":{"a":{"maximum":1e999999999}}`, `{"a":-1e999999999}`},
	} {
		f.Add([]byte(`{"type":"object"`+c[0]+`}`), []byte(c[1]))
	}
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		handler := func(*Session) (any, error) { return nil, nil }
		tool, err := compileTool(Tool{Name: "tool", InputSchema: json.RawMessage(schema), Handler: handler}, 0)
		if err != nil {
			require.ErrorContains(t, err, "input schema of tool tool: ")
			return
		}
		why := tool.schema.Check(tool.Name, arguments)
		require.True(t, why == "" || strings.HasPrefix(why, "the arguments of tool "), why)
		require.Equal(t, why, tool.schema.Check(tool.Name, arguments))
	})
}
