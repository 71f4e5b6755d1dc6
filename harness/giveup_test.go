package harness

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// roundTrip is a network that answers everything at once.
type roundTrip struct{ idle bool }

func (rt *roundTrip) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(""))}, nil
}

func (rt *roundTrip) CloseIdleConnections() { rt.idle = true }

func givingUp(tools ...string) (*Env, *roundTrip) {
	network := &roundTrip{}
	env := &Env{URL: "http://127.0.0.1:1/mcp", HTTP: &http.Client{Transport: network}, Model: map[string]string{"native": "http://127.0.0.1:2/native"}, GiveUp: tools}
	env.watched()
	return env, network
}

func get(t *testing.T, env *Env, url string) {
	t.Helper()
	resp, err := env.HTTP.Get(url)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func TestACallIsGivenUpOnceTheModelBeginsToAnswer(t *testing.T) {
	env, network := givingUp("one")
	ctx, token, done := env.Call(t.Context(), "one")
	require.NotEmpty(t, token)
	get(t, env, env.URL)
	require.NoError(t, ctx.Err(), "that was the server")
	get(t, env, env.Model["native"])
	require.ErrorIs(t, context.Cause(ctx), ErrGiveUp)
	done()
	env.HTTP.CloseIdleConnections()
	require.True(t, network.idle)
}

// lateFor is a network on which a call of a tool begins before an answer comes.
type lateFor struct {
	roundTrip
	begin func()
}

func (l *lateFor) RoundTrip(r *http.Request) (*http.Response, error) {
	l.begin()
	return l.roundTrip.RoundTrip(r)
}

func TestACallIsNotGivenUpForWhatTheModelWasAskedBefore(t *testing.T) {
	network := &lateFor{}
	env := &Env{HTTP: &http.Client{Transport: network}, Model: map[string]string{"native": "http://127.0.0.1:2/native"}, GiveUp: []string{"one", "two"}}
	env.watched()
	_, _, done := env.Call(t.Context(), "one")
	var ctx context.Context
	network.begin = func() {
		done()
		ctx, _, done = env.Call(t.Context(), "two")
	}
	get(t, env, env.Model["native"])
	require.NoError(t, ctx.Err())
	network.begin = func() {}
	get(t, env, env.Model["native"])
	require.ErrorIs(t, context.Cause(ctx), ErrGiveUp)
	done()
}

func TestACallIsGivenUpOnceThereIsProgress(t *testing.T) {
	env, _ := givingUp("one")
	env.Progressed() // of nothing in particular
	ctx, _, done := env.Call(t.Context(), "one")
	copied := *env // as clients hand it on
	copied.Progressed()
	require.ErrorIs(t, context.Cause(ctx), ErrGiveUp)
	done()
	again, _, done := env.Call(t.Context(), "one")
	require.NoError(t, again.Err())
	done()
	require.NotErrorIs(t, context.Cause(again), ErrGiveUp)
}

func TestOtherCallsAreLetBe(t *testing.T) {
	env, _ := givingUp("one")
	ctx, token, done := env.Call(t.Context(), "two")
	require.Empty(t, token)
	env.Progressed()
	get(t, env, env.Model["native"])
	require.NoError(t, ctx.Err())
	done()
	require.NoError(t, ctx.Err())

	none, _ := givingUp()
	require.IsType(t, &roundTrip{}, none.HTTP.Transport, "there is nothing to watch for")
	_, token, done = none.Call(t.Context(), "one")
	require.Empty(t, token)
	none.Progressed()
	done()
}

func TestAProcessIsToldWhatToGiveUp(t *testing.T) {
	env := told
	env.GiveUp = []string{"cancel-one"}
	get := getenv(env.variables(nil))
	require.Contains(t, get("MCP_CONFORMANCE_CONTEXT"), `"giveUp":["cancel-one"]`)
	read, err := EnvFromProcess([]string{env.URL}, get)
	require.NoError(t, err)
	require.Equal(t, env.GiveUp, read.GiveUp)
	_, token, done := read.Call(t.Context(), "cancel-one")
	defer done()
	require.NotEmpty(t, token)
	require.NotContains(t, getenv(told.variables(nil))("MCP_CONFORMANCE_CONTEXT"), "giveUp")
}

func TestAStageIsMadeForEachSessionAndTheBarrierWaitsForIt(t *testing.T) {
	var story []string
	staged := Case{ID: "s/staged", GiveUp: true, Barrier: true, Make: func(l Limits) Stage {
		story = append(story, "made for "+l.Client.String())
		return Stage{Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("?")) },
			Rules: llm.Script(llm.When().Reply(llm.Text("So."))), Settled: func(context.Context) { story = append(story, "settled") }}
	}}
	var told []string
	run := func(ctx context.Context, env Env) error {
		told = env.GiveUp
		return nil
	}
	runner := Runner{Client: InProcess(run), Revision: server.V20251125}
	_, err := runner.session(t.Context(), []Case{staged}, func() {})
	require.NoError(t, err)
	require.Equal(t, []string{"s-staged"}, told)
	require.Equal(t, []string{"made for 1m0s"}, story, "nobody came as far as the barrier")

	all := stages(withBarrier([]Case{staged}), Limits{}, false)
	require.Nil(t, all[0].Rules, "the model has a source of its own")
	require.NotNil(t, all[1].Handler)
}
