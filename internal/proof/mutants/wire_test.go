package mutants

import (
	"context"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

func init() { debug.SetGCPercent(400) } // the tests allocate much and keep little

// run runs a client on a case and returns its verdicts by check.
func run(t *testing.T, client func(context.Context, harness.Env) error, only string,
	options ...harness.Option) map[string]report.Verdict {
	t.Helper()
	suite := conformance.Suite{Client: harness.InProcess(client, options...), Only: []string{only}, Seed: 1,
		Skip:   []string{"basic/long"}, // as expensive as all other cases together
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	verdicts := map[string]report.Verdict{}
	for i := range rs.Results {
		r := &rs.Results[i]
		verdicts[r.Revision+" "+r.ID()] = r.Verdict
	}
	return verdicts
}

// everything is [Everything] without an edit that an error makes fire.
func everything(w *Wire) Edit {
	e := Everything(w)
	e.Failed = nil
	return e
}

func TestAWireThatChangesNothingIsNotNoticed(t *testing.T) {
	for name, options := range map[string][]harness.Option{"HTTP": nil, "stdio": {harness.Stdio()}} {
		t.Run(name, func(t *testing.T) {
			for _, only := range []string{"basic/question", "basic/image", "basic/audio-later", "tool-use/one-tool",
				"tool-use/two-turns", "parallel/results-reach-model", "mrtr/rounds"} {
				var fired atomic.Int64
				client := Client(reference.Config{}, everything, Condition{}, func(Change) { fired.Add(1) })
				require.Equal(t, run(t, reference.Client(reference.Config{}), only, options...), run(t, client, only, options...))
				require.Zero(t, fired.Load(), only)
			}
		})
	}
}

func TestAnEditFiresWhenItChangesSomething(t *testing.T) {
	for name, edit := range map[string]Edit{
		"params":        {Params: set("maxTokens", 7)},
		"result":        {Result: set("model", "another")},
		"message":       {Out: func(m *Message) { m.Body["extra"] = true }},
		"header":        {Out: func(m *Message) { m.Header.Set("X-Extra", "1") }},
		"model request": {ModelRequest: set("user", "somebody")},
		"model reply":   {ModelReply: func(chunks []object) []object { return append(chunks[:0:0], chunks[1:]...) }},
		"option":        {Env: func(env *harness.Env) { env.Decision = harness.Decline }},
	} {
		t.Run(name, func(t *testing.T) {
			var fired atomic.Int64
			run(t, Client(reference.Config{}, just(edit), Condition{}, func(Change) { fired.Add(1) }), "basic/question")
			require.NotZero(t, fired.Load())
		})
	}
}

func TestAClientThatDiesEndsWithAnError(t *testing.T) {
	dies := asked(func(s *Sample) { s.Wire.Die("a test") })
	verdicts := run(t, Client(reference.Config{}, dies, Condition{}, nil), "basic/question")
	require.Equal(t, report.Fail, verdicts["2025-11-25 client/ends-cleanly"])
	require.Equal(t, report.Fail, verdicts["2026-07-28 client/ends-cleanly"])
}

func TestARefusalAndAnAnswerTakeThePlaceOfTheClient(t *testing.T) {
	asked := func(edit func(*Wire) Edit) (calls int64) {
		var n atomic.Int64
		counted := func(w *Wire) Edit {
			e := edit(w)
			e.Model = func(_ *Wire, next http.RoundTripper) http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					n.Add(1)
					return next.RoundTrip(r)
				})
			}
			return e
		}
		run(t, Client(reference.Config{}, counted, Condition{}, nil), "basic/question")
		return n.Load()
	}
	require.NotZero(t, asked(just(Edit{})))
	require.Zero(t, asked(refuses(func(*Sample) bool { return true })))
	require.Zero(t, asked(just(Edit{Asked: func(s *Sample) { s.Answer(object{"role": "assistant"}) }})))
}

func TestMutantsHaveNamesOfTheirOwnAndSayWhatTheyDo(t *testing.T) {
	names := map[string]bool{}
	for _, m := range All() {
		require.False(t, names[m.Name], m.Name)
		names[m.Name] = true
		require.NotEmpty(t, m.Doc, m.Name)
		require.NotEmpty(t, m.Kills, m.Name)
		require.Equal(t, m.Name, Find(m.Name).Name)
	}
	require.Nil(t, Find("no-such-mutant"))
}
