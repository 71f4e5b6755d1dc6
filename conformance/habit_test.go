package conformance_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// habit is a way of its own that a client has. The reference client takes it on: what it sends, and what the model
// answers, passes through the functions that are set.
type habit struct {
	// request edits what the model is asked, reply what it answers, message what is sent to the server.
	request, reply, message func(map[string]any)
	// raw edits the bytes of what is sent to the server.
	raw func([]byte) []byte
	// listens opens the GET stream of each session, and stays never ends a session.
	listens, stays bool
}

// client is the reference with the habit. It sets shown once the habit shows.
func (h habit) client(config reference.Config, shown *atomic.Bool) func(context.Context, harness.Env) error {
	return func(ctx context.Context, env harness.Env) error {
		wire := &habitual{habit: h, to: env.HTTP.Transport, server: env.URL, speaks: env.Revision, shown: shown}
		env.HTTP = &http.Client{Transport: wire}
		err := reference.Client(config)(ctx, env)
		return errors.Join(err, wire.hangUp())
	}
}

// habitual is the network as the client with the habit uses it.
type habitual struct {
	habit
	to     http.RoundTripper
	server string
	speaks server.Revision
	shown  *atomic.Bool

	mu      sync.Mutex
	streams []io.Closer
	ended   sync.WaitGroup
}

func (w *habitual) RoundTrip(r *http.Request) (*http.Response, error) {
	toServer := r.URL.String() == w.server
	if r.Method == http.MethodDelete && w.stays {
		w.shown.Store(true)
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if toServer {
			body = w.edited(body, w.message)
			if w.raw != nil {
				before := body
				body = w.raw(body)
				w.note(before, body)
			}
		} else {
			body = w.edited(body, w.request)
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	resp, err := w.to.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if !toServer && w.reply != nil && resp.StatusCode == http.StatusOK {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		body = w.edited(body, w.reply)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if session := resp.Header.Get("Mcp-Session-Id"); toServer && session != "" && w.listens {
		return resp, w.listen(session)
	}
	return resp, nil
}

// listen opens a GET stream.
func (w *habitual) listen(session string) error {
	get, err := http.NewRequest(http.MethodGet, w.server, nil)
	if err != nil {
		return err
	}
	get.Header = http.Header{"Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {string(w.speaks)}, "Accept": {"text/event-stream"}}
	stream, err := w.to.RoundTrip(get)
	if err != nil {
		return err
	}
	w.shown.Store(true)
	w.mu.Lock()
	w.streams = append(w.streams, stream.Body)
	w.mu.Unlock()
	w.ended.Go(func() { _, _ = io.Copy(io.Discard, stream.Body) })
	return nil
}

// hangUp ends the streams before the server does.
func (w *habitual) hangUp() error {
	for _, s := range w.streams {
		if err := s.Close(); err != nil {
			return err
		}
	}
	w.ended.Wait()
	return nil
}

// edited is a JSON object after an edit.
func (w *habitual) edited(body []byte, edit func(map[string]any)) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var o map[string]any
	if edit == nil || dec.Decode(&o) != nil {
		return body
	}
	before := dialect.Marshal(o)
	edit(o)
	after := dialect.Marshal(o)
	w.note(before, after)
	return after
}

// note sees whether an edit changed anything.
func (w *habitual) note(before, after []byte) {
	if !bytes.Equal(before, after) {
		w.shown.Store(true)
	}
}

// objects are the objects in a list.
func objects(list any) []map[string]any {
	var found []map[string]any
	items, _ := list.([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			found = append(found, o)
		}
	}
	return found
}

// results edits each CreateMessageResult in a message to the server, whatever the era.
func results(edit func(result map[string]any)) func(map[string]any) {
	return func(m map[string]any) {
		if result, ok := m["result"].(map[string]any); ok && result["role"] != nil {
			edit(result)
		}
		params, _ := m["params"].(map[string]any)
		responses, _ := params["inputResponses"].(map[string]any)
		for _, response := range responses {
			if result, ok := response.(map[string]any); ok {
				edit(result)
			}
		}
	}
}

// eachMessage edits each message of a chat completion.
func eachMessage(edit func(m map[string]any)) func(map[string]any) {
	return func(body map[string]any) {
		for _, m := range objects(body["messages"]) {
			edit(m)
		}
	}
}

// chatIDs renames every id of a tool call in a chat completion.
func chatIDs(rename func(string) string) func(map[string]any) {
	return eachMessage(func(m map[string]any) {
		for _, call := range objects(m["tool_calls"]) {
			call["id"] = rename(call["id"].(string))
		}
		if id, ok := m["tool_call_id"].(string); ok {
			m["tool_call_id"] = rename(id)
		}
	})
}

// looked is a result that is neither pass nor without bearing on the client.
type looked map[string]report.Verdict

// look runs a client against the catalogue, but for its longest texts and its longest loop, and for requests that no
// habit is made for, and returns what there is to look at, by scenario/check.
func look(t *testing.T, run func(context.Context, harness.Env) error, revisions ...server.Revision) looked {
	t.Helper()
	return lookBut(t, nil, run, revisions...)
}

// lookAtTheModel is look for a habit that shows on the wire to the model alone, in a dialect other than the first.
// What is judged of the wire to the server alone is left out, and what repeats a conversation: look has them with the
// habits of the first.
func lookAtTheModel(t *testing.T, run func(context.Context, harness.Env) error) looked {
	t.Helper()
	return lookBut(t, []string{"transport", "transport/*", "tasks", "tasks/*", "mrtr/for-ever", "consent/fifty"}, run)
}

func lookBut(t *testing.T, skip []string, run func(context.Context, harness.Env) error, revisions ...server.Revision) looked {
	t.Helper()
	if revisions == nil {
		revisions = conformance.Revisions()
	}
	suite := conformance.Suite{Client: harness.InProcess(run), Revisions: revisions, Skip: append(skip, "basic/long", "malformed", "malformed/*", "loop/sixty-four-rounds"), Seed: 1, Parallel: 2, Bubble: func(f func()) {
		synctest.Test(t, func(*testing.T) { f() })
	}}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	found := looked{}
	for _, r := range rs.Results {
		if r.Verdict == report.Pass || r.Verdict == report.NotApplicable || r.Verdict == report.Info {
			continue
		}
		found[r.ID()] = report.Worst(r.Verdict, cmp.Or(found[r.ID()], report.NotApplicable))
		t.Logf("%s %s %s: %s", r.Revision, r.ID(), r.Verdict, r.Message)
	}
	return found
}

// tools are the names of all tools of a revision's run.
func tools(revision server.Revision) []string {
	var names []string
	for _, s := range conformance.Catalogue() {
		for _, c := range s.Cases {
			if slices.Contains(s.Revisions, revision) {
				names = append(names, c.Tool())
			}
		}
	}
	return append(names, harness.BarrierID)
}

// said edits the text of a chat message's content, which may be a string or parts.
func said(m map[string]any, edit func(string) string) {
	if text, ok := m["content"].(string); ok {
		m["content"] = edit(text)
	}
	for _, part := range objects(m["content"]) {
		if text, ok := part["text"].(string); ok {
			part["text"] = edit(text)
		}
	}
}

// cut is a text in two.
func cut(text string) (string, string) {
	i := strings.IndexByte(text, ' ') + 1
	return text[:i], text[i:]
}
