package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// wire sends HTTP requests, byte for byte.
type wire struct {
	t      testing.TB
	url    string
	http   *http.Client
	header http.Header
}

// do sends a request and returns as soon as the headers of its response have come. Headers are pairs of name and value
// that replace the wire's own; an empty value leaves the header out.
func (w *wire) do(method, body string, headers ...string) *reply {
	w.t.Helper()
	r, err := w.try(context.Background(), method, body, headers...)
	require.NoError(w.t, err)
	return r
}

func (w *wire) post(body string, headers ...string) *reply {
	w.t.Helper()
	return w.do(http.MethodPost, body, headers...)
}

// listen opens a GET stream, or resumes one after an event.
func (w *wire) listen(lastEvent string) *reply {
	w.t.Helper()
	return w.do(http.MethodGet, "", "Last-Event-Id", lastEvent)
}

// try is do for requests that may fail.
func (w *wire) try(ctx context.Context, method, body string, headers ...string) (*reply, error) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
	}
	for name, values := range w.header {
		request.Header[name] = values
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case value == "":
			request.Header.Del(name)
		case name == "Host":
			request.Host = value
		default:
			request.Header.Set(name, value)
		}
	}
	response, err := w.http.Do(request)
	if err != nil {
		return nil, err
	}
	w.t.Cleanup(func() { response.Body.Close() })
	return &reply{response, w.t, bufio.NewReader(response.Body)}, nil
}

// reply is a response whose body has not been read.
type reply struct {
	*http.Response
	t    testing.TB
	rest *bufio.Reader
}

// body reads the rest.
func (r *reply) body() string {
	r.t.Helper()
	raw, err := io.ReadAll(r.rest)
	require.NoError(r.t, err)
	require.NoError(r.t, r.Body.Close())
	return string(raw)
}

// isStream reports whether the response is an event stream.
func (r *reply) isStream() bool { return r.Header.Get("Content-Type") == "text/event-stream" }

// event reads the data of the next event; false at the end of the stream.
func (r *reply) event() (data string, found bool) {
	r.t.Helper()
	require.NoError(r.t, sse.Events(r.rest, func(raw []byte) bool {
		data, found = string(raw), true
		return false
	}))
	return data, found
}

// ends requires the end of the stream.
func (r *reply) ends() {
	r.t.Helper()
	data, more := r.event()
	require.False(r.t, more, "the stream has another event: %s", data)
}

// next reads the next message of a stream.
func (r *reply) next() message {
	r.t.Helper()
	data, ok := r.event()
	require.True(r.t, ok, "the stream has ended")
	return read(r.t, data)
}

// last reads the only message that is left: the body, or the last event of a stream.
func (r *reply) last() message {
	r.t.Helper()
	if !r.isStream() {
		require.Equal(r.t, "application/json", r.Header.Get("Content-Type"))
		return read(r.t, r.body())
	}
	m := r.next()
	r.ends()
	require.NoError(r.t, r.Body.Close())
	return m
}

// requireError reads an error response and compares its code and a part of its message.
func (r *reply) requireError(status, code int, message string) message {
	r.t.Helper()
	require.Equal(r.t, status, r.StatusCode)
	m := r.last()
	m.requireError(r.t, code, message)
	return m
}

// text reads the response of a call: the text of its only block.
func (r *reply) text() string {
	r.t.Helper()
	return r.last().text(r.t)
}

// message is a JSON-RPC message.
type message struct {
	raw    string
	ID     json.RawMessage  `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *server.RPCError `json:"error"`
}

func read(t testing.TB, raw string) message {
	t.Helper()
	m := message{raw: raw}
	require.NoError(t, json.Unmarshal([]byte(raw), &m), "not a message: %s", raw)
	return m
}

// loosely reads a message that may be invalid.
func loosely(raw []byte) message {
	m := message{raw: string(raw)}
	_ = json.Unmarshal(raw, &m)
	return m
}

func (m message) requireError(t testing.TB, code int, message string) {
	t.Helper()
	require.NotNil(t, m.Error, m.raw)
	require.Equal(t, code, m.Error.Code, m.raw)
	require.Contains(t, m.Error.Message, message)
}

// result is the result of a tools/call.
type result struct {
	ResultType    string                     `json:"resultType"`
	Content       []server.TextContent       `json:"content"`
	IsError       bool                       `json:"isError"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	RequestState  *string                    `json:"requestState"`
}

// call reads the result of a tools/call.
func (m message) call(t testing.TB) result {
	t.Helper()
	require.Nil(t, m.Error, m.raw)
	var r result
	require.NoError(t, json.Unmarshal(m.Result, &r), m.raw)
	return r
}

// text returns the text of a result with one block.
func (m message) text(t testing.TB) string {
	t.Helper()
	r := m.call(t)
	require.Len(t, r.Content, 1)
	return r.Content[0].Text
}

// request returns a JSON-RPC request; params is JSON.
func request(id any, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":%q,"params":%s}`, id, method, params)
}

// response returns a response to the request m.
func (m message) response(result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// answer returns a response to the request m with a text.
func (m message) answer(text string) string { return m.response(sampled(text)) }

// sampled returns a CreateMessageResult with a text.
func sampled(text string) string {
	return fmt.Sprintf(`{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":%q}}`,
		text)
}
