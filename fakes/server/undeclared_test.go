package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

const oneMessage = `"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1`

var (
	toolParams   = json.RawMessage(`{` + oneMessage + `,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
	choiceParams = json.RawMessage(`{` + oneMessage + `,"toolChoice":{"mode":"none"}}`)
)

func TestRequestThatNeedsAnUndeclaredCapabilityIsNotSent(t *testing.T) {
	for _, c := range []struct {
		revision     server.Revision
		capabilities string
		params       any
		missing      string
	}{
		{server.V20251125, nothing, nil, "sampling"},
		{server.V20250326, nothing, nil, "sampling"},
		{server.V20251125, sampling, toolParams, "sampling.tools"},
		{server.V20251125, sampling, choiceParams, "sampling.tools"},
		{server.V20251125, nothing, toolParams, "sampling"},
		{server.V20260728, nothing, nil, "sampling"},
		{server.V20260728, sampling, toolParams, "sampling.tools"},
		{server.V20260728, `{"sampling":{"tools":null}}`, choiceParams, "sampling.tools"},
	} {
		inBubble(t, fmt.Sprint(c.revision, c.capabilities, c.missing), func(t *testing.T) {
			// A stream must not hide the HTTP status.
			r := startWith(t, server.Options{ResponseMode: server.SSE},
				tool("ask", func(s *server.Session) (any, error) {
					params := c.params
					if params == nil {
						params = s.Ask("?")
					}
					_, err := s.Sample(params)
					require.ErrorIs(t, err, server.ErrUndeclared)
					require.False(t, server.Refused(err))
					return nil, fmt.Errorf("wrapped: %w", err)
				}))
			reply := r.client(c.revision, c.capabilities).call(1, "ask")
			if !c.revision.Modern() {
				got := reply.last()
				require.True(t, got.call(t).IsError)
				require.Equal(t, "wrapped: the client has not declared the capability: "+c.missing, got.text(t))
			} else {
				got := reply.requireError(400, -32021, c.missing)
				require.Equal(t, "1", string(got.ID))
				want := map[string]string{"sampling": `{}`, "sampling.tools": `{"tools":{}}`}[c.missing]
				require.JSONEq(t, `{"requiredCapabilities":{"sampling":`+want+`}}`, string(got.Error.Data))
			}
			require.Contains(t, r.story("ask"), "mark withheld")
		})
	}
}

func TestFeatureOfALaterRevisionIsNotSent(t *testing.T) {
	array := json.RawMessage(`{"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}],"maxTokens":1}`)
	for name, c := range map[string]struct {
		params func(*server.Session) any
		want   error
	}{
		"tools":         {func(s *server.Session) any { return s.Ask("?", server.Tool{Name: "t"}) }, server.ErrRevision},
		"by value":      {func(s *server.Session) any { return *s.Ask("?", server.Tool{Name: "t"}) }, server.ErrRevision},
		"raw tools":     {func(*server.Session) any { return toolParams }, server.ErrRevision},
		"raw choice":    {func(*server.Session) any { return choiceParams }, server.ErrRevision},
		"content array": {func(*server.Session) any { return array }, server.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, server.AllRevisions()[:2], func(t *testing.T, revision server.Revision) {
				r := start(t, tool("ask", func(s *server.Session) (any, error) { return s.Sample(c.params(s)) }))
				story := "call, start, end, server result"
				if errors.Is(c.want, server.ErrInvalid) {
					r.expected = []string{"messages[0].content"}
					story = "call, start, mark harness-error, end, server result"
				}
				got := r.client(revision, tools).call(1, "ask").last()
				require.True(t, got.call(t).IsError)
				require.Contains(t, got.text(t), c.want.Error())
				r.requireStory("ask", story)
			})
		})
	}
}

func TestLegacyRevisionsHaveNoInputRequired(t *testing.T) {
	inCall(t, bothProtocols[:1], sampling, func(s *server.Session) {
		retry, err := s.InputRequired(server.InputRequiredResult{})
		require.Nil(t, retry)
		require.ErrorIs(t, err, server.ErrRevision)
	})
}

func TestInvalidParamsAreNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		params  any
		problem string
	}{
		"no messages":  {map[string]any{"maxTokens": 1}, "missing property 'messages'"},
		"invalid JSON": {json.RawMessage(`{`), "not JSON"},
		"duplicate member": {json.RawMessage(`{"messages":[],"maxTokens":1,"maxTokens":2}`),
			"property 'maxTokens' appears twice"},
		"null":              {nil, "found null"},
		"invalid UTF-8":     {json.RawMessage("{\"messages\":[],\"maxTokens\":1,\"a\":\"\xff\"}"), "UTF-8"},
		"cannot be encoded": {func() {}, "json: unsupported type: func()"},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
				r, got := callIn(t, revision, tool("ask", does(func(s *server.Session) {
					_, err := s.Sample(c.params)
					require.ErrorIs(t, err, server.ErrInvalid)
					require.False(t, server.Refused(err))
				})))
				r.expected = []string{c.problem}
				require.Equal(t, "done", got.text(t))
				r.Problems()[0] = "changed" // a copy: the rig checks the original
			})
		})
	}
}

func TestNewFailsTheTestOfAHandlerThatBreaksTheProtocol(t *testing.T) {
	tb := &recordedTB{}
	srv := server.New(tb, tool("ask", samples(map[string]any{})))
	r := &rig{Server: srv, t: t, http: &http.Client{Transport: &http.Transport{}}}
	r.legacy(sampling).call(1, "ask").last()
	require.Empty(t, tb.failures)
	for _, cleanup := range tb.cleanups {
		cleanup()
	}
	r.http.CloseIdleConnections()
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "the handler of tool ask sends an invalid sampling/createMessage")
}

func TestNewFailsTheTestWhenItCannotStart(t *testing.T) {
	tb := &recordedTB{}
	require.Nil(t, server.New(tb, server.Tool{Name: "two words"}))
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], `tool name "two words"`)
}

// recordedTB is a test that continues after a failure.
type recordedTB struct {
	cleanups []func()
	failures []string
}

func (tb *recordedTB) Helper()          {}
func (tb *recordedTB) Cleanup(f func()) { tb.cleanups = append(tb.cleanups, f) }
func (tb *recordedTB) Errorf(format string, args ...any) {
	tb.failures = append(tb.failures, fmt.Sprintf(format, args...))
}
func (tb *recordedTB) Fatalf(format string, args ...any) { tb.Errorf(format, args...) }
