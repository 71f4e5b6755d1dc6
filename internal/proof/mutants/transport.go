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

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var transportEdits = edits{
	"moves-over": movesOver,
	"deaf-listener": in(func(m *Message) {
		if m.IsRequest() && m.Listening {
			m.Drop()
		}
	}),
	"refuses-what-it-hears": in(func(m *Message) {
		if m.IsRequest() && m.Listening {
			m.Drop()
			m.Wire.sendError(m.Body["id"], codeInternal)
		}
	}),
	"waits-in-a-notice": func(*Wire) Edit {
		var waits atomic.Bool
		return Edit{In: func(m *Message) {
			if m.Method() == "notifications/tools/list_changed" {
				waits.Store(true)
			} else if waits.Load() && m.IsRequest() {
				m.Drop()
			}
		}}
	},
	"wants-streams": in(func(m *Message) {
		if m.Answers("tools/call") && !m.Streamed && m.Body["error"] == nil {
			m.Wire.Die("the response is not a stream")
		}
	}),
	"accepts-streams-only": out(func(m *Message) { m.Header.Set("Accept", "text/event-stream") }),
	"ids-collide": in(func(m *Message) {
		if m.IsRequest() && m.Post != nil && Key(m.Post.Body["id"]) == Key(m.Body["id"]) {
			delete(m.Body, "method")
			delete(m.Body, "params")
			m.Body["result"] = object{}
		}
	}),
	"answers-repeats": answersRepeats,
	"never-comes-back": toServer(
		func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if r.Method == http.MethodGet && r.Header.Get(lastEventID) != "" {
				w.Fire()
				return nil, errors.New("broken on purpose: never resumes a stream")
			}
			return next.RoundTrip(r)
		}),
	"comes-back-at-once": just(Edit{
		Line: func(line []byte) ([]byte, bool) {
			if bytes.HasPrefix(line, []byte("retry:")) {
				return []byte("retry: 1"), true
			}
			return line, true
		}}),
	"reads-comments": just(Edit{Line: func(line []byte) ([]byte, bool) {
		if comment, is := bytes.CutPrefix(line, []byte(":")); is {
			return append([]byte("data:"), comment...), true
		}
		return line, true
	}}),
	"comments-end-events": just(Edit{Line: func(line []byte) ([]byte, bool) {
		if bytes.HasPrefix(line, []byte(":")) {
			return nil, true
		}
		return line, true
	}}),
	"comes-back-from-the-start": fromTheStart,
	"ends-with-the-session":     losesSession,
	"keeps-the-session-id": func(*Wire) Edit {
		var lost atomic.Value
		return Edit{Out: func(m *Message) {
			if id := m.Header.Get(sessionID); id != "" {
				lost.Store(id)
			} else if id, ok := lost.Load().(string); ok && m.Method() == "initialize" {
				m.Header.Set(sessionID, id)
			}
		}}
	},
	"forgets-handlers": func(*Wire) Edit {
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
	},
	"answers-without-version": out(func(m *Message) {
		if m.IsResponse() {
			m.Header.Del("Mcp-Protocol-Version")
		}
	}),
	"posts-arrays": toServer(
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
		}),
	"never-deletes": toServer(
		func(w *Wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if r.Method == http.MethodDelete {
				w.Fire()
				return local(r, http.StatusNoContent, nil), nil
			}
			return next.RoundTrip(r)
		}),
	"cycles-ids": out(func(m *Message) {
		if n, ok := m.Body["id"].(json.Number); ok && m.IsRequest() {
			i, _ := n.Int64() // the client counts its requests
			m.Wire.Rename(m, json.Number(fmt.Sprint(i%3)))
		}
	}),
	"names-as-they-are": encodesNames(func(name string) string { return name }),
	"marks-in-capitals": encodesNames(func(name string) string {
		return "=?BASE64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
	}),
	"one-data-line": just(Edit{Payload: func(raw []byte) []byte {
		return raw[bytes.LastIndexByte(raw, '\n')+1:]
	}}),
	"wants-a-space": just(Edit{Line: func(line []byte) ([]byte, bool) {
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		return line, !isData || bytes.HasPrefix(value, []byte(" "))
	}}),
	"lines-end-in-lf":      just(Edit{OnlyLF: true}),
	"decodes-server-apart": just(Edit{Server: decodedApart}),
	"keeps-the-mark": just(Edit{Line: func(line []byte) ([]byte, bool) {
		if bytes.HasPrefix(line, []byte(byteOrderMark)) {
			return append([]byte(byteOrderMark), line...), true // the client ignores one
		}
		return line, true
	}}),
}

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
	o, _ := jsonvalue.ReadObject(body) // the client wrote it
	return local(r, http.StatusOK, object{"jsonrpc": "2.0", "id": o["id"],
		"error": object{"code": codeInternal, "message": "broken on purpose: the session is lost"}}), nil
})

func encodesNames(encode func(name string) string) func(*Wire) Edit {
	return out(func(m *Message) {
		if name := text(m.Params(), "name"); name != "" && m.Header.Get("Mcp-Name") != name {
			m.Header.Set("Mcp-Name", encode(name))
		}
	})
}
