package harness

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// network responds at once. It calls before, if set, first.
type network struct {
	before func()
	idle   bool
}

func (n *network) RoundTrip(*http.Request) (*http.Response, error) {
	if n.before != nil {
		n.before()
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(""))}, nil
}

func (n *network) CloseIdleConnections() { n.idle = true }

// abandoning returns an environment in which the calls of the tools are to be abandoned.
func abandoning(tools ...string) (*Env, *network) {
	n := &network{}
	env := &Env{URL: "http://127.0.0.1:1/mcp", HTTP: &http.Client{Transport: n},
		Model: map[string]string{"native": "http://127.0.0.1:2/native"}, Abandon: tools}
	env.watchModel()
	return env, n
}

func get(t *testing.T, env *Env, url string) {
	t.Helper()
	resp, err := env.HTTP.Get(url)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func TestACallIsAbandonedWhenTheModelBeginsToAnswer(t *testing.T) {
	env, n := abandoning("one")
	ctx, token, done := env.Call(t.Context(), "one")
	require.NotEmpty(t, token)
	get(t, env, env.URL)
	require.NoError(t, ctx.Err(), "a response of the server")
	get(t, env, env.Model["native"])
	require.ErrorIs(t, context.Cause(ctx), ErrAbandon)
	done()
	env.HTTP.CloseIdleConnections()
	require.True(t, n.idle)
}

func TestAnAnswerToAnEarlierCallDoesNotAbandonTheCurrentOne(t *testing.T) {
	env, n := abandoning("one", "two")
	_, _, done := env.Call(t.Context(), "one")
	var ctx context.Context
	n.before = func() {
		done()
		ctx, _, done = env.Call(t.Context(), "two")
	}
	get(t, env, env.Model["native"])
	require.NoError(t, ctx.Err())
	n.before = nil
	get(t, env, env.Model["native"])
	require.ErrorIs(t, context.Cause(ctx), ErrAbandon)
	done()
}

func TestACallIsAbandonedOnProgress(t *testing.T) {
	env, _ := abandoning("one")
	env.Progressed() // without a call
	ctx, _, done := env.Call(t.Context(), "one")
	copied := *env // clients copy it
	copied.Progressed()
	require.ErrorIs(t, context.Cause(ctx), ErrAbandon)
	done()
	second, _, done := env.Call(t.Context(), "one")
	require.NoError(t, second.Err())
	done()
	require.NotErrorIs(t, context.Cause(second), ErrAbandon)
}

func TestOtherCallsAreNotAbandoned(t *testing.T) {
	env, _ := abandoning("one")
	ctx, token, done := env.Call(t.Context(), "two")
	require.Empty(t, token)
	env.Progressed()
	get(t, env, env.Model["native"])
	done()
	require.NoError(t, ctx.Err())

	none, _ := abandoning()
	require.IsType(t, &network{}, none.HTTP.Transport, "there is nothing to watch")
	_, token, done = none.Call(t.Context(), "one")
	require.Empty(t, token)
	none.Progressed()
	done()
}

func TestAProcessReceivesTheToolsToAbandon(t *testing.T) {
	env := example
	env.Abandon = []string{"cancel-one"}
	lookup := getenv(env.variables(nil))
	require.Contains(t, lookup(envContext), `"giveUp":["cancel-one"]`)
	read, err := EnvFromProcess([]string{env.URL}, lookup)
	require.NoError(t, err)
	require.Equal(t, env.Abandon, read.Abandon)
	_, token, done := read.Call(t.Context(), "cancel-one")
	defer done()
	require.NotEmpty(t, token)
	require.NotContains(t, getenv(example.variables(nil))(envContext), "giveUp")
}
