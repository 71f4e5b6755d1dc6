package conformance_test

import (
	"bytes"
	"context"
	"flag"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/conformance/recordings"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
	"github.com/mcp-conform/mcp-conform/internal/solid"
)

var update = flag.Bool("update", false, "write conformance/recordings anew")

// forms are the ways in which the reference asks a model, with the suffix of their recordings.
var forms = reference.Forms()

// sampled reports whether a scenario is recorded and replayed in a form: in all forms if [sharedtest.Whole], else in
// every tenth, in turn.
func sampled(scenario, form int) bool { return sharedtest.Whole() || (scenario+form)%20 == 0 }

// replayed are all embedded recordings. Reading them takes long.
var replayed = sync.OnceValues(func() (*cassettes.Player, error) { return recordings.Replay() })

// play plays scenarios in virtual time, with their scripts if source is nil.
func play(t *testing.T, only []string, run func(context.Context, harness.Env) error, source llm.Source,
	revisions ...server.Revision) *report.Results {
	t.Helper()
	suite := conformance.Suite{Client: harness.InProcess(run), Revisions: revisions, Only: only,
		Skip: recordings.Unrecorded(), Seed: 1, Options: hooks.Options{Source: source},
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	for i := range rs.Results {
		rs.Results[i].DurationMS = 0
	}
	return rs
}

// severalAtOnce is the recorded scenario with concurrent conversations.
const severalAtOnce = "loop"

// inTurn delays a request by a part of a virtual second that depends on its body, so that concurrent requests are
// recorded in the same order every time.
func inTurn(r *http.Request) error {
	body, err := r.GetBody()
	if err != nil {
		return err
	}
	defer body.Close()
	h := fnv.New32a()
	if _, err := io.Copy(h, body); err != nil {
		return err
	}
	select {
	case <-time.After(time.Duration(h.Sum32()) % time.Second):
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// sessionTransport is the context key of a session's own transport to the model.
type sessionTransport struct{}

// record plays a scenario and records what all of its sessions ask the model.
func record(
	t *testing.T,
	scenario string,
	run func(context.Context, harness.Env) error,
	path string,
) *report.Results {
	t.Helper()
	way := transportFunc(func(r *http.Request) (*http.Response, error) {
		return r.Context().Value(sessionTransport{}).(http.RoundTripper).RoundTrip(r)
	})
	rec, err := cassettes.New(path, cassettes.WithMode(cassettes.RecordAnew), cassettes.WithTransport(way),
		cassettes.WithOrigin(cassettes.Scripted))
	require.NoError(t, err)
	rs := play(t, []string{scenario}, func(ctx context.Context, env harness.Env) error {
		straight := env.HTTP.Transport
		env.HTTP = &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			if strings.HasPrefix(r.URL.String(), env.URL) {
				return straight.RoundTrip(r)
			}
			if scenario == severalAtOnce {
				if err := inTurn(r); err != nil {
					return nil, err
				}
			}
			return rec.RoundTrip(r.WithContext(context.WithValue(r.Context(), sessionTransport{}, straight)))
		})}
		return run(ctx, env)
	}, nil, server.V20251125)
	require.NoError(t, rec.Close())
	return rs
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// recordedScenarios are the scenarios with recordings. The reference asks no model about invalid histories, so balance
// is recorded with a client that does not validate.
var recordedScenarios = []string{"basic", "tool-use", "parallel", "loop", "balance"}

// recordedFrom returns the client with which a scenario is recorded.
func recordedFrom(scenario string, config reference.Config) func(context.Context, harness.Env) error {
	if scenario == "balance" {
		return mutants.Find("hands-on-histories").Client(config, nil)
	}
	return reference.Client(config)
}

// The embedded recordings are up to date. With -update, the test writes them.
func TestRecordings(t *testing.T) {
	if !*update {
		require.ElementsMatch(t, recordedScenarios, recordings.Scenarios())
	}
	var mu sync.Mutex
	anew := map[string][]byte{}
	t.Run("all", func(t *testing.T) {
		for i, scenario := range recordedScenarios {
			for k, form := range forms {
				if !*update && !sampled(i, k) {
					continue
				}
				name := scenario + "." + form.Name
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					path := filepath.Join(t.TempDir(), name+".yaml")
					rs := record(t, scenario, recordedFrom(scenario, form.Config), path)
					require.False(t, rs.Failed(scenario != "balance"), "%s", report.Text(rs, report.TextOptions{}))
					text, err := os.ReadFile(path)
					require.NoError(t, err)
					if !*update {
						require.True(
							t,
							bytes.Equal(recordings.Text(name), text),
							"out of date: go test ./conformance -run TestRecordings -update",
						)
					}
					mu.Lock()
					defer mu.Unlock()
					anew[name] = text
				})
			}
		}
	})
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("recordings", "recordings.solid"), solid.Pack(anew), 0o644))
	}
}

// Replayed or scripted, the model is the same to the reference: every verdict and its evidence are equal.
func TestARunFromRecordingsEqualsTheRunFromScripts(t *testing.T) {
	source, err := replayed()
	require.NoError(t, err)
	for i, scenario := range recordedScenarios {
		for k, form := range forms {
			if !sampled(i, k) {
				continue
			}
			t.Run(scenario+"."+form.Name, func(t *testing.T) {
				t.Parallel()
				revisions := []server.Revision{server.V20251125}
				if scenario == "parallel" {
					revisions = server.DefaultRevisions()
				}
				scripted := play(t, []string{scenario}, reference.Client(form.Config), nil, revisions...)
				replayed := play(t, []string{scenario}, reference.Client(form.Config), source, revisions...)
				require.False(t, replayed.Failed(true), "%s", report.Text(replayed, report.TextOptions{}))
				require.Equal(t, string(report.JSON(scripted)), string(report.JSON(replayed)))
				if scenario == "balance" {
					careless := recordedFrom(scenario, form.Config)
					scripted, replayed = play(t, []string{scenario}, careless, nil, revisions...), play(t, []string{scenario},
						careless, source, revisions...)
					require.Equal(t, string(report.JSON(scripted)), string(report.JSON(replayed)))
				}
			})
		}
	}
}

// A fault is also found from recordings, unless the recordings lack what the broken client asks.
func TestMutantsAreKilledFromRecordings(t *testing.T) {
	source, err := replayed()
	require.NoError(t, err)
	var killed atomic.Int64
	t.Cleanup(func() { require.Positive(t, killed.Load()) })
	for _, scenario := range []string{"parallel", "loop", "balance"} {
		ofOthers := func(id string) bool { return !strings.HasPrefix(id, scenario+"/") }
		for i, mutant := range mutants.All() {
			kills := slices.DeleteFunc(slices.Clone(mutant.Kills), ofOthers)
			if mutant.Wire || len(kills) == 0 { // A fault towards the server is the same with any model.
				continue
			}
			for k, form := range forms {
				every := 12 // A mutant of all forms is played in one of them, in turn.
				if mutant.Dialects != nil {
					every = 1
				}
				if !sharedtest.Whole() {
					every *= 8
				}
				if !mutant.ShowsIn(form.Config) || (i+k)%every != 0 {
					continue
				}
				t.Run(mutant.Name+"/"+form.Name, func(t *testing.T) {
					t.Parallel()
					for _, r := range play(t, kills, mutant.Client(form.Config, nil), source, server.DefaultRevisions()...).Results {
						unrecorded := func(c report.CaseResult) bool {
							return c.Verdict == report.Unsupported && strings.Contains(c.Message, "--llm script")
						}
						if !slices.Contains(kills, r.ID()) || r.Verdict != report.Fail && slices.ContainsFunc(r.Cases, unrecorded) {
							continue
						}
						require.Contains(t, []report.Verdict{report.Fail, report.Warn}, r.Verdict, "%s in %s: %s", r.ID(), r.Revision,
							r.Message)
						killed.Add(1)
					}
				})
			}
		}
	}
}
