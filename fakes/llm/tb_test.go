package llm

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeTB records its calls.
type fakeTB struct {
	said     []string
	cleanups []func()
}

func (f *fakeTB) Helper()                   {}
func (f *fakeTB) Cleanup(c func())          { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) say(s string)              { f.said = append(f.said, s) }
func (f *fakeTB) Logf(s string, a ...any)   { f.say("log: " + fmt.Sprintf(s, a...)) }
func (f *fakeTB) Errorf(s string, a ...any) { f.say("error: " + fmt.Sprintf(s, a...)) }
func (f *fakeTB) Fatalf(s string, a ...any) { f.say("fatal: " + fmt.Sprintf(s, a...)) }

func (f *fakeTB) end() {
	for _, c := range slices.Backward(f.cleanups) {
		c()
	}
}

func TestNewFailsTheTest(t *testing.T) {
	var tb fakeTB
	s := New(&tb, When(LastUser("hello")).Reply(), When(Turn(9)).Reply(), When(Turn(8)).Reply().Optional())
	post(s, chatPath, hello)
	post(s, chatPath, strings.Replace(hello, "hello", "bye", 1))
	post(s, chatPath, `{}`)
	require.Empty(t, tb.said)
	tb.end()
	require.Equal(t, []string{
		`error: model request 2, POST /v1/chat/completions: no rule of the server matches this request; the nearest of 3 ` +
			`is rule 1, When(LastUser("hello")): the last user turn is "bye", expected it to contain "hello"`,
		`error: model request 3, POST /v1/chat/completions, was refused with 400: you must provide a model parameter`,
		`error: rule 2, When(Turn(9)) of the server was never used`,
	}, tb.said)
	_, err := http.Get(s.URL)
	require.Error(t, err, "the server was closed")
}

func TestRefusalsPassIfAllowed(t *testing.T) {
	var tb fakeTB
	s := New(&tb)
	s.AllowRefusals()
	post(s, chatPath, `{}`)
	tb.end()
	require.Equal(t, []string{
		`log: model request 1, POST /v1/chat/completions, was refused with 400: you must provide a model parameter`}, tb.said)
}

// Some SDKs try a WebSocket first, and fall back to HTTP.
func TestAnAttemptAtAWebSocketIsNotARefusal(t *testing.T) {
	for _, c := range []struct {
		path, upgrade string
		status        int
		said          string // "" for nothing
	}{
		{"/v1/responses", "websocket", http.StatusMethodNotAllowed, ""},
		{"/v1/responses", "", http.StatusMethodNotAllowed, "GET /v1/responses, was refused with 405: "},
		{"/v1/nothing", "websocket", http.StatusNotFound, "GET /v1/nothing, was refused with 404: "},
	} {
		var tb fakeTB
		s := New(&tb)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+c.path, nil)
		require.NoError(t, err)
		if c.upgrade != "" {
			req.Header.Set("Connection", "Upgrade")
			req.Header.Set("Upgrade", c.upgrade)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, c.status, resp.StatusCode)
		tb.end()
		if c.said == "" {
			require.Empty(t, tb.said)
			continue
		}
		require.Len(t, tb.said, 1)
		require.Contains(t, tb.said[0], c.said)
	}
}

func TestNewLogsARuleThatAnswersMoreThan100Times(t *testing.T) {
	for n, want := range map[int][]string{100: nil, 101: {`log: rule 1, When(LastUser("hello")) of the server answered ` +
		`101 times: does the client stop? Limit the rule with Times`}} {
		var tb fakeTB
		s := New(&tb, When(LastUser("hello")).Reply())
		for range n {
			post(s, chatPath, hello)
		}
		tb.end()
		require.Equal(t, want, tb.said)
	}
}

func TestRulesThatNeverOrAlwaysApplyAreErrors(t *testing.T) {
	for want, rule := range map[string]*Rule{
		`has the matcher Dialect("openai"), which matches no request: expected one of openai-chat, openai-responses, ` +
			`anthropic, gemini, ollama, cohere-chat, native (did you mean "openai-chat"?)`: When(Dialect("openai")).Reply(),
		`has the matcher Choice("any"), which matches no request: expected auto, required, none, tool:NAME, or an empty ` +
			`text (did you mean "required"?)`: When(Choice("any")).Reply(),
		`has the matcher Turn(0), which matches no request: turns count from 1`: When(Turn(0)).Reply(),
		`has the matcher LastUser(""), which matches every request: give it a text, or leave it out`: When(
			LastUser("")).Reply(),
		`has the matcher System(""), which matches every request: give it a text, or leave it out`: When(
			System("")).Reply(),

		`has the matcher Offers(""), which matches no request: give it the name of a tool`: When(Offers("")).Reply(),
		`has the matcher Model(""), which matches no request: give it the name of a model`: When(Model("")).Reply(),

		`has the stop reason "maxtokens": did you mean "maxTokens"?`: When().Reply().StopReason("maxtokens"),
	} {
		require.EqualError(t, rule.Validate(), want)
	}
	for _, valid := range []*Rule{
		When(Dialect("native"), Choice("tool:a"), Choice(""), Turn(1), LastUser(" ")).Reply(),
		When().Reply().StopReason("max_tokens"), When().Reply().StopReason("pause_turn"),
	} {
		require.NoError(t, valid.Validate())
	}
}

func TestNewPassesWhenAllRulesAreUsed(t *testing.T) {
	var tb fakeTB
	s := New(&tb, When(LastUser("hello")).Reply().Times(1))
	post(s, chatPath, hello)
	tb.end()
	require.Empty(t, tb.said)
}

func TestNewCountsTheRulesOfMarks(t *testing.T) {
	var tb fakeTB
	s := New(&tb)
	require.NoError(t, s.Script("bbbbbb", When().Reply()))
	require.NoError(t, s.Script("aaaaaa", When().Reply()))
	tb.end()
	require.Equal(t, []string{"error: rule 1, When() of mark aaaaaa was never used",
		"error: rule 1, When() of mark bbbbbb was never used"}, tb.said)
}

func TestNewRefusesInvalidRules(t *testing.T) {
	var tb fakeTB
	require.Nil(t, New(&tb, When()))
	require.Equal(t, []string{"fatal: starting the model server: rule 1 of the server says nothing: add Reply(…) or " +
		"Fail(…)"}, tb.said)
	require.Empty(t, tb.cleanups)
}

func TestNewAcceptsARealTB(t *testing.T) {
	s := New(t, When().Reply())
	require.Equal(t, 200, post(s, "/native", `{}`).Code)
}
