package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestWhatTheClientHasNotDeclaredIsNotSent(t *testing.T) {
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
		t.Run(fmt.Sprint(c.revision, c.capabilities, c.missing), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
					params := c.params
					if params == nil {
						params = s.Ask("?")
					}
					_, err := s.Sample(params)
					require.ErrorIs(t, err, server.ErrUndeclared)
					require.False(t, server.Refused(err))
					return nil, fmt.Errorf("as it was to be expected: %w (and no wonder)", err)
				}})
				text := "as it was to be expected: the client has not declared the capability: " + c.missing + " (and no wonder)"
				if !c.revision.Modern() {
					got := r.legacy(c.revision, c.capabilities).call(1, "ask").last().call(t)
					require.True(t, got.IsError)
					require.Equal(t, text, got.text(t))
				} else {
					reply := r.modern().callModern(1, "ask", c.capabilities, "")
					require.Equal(t, http.StatusBadRequest, reply.StatusCode)
					got := reply.last()
					require.Equal(t, "1", string(got.ID))
					require.Equal(t, -32021, got.Error.Code)
					require.Equal(t, "the client has not declared the capability: "+c.missing, got.Error.Message)
					want := map[string]string{"sampling": `{"requiredCapabilities":{"sampling":{}}}`, "sampling.tools": `{"requiredCapabilities":{"sampling":{"tools":{}}}}`}
					require.JSONEq(t, want[c.missing], string(got.Error.Data))
				}
				require.Contains(t, r.story("ask"), "mark withheld")
			})
		})
	}
}

var (
	toolParams   = json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
	choiceParams = json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1,"toolChoice":{"mode":"none"}}`)
)

func TestAMissingCapabilityHasAStatusAlsoWhereResponsesAreStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.SSE}, server.Tool{Name: "ask", Handler: ask})
		reply := r.modern().callModern(1, "ask", nothing, "")
		require.Equal(t, http.StatusBadRequest, reply.StatusCode)
		require.Equal(t, -32021, reply.last().Error.Code)
	})
}

func TestWhatOlderRevisionsDoNotHaveIsNotSent(t *testing.T) {
	array := json.RawMessage(`{"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}],"maxTokens":1}`)
	for _, revision := range []server.Revision{server.V20250326, server.V20250618} {
		for name, c := range map[string]struct {
			params func(*server.Session) any
			want   error
		}{
			"tools asked for": {func(s *server.Session) any { return s.Ask("?", server.Tool{Name: "t"}) }, server.ErrEra},
			"by value":        {func(s *server.Session) any { return *s.Ask("?", server.Tool{Name: "t"}) }, server.ErrEra},
			"tools, raw":      {func(*server.Session) any { return toolParams }, server.ErrEra},
			"choice, raw":     {func(*server.Session) any { return choiceParams }, server.ErrEra},
			"content array":   {func(*server.Session) any { return array }, server.ErrInvalid},
		} {
			t.Run(string(revision)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) { return s.Sample(c.params(s)) }})
					var seen []string
					if errors.Is(c.want, server.ErrInvalid) {
						r.expected = []string{"the play of tool ask samples with invalid params (wrap them in server.Hostile if that is meant): messages[0].content"}
						seen = append(seen, "mark harness-error")
					}
					got := r.legacy(revision, tools).call(1, "ask").last().call(t)
					require.True(t, got.IsError)
					require.Contains(t, got.text(t), c.want.Error())
					want := slices.Concat([]string{"client tools/call", "mark handler-started"}, seen, []string{"mark handler-ended", "server result"})
					require.Equal(t, want, r.story("ask"))
				})
			})
		}
	}
}

func TestTheSecondErasOwnIsNotThereInTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			retry, err := s.InputRequired(server.Input{})
			require.Nil(t, retry)
			require.ErrorIs(t, err, server.ErrEra)
			return nil, err
		}})
		require.Equal(t, "the client's revision does not have this: InputRequiredResult came with 2026-07-28, the client speaks 2025-11-25",
			r.legacy(server.V20251125, sampling).call(1, "ask").last().call(t).text(t))
	})
}

func TestInvalidParamsAreNotSentAndOurProblem(t *testing.T) {
	for name, c := range map[string]struct {
		params  any
		problem string
	}{
		"no messages":  {map[string]any{"maxTokens": 1}, "missing property 'messages'"},
		"no JSON":      {json.RawMessage(`{`), "not JSON: the text ends too early"},
		"twice":        {json.RawMessage(`{"messages":[],"maxTokens":1,"maxTokens":2}`), "property 'maxTokens' appears twice"},
		"nothing":      {nil, "want object, got null"},
		"no UTF-8":     {json.RawMessage("{\"messages\":[],\"maxTokens\":1,\"a\":\"\xff\"}"), "the text is not valid UTF-8"},
		"cannot be it": {func() {}, "json: unsupported type: func()"},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
				r := start(server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
					_, err := s.Sample(c.params)
					require.ErrorIs(t, err, server.ErrInvalid)
					require.False(t, server.Refused(err))
					return nil, nil
				}})
				r.expected = []string{c.problem}
				require.Empty(t, call(r, "ask", "").call(t).Content)
			})
		})
	}
}

func TestNewFailsTheTestOfAPlayThatBrokeTheProtocol(t *testing.T) {
	tb := &recordedTB{}
	srv := server.New(tb, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) { return s.Sample(map[string]any{}) }})
	client := newClient()
	r := &rig{Server: srv, t: t, http: client}
	r.legacy(server.V20251125, sampling).call(1, "ask").last()
	require.Empty(t, tb.failures)
	for _, cleanup := range tb.cleanups {
		cleanup()
	}
	client.CloseIdleConnections()
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "fake MCP server: the play of tool ask samples with invalid params (wrap them in server.Hostile if that is meant): ")
}

func TestNewFailsTheTestWhereItCannotStart(t *testing.T) {
	tb := &recordedTB{}
	require.Nil(t, server.New(tb, server.Tool{Name: "no play"}))
	require.Equal(t, []string{`starting the fake MCP server: tool name "no play": want 1 to 128 characters of [A-Za-z0-9_.-]`}, tb.failures)
}

// recordedTB is a test that goes on.
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
