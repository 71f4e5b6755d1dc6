package providers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// serve returns the URL of a server with the patterns of a codec. The test fails if a client cannot read an answer.
func serve(t *testing.T, patterns []string, answer func(r *http.Request, body []byte) (a dialect.Answer,
	last []byte)) string {
	t.Helper()
	mux := http.NewServeMux()
	for _, pattern := range patterns {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			a, last := answer(r, body)
			for name, values := range a.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(a.Status)
			for _, chunk := range append(a.Chunks, last) {
				_, _ = w.Write(chunk)
			}
		})
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// serveSideRequests serves what a codec answers without a rule, such as lists of models.
func serveSideRequests(t *testing.T, codec dialect.Codec) string {
	side := codec.(dialect.SideRequests)
	return serve(t, side.SideRequestPatterns(), func(r *http.Request, body []byte) (dialect.Answer, []byte) {
		return side.AnswerSideRequest(r, body), nil
	})
}

// serveBroken serves the first chunks of a streamed text and then an error.
func serveBroken(t *testing.T, codec dialect.Codec, text string, chunks int, e *dialect.Error) string {
	return serve(t, codec.Patterns(), func(r *http.Request, body []byte) (dialect.Answer, []byte) {
		req, refused := codec.Decode(r, body)
		if refused != nil {
			t.Error(refused)
		}
		reply := &dialect.Reply{Content: []dialect.Block{llm.Text(text)}}
		a := codec.Encode(req, reply)
		a.Chunks = a.Chunks[:chunks:chunks]
		return a, codec.EncodeErrorEvent(req, reply, chunks, e)
	})
}
