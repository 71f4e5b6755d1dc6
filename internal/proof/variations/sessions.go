package variations

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

const (
	inSessions  = "transport basic/question tasks cancel"
	leavesOpen  = "transport/ends-session"
	sessionID   = "Mcp-Session-Id"
	eventStream = "text/event-stream"
)

// sessionVariations differ in how the client uses its sessions.
var sessionVariations = of(reference.Config{}, "session-",
	edited("listens", "opens the stream of each session with GET", "streams", inSessions, mutants.Edit{Server: listens}),
	edited("listens-and-stays", "opens that stream and never ends a session", "session-end", inSessions,
		mutants.Edit{Server: func(w *mutants.Wire, next http.RoundTripper) http.RoundTripper {
			return listens(w, stays(w, next))
		}}, warns(leavesOpen)),
	edited("stays", "never ends a session", "session-end", inSessions, mutants.Edit{Server: stays}, warns(leavesOpen)),
	edited("lists-again", "lists the tools again when they have changed, while a call is open", "tools-listed-again",
		"transport/tools-changed", mutants.Edit{Server: listsAgain}),
	edited("native-listens", "passes requests on as they are, and opens the stream", "streams", inSessions,
		mutants.Edit{Server: listens}, with(reference.Config{Dialect: dialect.Native})),
)

// roundTrip is an [http.RoundTripper] that is a function.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stays keeps the DELETE of a session from the server.
func stays(w *mutants.Wire, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodDelete {
			return next.RoundTrip(r)
		}
		w.Fire()
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	})
}

// listens opens the stream of each session, and reads it until the client ends.
func listens(w *mutants.Wire, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil || r.Method != http.MethodPost || resp.Header.Get(sessionID) == "" {
			return resp, err
		}
		get, err := http.NewRequestWithContext(w.Context, http.MethodGet, w.Env.URL, nil)
		if err != nil {
			return nil, err
		}
		get.Header = http.Header{sessionID: {resp.Header.Get(sessionID)}, "Accept": {eventStream},
			"Mcp-Protocol-Version": {string(w.Env.Revision)}}
		stream, err := next.RoundTrip(get)
		if err != nil {
			return nil, err
		}
		w.Fire()
		w.Go(func() {
			_, _ = io.Copy(io.Discard, stream.Body) // until the context ends
			_ = stream.Body.Close()
		})
		return resp, nil
	})
}

// listsAgain lists the tools while the call goes on in which they change.
func listsAgain(w *mutants.Wire, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return next.RoundTrip(r)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := next.RoundTrip(r)
		if err != nil || !bytes.Contains(body, []byte(`"name":"transport-tools-changed"`)) {
			return resp, err
		}
		list, err := http.NewRequestWithContext(w.Context, r.Method, w.Env.URL,
			strings.NewReader(`{"jsonrpc":"2.0","id":"list again","method":"tools/list"}`))
		if err != nil {
			return nil, err
		}
		list.Header = r.Header.Clone()
		listed, err := next.RoundTrip(list)
		if err != nil {
			return nil, err
		}
		w.Fire()
		return resp, listed.Body.Close()
	})
}
