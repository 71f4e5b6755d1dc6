package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// editModel edits the requests to the model, and its replies.
func (w *Wire) editModel(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if w.edit.ModelRequest != nil && w.holds(factsOf(r)...) {
			body, err := readRequest(r)
			if err != nil {
				return nil, err
			}
			if o, err := jsonvalue.ReadObject(body); err == nil {
				was := jsonvalue.Marshal(o)
				w.edit.ModelRequest(o)
				if body = jsonvalue.Marshal(o); !bytes.Equal(was, body) {
					w.fire(factsOf(r))
				}
			}
			r = r.Clone(r.Context())
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		resp, err := next.RoundTrip(r)
		if err != nil || resp.StatusCode != http.StatusOK || w.edit.ModelReply == nil {
			return resp, err
		}
		return w.editReply(resp, factsOf(r))
	})
}

// asksTwice asks the model twice for each request of the client, and gives it the second answer.
func (w *Wire) asksTwice(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := readRequest(r)
		if err != nil {
			return nil, err
		}
		ask := func() (*http.Response, error) {
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(bytes.NewReader(body))
			return next.RoundTrip(again)
		}
		resp, err := ask()
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		w.fire(factsOf(r))
		return ask()
	})
}

// editReply edits the chunks of a reply. One that breaks off keeps its end.
func (w *Wire) editReply(resp *http.Response, facts []Facts) (*http.Response, error) {
	isStream := sse.IsStream(resp.Header.Get("Content-Type"))
	body, broken := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	var chunks []object
	done := false
	if isStream {
		_ = sse.Events(bytes.NewReader(body), func(data []byte) bool { // the bytes are in memory
			o, err := jsonvalue.ReadObject(data)
			if err == nil {
				chunks = append(chunks, o)
			}
			done = done || string(data) == "[DONE]"
			return true
		})
	} else {
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		for o := object(nil); dec.Decode(&o) == nil; o = nil {
			chunks = append(chunks, o)
		}
	}
	was := jsonvalue.Marshal(chunks)
	if facts = withReply(facts, chunks); w.holds(facts...) {
		chunks = w.edit.ModelReply(chunks)
	}
	if bytes.Equal(was, jsonvalue.Marshal(chunks)) {
		setBody(resp, body)
	} else {
		w.fire(facts)
		setBody(resp, encoded(chunks, isStream, done))
	}
	if broken != nil {
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
		resp.Body = readCloser{io.MultiReader(resp.Body, failing{broken}), resp.Body}
	}
	return resp, nil
}

// encoded writes chunks as the body of a reply.
func encoded(chunks []object, isStream, done bool) []byte {
	var b bytes.Buffer
	for _, chunk := range chunks {
		if isStream {
			b.WriteString("data: ")
		}
		b.Write(jsonvalue.Marshal(chunk))
		b.WriteByte('\n')
		if isStream {
			b.WriteByte('\n')
		}
	}
	if done {
		b.WriteString("data: [DONE]\n\n")
	}
	return b.Bytes()
}

type readCloser struct {
	io.Reader
	io.Closer
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, errors.Join(f.err) }
