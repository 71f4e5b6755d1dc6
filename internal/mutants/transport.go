package mutants

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
)

var transportMutants = chapter("transport",
	m("moves-over", "refuses requests on the stream of its call once one came on the stream opened with GET",
		"on-post-stream | id-collision", movesOver, wire, legacy),
	m("deaf-listener", "opens a stream with GET and ignores the requests on it", "on-get-stream tasks/any-stream",
		in(func(m *Message) {
			if m.IsRequest() && m.Listening {
				m.Drop()
			}
		}), wire, legacy),
	m("wants-streams", "treats the response of a call as a failure if it is plain JSON",
		"accepts-json | client/ends-cleanly", in(func(m *Message) {
			if m.Answers("tools/call") && !m.Streamed && m.Body["error"] == nil {
				m.Wire.Die("the response is not a stream")
			}
		}), wire, legacy),
	m("accepts-streams-only", "does not accept JSON in its Accept header", "accept-header",
		out(func(m *Message) { m.Header.Set("Accept", "text/event-stream") }), wire),
	m("ids-collide", "takes a request of the server with the id of its own request for the response", "id-collision",
		in(func(m *Message) {
			if m.IsRequest() && m.Post != nil && Key(m.Post.Body["id"]) == Key(m.Body["id"]) {
				delete(m.Body, "method")
				delete(m.Body, "params")
				m.Body["result"] = object{}
			}
		}), wire, legacy),
	m("answers-repeats", "responds to a request each time it comes", "duplicate-request", answersRepeats, wire, legacy),
	m("never-comes-back", "takes the end of a connection for the end of the call", "reconnects | client/ends-cleanly",
		toServer(
			func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if r.Method == http.MethodGet && r.Header.Get(lastEventID) != "" {
					w.Fire()
					return nil, errors.New("broken on purpose: never resumes a stream")
				}
				return next.RoundTrip(r)
			}), wire, legacy),
	m("comes-back-at-once", "resumes a stream before the time that the server wants", "retry-honoured", just(Edit{
		Line: func(line []byte) ([]byte, bool) {
			if bytes.HasPrefix(line, []byte("retry:")) {
				return []byte("retry: 1"), true
			}
			return line, true
		}}), wire, legacy),
	m("comes-back-from-the-start", "resumes a stream from its first event and answers the repeated requests again",
		"answers-once | duplicate-request reconnects", fromTheStart, wire, legacy),
	m("ends-with-the-session", "starts no other session after the server has lost its own", "session-lost",
		losesSession, wire, legacy),
	m("keeps-the-session-id", "initializes with the id of the lost session", "session-lost", func(*Wire) Edit {
		var lost atomic.Value
		return Edit{Out: func(m *Message) {
			if id := m.Header.Get(sessionID); id != "" {
				lost.Store(id)
			} else if id, ok := lost.Load().(string); ok && m.Method() == "initialize" {
				m.Header.Set(sessionID, id)
			}
		}}
	}, wire, legacy),
	m("forgets-handlers", "refuses sampling in every session after its first", "handlers-survive", func(*Wire) Edit {
		var sessions atomic.Int32
		return Edit{
			Out: func(m *Message) {
				if m.Method() == "initialize" {
					sessions.Add(1)
				}
			},
			Asked: func(s *Sample) {
				if sessions.Load() > 1 {
					s.Refuse(codeNoMethod, "broken on purpose: no handler")
				}
			},
		}
	}, wire, legacy),
	m("answers-without-version", "sends its responses without the protocol version", "response-post",
		out(func(m *Message) {
			if m.IsResponse() {
				m.Header.Del("Mcp-Protocol-Version")
			}
		}), wire, legacy),
	m("posts-arrays", "posts two messages as one array", "one-message", toServer(
		func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if r.Method == http.MethodDelete {
				w.Fire()
				post := r.Clone(r.Context())
				post.Method = http.MethodPost
				post.Header.Set("Content-Type", "application/json")
				post.Body, post.ContentLength = io.NopCloser(strings.NewReader(twoInOne)), int64(len(twoInOne))
				if resp, err := next.RoundTrip(post); err == nil {
					_ = resp.Body.Close()
				}
			}
			return next.RoundTrip(r)
		}), wire, legacy),
	m("never-deletes", "does not end its session", "ends-session", toServer(
		func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if r.Method == http.MethodDelete {
				w.Fire()
				return local(r, http.StatusNoContent, nil), nil
			}
			return next.RoundTrip(r)
		}), wire, legacy),
	m("cycles-ids", "reuses the ids of its requests", "own-ids", out(func(m *Message) {
		if n, ok := m.Body["id"].(json.Number); ok && m.IsRequest() {
			i, _ := n.Int64() // the client counts its requests
			m.Wire.Rename(m, json.Number(fmt.Sprint(i%3)))
		}
	}), wire, legacy),
	m("names-as-they-are", "writes every name into a header as it is", "header-value | declare/http-headers",
		encodesNames(func(name string) string { return name }), wire, modern),
	m("marks-in-capitals", "writes the markers of an encoded name in capitals", "header-value | declare/http-headers",
		encodesNames(func(name string) string {
			return "=?BASE64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
		}), wire, modern),
	m("one-data-line", "keeps only the last of an event's data lines", "sse-details | client/ends-cleanly",
		just(Edit{Payload: func(raw []byte) []byte {
			return raw[bytes.LastIndexByte(raw, '\n')+1:]
		}}), wire),
	m("wants-a-space", "ignores data without a space after the colon", "sse-details | client/ends-cleanly",
		just(Edit{Line: func(line []byte) ([]byte, bool) {
			value, isData := bytes.CutPrefix(line, []byte("data:"))
			return line, !isData || bytes.HasPrefix(value, []byte(" "))
		}}), wire),
	m("lines-end-in-lf", "does not know that CR ends a line", "sse-rare | client/ends-cleanly",
		just(Edit{OnlyLF: true}), wire, legacy),
	m("keeps-the-mark", "reads a byte order mark as part of the first field's name", "sse-rare | client/ends-cleanly",
		just(Edit{Line: func(line []byte) ([]byte, bool) {
			if bytes.HasPrefix(line, []byte(byteOrderMark)) {
				return append([]byte(byteOrderMark), line...), true // the client ignores one
			}
			return line, true
		}}), wire),
)

const (
	byteOrderMark = "\ufeff"
	lastEventID   = "Last-Event-Id"
	sessionID     = "Mcp-Session-Id"
	// twoInOne is a body of two messages.
	twoInOne = `[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` +
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`
)

func movesOver(*Wire) Edit {
	var moved atomic.Bool
	return Edit{In: func(m *Message) {
		switch {
		case m.Listening && m.Method() != "":
			moved.Store(m.IsRequest())
		case m.IsRequest() && moved.Load():
			m.Body["method"] = "broken/" + m.Method()
		}
	}}
}

// answersRepeats gives the client each repeated request with another id, since it responds to an id once.
func answersRepeats(w *Wire) Edit {
	var mu sync.Mutex
	times := map[string]int{}
	return Edit{In: func(m *Message) {
		if m.Method() != methodSample || !m.IsRequest() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		key := Key(m.Body["id"])
		if times[key]++; times[key] > 1 {
			w.Rename(m, fmt.Sprintf("repeat %d of %s", times[key], key))
		}
	}}
}

// fromTheStart asks for the first event of a stream where the client asks for the latest.
func fromTheStart(w *Wire) Edit {
	var mu sync.Mutex
	var all []string
	e := answersRepeats(w)
	e.Line = func(line []byte) ([]byte, bool) {
		if id, ok := bytes.CutPrefix(line, []byte("id:")); ok {
			mu.Lock()
			all = append(all, strings.TrimSpace(string(id)))
			mu.Unlock()
		}
		return line, true
	}
	e.Server = func(_ *Wire, next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			latest := r.Header.Get(lastEventID)
			if latest == "" {
				return next.RoundTrip(r)
			}
			mu.Lock()
			defer mu.Unlock()
			stream := latest[:strings.LastIndexByte(latest, byte(0x2f))+1]
			for _, id := range all {
				if strings.HasPrefix(id, stream) {
					r = r.Clone(r.Context())
					r.Header.Set(lastEventID, id)
					w.Fire()
					break
				}
			}
			return next.RoundTrip(r)
		})
	}
	return e
}

// losesSession gives the client an error of the server where that says that it does not know the session.
var losesSession = toServer(func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	if r.Method != http.MethodPost || r.Header.Get(sessionID) == "" {
		return next.RoundTrip(r)
	}
	body, err := readRequest(r)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusNotFound {
		return resp, err
	}
	_ = resp.Body.Close()
	w.Fire()
	o, _ := mcpjson.Object(body) // the client wrote it
	return local(r, http.StatusOK, object{"jsonrpc": "2.0", "id": o["id"],
		"error": object{"code": codeInternal, "message": "broken on purpose: the session is lost"}}), nil
})

// encodesNames writes names that have to be encoded in another way into the header Mcp-Name.
func encodesNames(encode func(name string) string) func(*Wire) Edit {
	return out(func(m *Message) {
		if name := text(m.Params(), "name"); name != "" && m.Header.Get("Mcp-Name") != name {
			m.Header.Set("Mcp-Name", encode(name))
		}
	})
}
