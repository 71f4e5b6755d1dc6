package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// roundTrip is an [http.RoundTripper] that is a function.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// network is the HTTP network as the client sees it.
func (w *Wire) network(next http.RoundTripper) http.RoundTripper {
	toServer, toModel := http.RoundTripper(roundTrip(w.toServer)), next
	if w.edit.ModelRequest != nil || w.edit.ModelReply != nil {
		toModel = w.editModel(next)
	}
	if w.edit.Server != nil {
		w.server = w.where(w.edit.Server(w, w.server), w.server)
	}
	if w.edit.Model != nil {
		toModel = w.where(w.edit.Model(w, toModel), toModel)
	}
	toModel = w.asking(toModel)
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if w.Env.URL != "" && strings.HasPrefix(r.URL.String(), w.Env.URL) {
			return toServer.RoundTrip(r)
		}
		if err := w.failure(); err != nil {
			return nil, err
		}
		return toModel.RoundTrip(r)
	})
}

// toServer handles an HTTP request to the server.
func (w *Wire) toServer(r *http.Request) (*http.Response, error) {
	if err := w.failure(); err != nil && r.Method != http.MethodDelete {
		return nil, err
	}
	switch r.Method {
	case http.MethodGet:
		var post *Message
		if r.Header.Get(lastEventID) != "" { // the rest of a response
			w.mu.Lock()
			post = w.call
			w.mu.Unlock()
		}
		resp, err := w.server.RoundTrip(r)
		return w.edited(resp, err, post)
	case http.MethodPost:
		return w.posted(r)
	}
	return w.server.RoundTrip(r)
}

// posted handles a message of the client.
func (w *Wire) posted(r *http.Request) (*http.Response, error) {
	body, err := readRequest(r)
	if err != nil {
		return nil, err
	}
	o, err := jsonvalue.ReadObject(body)
	if err != nil {
		return w.post(r, body)
	}
	m := &Message{Wire: w, Body: o, Header: r.Header.Clone()}
	w.mu.Lock()
	w.header, w.url = r.Header.Clone(), r.URL.String()
	if m.Method() == "tools/call" {
		w.call = m
	}
	w.mu.Unlock()
	arrives := w.outgoing(m)
	if err := w.failure(); err != nil && m.IsRequest() {
		return nil, err
	}
	if !maps.EqualFunc(m.Header, r.Header, slices.Equal) {
		w.fire(m.about)
		r = r.Clone(r.Context())
		r.Header = m.Header
	}
	resp, err := w.deliver(w.marked(r, func() []Facts { return w.concerned(m) }), m, arrives)
	if err == nil && w.edit.Sent != nil && w.applies(m) {
		w.edit.Sent(m)
	}
	resp, err = w.edited(resp, err, m)
	if failed := w.failure(); failed != nil && err == nil {
		_ = resp.Body.Close()
		return nil, failed
	}
	return resp, err
}

// deliver posts what arrives in place of a message, and returns the response to the message.
func (w *Wire) deliver(r *http.Request, m *Message, arrives []object) (*http.Response, error) {
	resp := local(r, http.StatusAccepted, nil)
	if m.reply != nil {
		resp = local(r, http.StatusOK, m.reply)
	}
	for i, body := range arrives {
		var err error
		if i == len(m.before) && !m.dropped {
			resp, err = w.post(r, marshal(body))
		} else {
			err = w.Send(r.Context(), body)
		}
		if err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// post posts bytes in place of those of a request.
func (w *Wire) post(r *http.Request, body []byte) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return w.server.RoundTrip(r)
}

func readRequest(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

// local is a response that the wire makes.
func local(r *http.Request, status int, body object) *http.Response {
	resp := &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: r}
	if body != nil {
		resp.Header.Set("Content-Type", "application/json")
		setBody(resp, jsonvalue.Marshal(body))
	}
	return resp
}

func setBody(resp *http.Response, body []byte) {
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// edited edits what a response of the server holds: a message or a stream of them.
func (w *Wire) edited(resp *http.Response, err error, post *Message) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	switch kind := resp.Header.Get("Content-Type"); {
	case sse.IsStream(kind):
		resp.Body = w.stream(resp.Body, post)
	case strings.HasPrefix(kind, "application/json"):
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return nil, err
		}
		arrives := w.payload(body, post, false)
		if len(arrives) != 1 {
			return nil, fmt.Errorf("broken on purpose: %d messages in place of one", len(arrives))
		}
		if o, _ := jsonvalue.ReadObject(arrives[0]); o["result"] != nil { // an edit can make a result of an error
			resp.StatusCode = http.StatusOK
		}
		setBody(resp, arrives[0])
	}
	return resp, nil
}

// payload edits what arrived as one: a message or, in 2025-03-26, a batch. What is neither stays as it is.
func (w *Wire) payload(raw []byte, post *Message, streamed bool) [][]byte {
	if w.edit.Payload != nil && len(raw) > 0 {
		was := raw
		applies, about := w.raw(raw)
		if applies {
			raw = w.edit.Payload(raw)
		}
		if !bytes.Equal(was, raw) {
			w.fire(about)
		}
		if raw == nil {
			return nil
		}
	}
	incoming := func(o object) []object {
		return w.incoming(&Message{Wire: w, Body: o, Post: post, Listening: post == nil && streamed, Streamed: streamed})
	}
	if list, ok := batch(raw); ok {
		var arrives []any
		for _, item := range list {
			o, ok := item.(object)
			if !ok {
				arrives = append(arrives, item)
				continue
			}
			for _, body := range incoming(o) {
				arrives = append(arrives, body)
			}
		}
		return [][]byte{marshal(arrives)}
	}
	o, err := jsonvalue.ReadObject(raw)
	if err != nil || !json.Valid(raw) { // an object can be followed by something else
		return [][]byte{raw}
	}
	var arrives [][]byte
	for _, body := range incoming(o) {
		arrives = append(arrives, marshal(body))
	}
	return arrives
}

func batch(raw []byte) ([]any, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return nil, false
	}
	o, err := jsonvalue.ReadObject(slices.Concat([]byte(`{"all":`), raw, []byte("}")))
	list, ok := o["all"].([]any)
	return list, err == nil && ok
}

// Send sends the server a message of the wire's own, to which no response is due.
func (w *Wire) Send(ctx context.Context, body object) error {
	w.mu.Lock()
	p := w.pipe
	w.mu.Unlock()
	if p != nil {
		return p.toServer(jsonvalue.Marshal(body))
	}
	resp, err := w.postOwn(ctx, body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// postOwn posts a message of the wire's own, with the headers of the client's latest one.
func (w *Wire) postOwn(ctx context.Context, body object) (*http.Response, error) {
	w.mu.Lock()
	header, url := w.header.Clone(), w.url
	w.mu.Unlock()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(jsonvalue.Marshal(body)))
	if err != nil {
		return nil, err
	}
	m := &Message{Body: body}
	r.Header = header
	if method := m.Method(); header.Get("Mcp-Method") != "" {
		r.Header.Set("Mcp-Method", method)
		r.Header.Del("Mcp-Name")
		if name := jsonvalue.TextIn(m.Params(), "name"); name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	return w.server.RoundTrip(r)
}

// Header returns the headers of the client's latest message to the server.
func (w *Wire) Header() http.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.header.Clone()
}

// Request sends the server a request of the wire's own and, over HTTP, waits for the end of the response. The client
// does not see the response. An error does not matter: the client never asked.
func (w *Wire) Request(method string, params object) {
	w.Fire()
	w.mu.Lock()
	w.own++
	id := fmt.Sprintf("%s%d", ownPrefix, w.own)
	body := object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
	p := w.pipe
	w.mu.Unlock()
	if p != nil {
		_ = p.toServer(jsonvalue.Marshal(body))
		return
	}
	if resp, err := w.postOwn(w.Context, body); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// ownPrefix begins the ids of the wire's own requests.
const ownPrefix = "mutant-"

func (w *Wire) isOwn(id any) bool {
	s, _ := id.(string)
	return strings.HasPrefix(s, ownPrefix)
}
