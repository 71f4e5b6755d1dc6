package conformance_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/reference"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var update = flag.Bool("update", false, "write the recordings in cassettes/recordings anew")

// forms are the ways in which the reference asks a model, with the recording of each.
var forms = []struct {
	recording string
	config    reference.Config
}{
	{"parallel.openai-chat-streamed", reference.Config{}},
	{"parallel.openai-chat-plain", reference.Config{Plain: true}},
	{"parallel.native", reference.Config{Dialect: dialect.Native}},
}

// playParallel plays the scenario in virtual time, from its scripts where source is nil.
func playParallel(t *testing.T, run func(context.Context, harness.Env) error, source llm.Source, revisions ...server.Revision) *report.Results {
	t.Helper()
	suite := conformance.Suite{Client: harness.InProcess(run), Revisions: revisions, Only: []string{"parallel"}, Seed: 1, Source: source,
		Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	for i := range rs.Results {
		rs.Results[i].DurationMS = 0
	}
	return rs
}

// recorded is the client with its way to the model through a recorder.
func recorded(run func(context.Context, harness.Env) error, path string) func(context.Context, harness.Env) error {
	return func(ctx context.Context, env harness.Env) error {
		straight := env.HTTP.Transport
		rec, err := cassettes.Record(path, straight, cassettes.Scripted)
		if err != nil {
			return err
		}
		env.HTTP = &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			if strings.HasPrefix(r.URL.String(), env.URL) {
				return straight.RoundTrip(r)
			}
			return rec.RoundTrip(r)
		})}
		return errors.Join(run(ctx, env), rec.Close())
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The embedded recordings are what the reference and the scripts say today. With -update they are written.
func TestRecordings(t *testing.T) {
	folder := filepath.Join("..", "cassettes", "recordings")
	for _, form := range forms {
		t.Run(form.recording, func(t *testing.T) {
			file := form.recording + ".yaml"
			to := t.TempDir()
			if *update {
				to = folder
			}
			rs := playParallel(t, recorded(reference.Client(form.config), filepath.Join(to, file)), nil, server.V20251125)
			require.False(t, rs.Failed(true), "%s", report.Text(rs, report.TextOptions{}))
			anew, err := os.ReadFile(filepath.Join(to, file))
			require.NoError(t, err)
			embedded, err := os.ReadFile(filepath.Join(folder, file))
			require.NoError(t, err)
			require.Equal(t, string(embedded), string(anew), "out of date: go test ./conformance -run TestRecordings -update")
		})
	}
}

// Replayed or scripted, the model is the same to the reference: every verdict, with its evidence, comes out alike in both revisions.
func TestARunFromRecordingsIsTheRunFromScripts(t *testing.T) {
	for _, form := range forms {
		t.Run(form.recording, func(t *testing.T) {
			source, err := cassettes.Replay()
			require.NoError(t, err)
			revisions := []server.Revision{server.V20251125, server.V20260728}
			scripted := playParallel(t, reference.Client(form.config), nil, revisions...)
			replayed := playParallel(t, reference.Client(form.config), source, revisions...)
			require.False(t, replayed.Failed(true), "%s", report.Text(replayed, report.TextOptions{}))
			require.Equal(t, string(report.JSON(scripted)), string(report.JSON(replayed)))
		})
	}
}

// A fault is found from recordings, too, although what the broken client asks then may be in none of them.
func TestMutantsAreKilledFromRecordings(t *testing.T) {
	ofParallel := func(id string) bool { return strings.HasPrefix(id, "parallel/") }
	source, err := cassettes.Replay()
	require.NoError(t, err)
	played := 0
	for _, mutant := range reference.Mutants() {
		if !slices.ContainsFunc(mutant.Kills, ofParallel) {
			continue
		}
		for _, form := range forms {
			if !mutant.ShowsIn(form.config) {
				continue
			}
			played++
			t.Run(mutant.Name+"/"+form.recording, func(t *testing.T) {
				for _, r := range playParallel(t, reference.Client(mutant.Config(form.config)), source, conformance.Revisions()...).Results {
					if slices.Contains(mutant.Kills, r.ID()) {
						require.Contains(t, []report.Verdict{report.Fail, report.Warn}, r.Verdict, "%s in %s: %s", r.ID(), r.Revision, r.Message)
					}
				}
			})
		}
	}
	require.Positive(t, played)
}
