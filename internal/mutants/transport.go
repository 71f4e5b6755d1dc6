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

var transportMutants = []Mutant{
	onServer("moves-over", "refuses requests on the stream of its call once one came on the stream opened with GET",
		movesOver, "transport/on-post-stream", "transport/id-collision"),
	{Name: "deaf-listener", Doc: "opens a stream with GET and ignores the requests on it",
		Kills: []string{"transport/on-get-stream", "tasks/any-stream"}, Wire: true, Era: "legacy",
		edit: in(func(m *Message) {
			if m.IsRequest() && m.Listening {
				m.Drop()
			}
		})},
	onServer("wants-streams", "treats the response of a call as a failure if it is plain JSON", func(w *Wire) Edit {
		return Edit{In: func(m *Message) {
			if m.Answers("tools/call") && !m.Streamed && m.Body["error"] == nil {
				w.Die("the response is not a stream")
			}
		}}
	}, "transport/accepts-json", "client/ends-cleanly"),
	{Name: "accepts-streams-only", Doc: "does not accept JSON in its Accept header",
		Kills: []string{"transport/accept-header"}, Wire: true,
		edit: out(func(m *Message) { m.Header.Set("Accept", "text/event-stream") })},
	onServer("ids-collide", "takes a request of the server with the id of its own request for the response",
		in(func(m *Message) {
			if m.IsRequest() && m.Post != nil && Key(m.Post.Body["id"]) == Key(m.Body["id"]) {
				delete(m.Body, "method")
				delete(m.Body, "params")
				m.Body["result"] = map[string]any{}
			}
		}), "transport/id-collision"),
	onServer("answers-repeats", "responds to a request each time it comes", answersRepeats, "transport/duplicate-request"),
	onServer("never-comes-back", "takes the end of a connection for the end of the call", toServer(
		func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if r.Method == http.MethodGet && r.Header.Get(lastEventID) != "" {
				w.Fire()
				return nil, errors.New("broken on purpose: never resumes a stream")
			}
			return next.RoundTrip(r)
		}), "transport/reconnects", "client/ends-cleanly"),
	onServer("comes-back-at-once", "resumes a stream before the time that the server wants", just(Edit{
		Line: func(line []byte) ([]byte, bool) {
			if bytes.HasPrefix(line, []byte("retry:")) {
				return []byte("retry: 1"), true
			}
			return line, true
		}}), "transport/retry-honoured"),
	onServer("comes-back-from-the-start", "resumes a stream from its first event and answers the repeated requests again",
		fromTheStart, "transport/answers-once", "transport/duplicate-request", "transport/reconnects"),
	onServer("ends-with-the-session", "starts no other session after the server has lost its own", losesSession,
		"transport/session-lost"),
	onServer("keeps-the-session-id", "initializes with the id of the lost session", func(*Wire) Edit {
		var lost atomic.Value
		return Edit{Out: func(m *Message) {
			if id := m.Header.Get(sessionID); id != "" {
				lost.Store(id)
			} else if id, ok := lost.Load().(string); ok && m.Method() == "initialize" {
				m.Header.Set(sessionID, id)
			}
		}}
	}, "transport/session-lost"),
	onServer("forgets-handlers", "refuses sampling in every session after its first", func(*Wire) Edit {
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
	}, "transport/handlers-survive"),
	onServer("answers-without-version", "sends its responses without the protocol version", out(func(m *Message) {
		if m.IsResponse() {
			m.Header.Del("Mcp-Protocol-Version")
		}
	}), "transport/response-post"),
	onServer("posts-arrays", "posts two messages as one array", toServer(
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
		}), "transport/one-message"),
	onServer("never-deletes", "does not end its session", toServer(
		func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if r.Method == http.MethodDelete {
				w.Fire()
				return local(r, http.StatusNoContent, nil), nil
			}
			return next.RoundTrip(r)
		}), "transport/ends-session"),
	onServer("cycles-ids", "reuses the ids of its requests", func(w *Wire) Edit {
		return Edit{Out: func(m *Message) {
			if n, ok := m.Body["id"].(json.Number); ok && m.IsRequest() {
				i, _ := n.Int64() // the client counts its requests
				w.Rename(m, json.Number(fmt.Sprint(i%3)))
			}
		}}
	}, "transport/own-ids"),
	{Name: "names-as-they-are", Doc: "writes every name into a header as it is", Kills: []string{"transport/header-value"},
		Also: []string{"declare/http-headers"}, Wire: true, Era: "modern",
		edit: encodesNames(func(name string) string { return name })},
	{Name: "marks-in-capitals", Doc: "writes the markers of an encoded name in capitals",
		Kills: []string{"transport/header-value"}, Also: []string{"declare/http-headers"}, Wire: true, Era: "modern",
		edit: encodesNames(func(name string) string {
			return "=?BASE64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
		})},
	{Name: "one-data-line", Doc: "keeps only the last of an event's data lines", Kills: []string{"transport/sse-details"},
		Also: []string{"client/ends-cleanly"}, Wire: true, edit: just(Edit{Payload: func(raw []byte) []byte {
			return raw[bytes.LastIndexByte(raw, '\n')+1:]
		}})},
	{Name: "wants-a-space", Doc: "ignores data without a space after the colon", Kills: []string{"transport/sse-details"},
		Also: []string{"client/ends-cleanly"}, Wire: true, edit: just(Edit{Line: func(line []byte) ([]byte, bool) {
			value, isData := bytes.CutPrefix(line, []byte("data:"))
			return line, !isData || bytes.HasPrefix(value, []byte(" "))
		}})},
	{Name: "lines-end-in-lf", Doc: "does not know that CR ends a line", Kills: []string{"transport/sse-rare"},
		Also: []string{"client/ends-cleanly"}, Wire: true, Era: "legacy", edit: just(Edit{OnlyLF: true})},
	{Name: "keeps-the-mark", Doc: "reads a byte order mark as part of the first field's name",
		Kills: []string{"transport/sse-rare"}, Also: []string{"client/ends-cleanly"}, Wire: true,
		edit: just(Edit{Line: func(line []byte) ([]byte, bool) {
			if bytes.HasPrefix(line, []byte(byteOrderMark)) {
				return append([]byte(byteOrderMark), line...), true // the client ignores one
			}
			return line, true
		}})},
}

const (
	byteOrderMark = "\ufeff"
	lastEventID   = "Last-Event-Id"
	sessionID     = "Mcp-Session-Id"
	// twoInOne is a body of two messages.
	twoInOne = `[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` +
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`
)

// onServer is a mutant of the legacy era whose bug is on the HTTP wire to the server.
func onServer(name, doc string, edit func(*Wire) Edit, kills string, also ...string) Mutant {
	return Mutant{Name: name, Doc: doc, Kills: []string{kills}, Also: also, Wire: true, Era: "legacy", edit: edit}
}

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
	e.Server = func(next http.RoundTripper) http.RoundTripper {
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
	return local(r, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": o["id"],
		"error": map[string]any{"code": codeInternal, "message": "broken on purpose: the session is lost"}}), nil
})

// encodesNames writes names that have to be encoded in another way into the header Mcp-Name.
func encodesNames(encode func(name string) string) func(*Wire) Edit {
	return out(func(m *Message) {
		if name := text(m.Params(), "name"); name != "" && m.Header.Get("Mcp-Name") != name {
			m.Header.Set("Mcp-Name", encode(name))
		}
	})
}
