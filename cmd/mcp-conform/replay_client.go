package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// replayPrefix begins the name of a client that says what another one said in the traces of a run.
const replayPrefix = "replay:"

// replayed is the client of the traces at a path. The run plays the cases and the revisions of the traces, unless its
// flags say otherwise, with their seed.
func (c *runCommand) replayed(path string) (harness.Client, error) {
	files, err := replay.Files(newestRun(path, io.Discard))
	if err != nil {
		return harness.Client{}, err
	}
	var traces []*trace.Trace
	for _, file := range files {
		one, err := readTrace(file)
		if err != nil {
			return harness.Client{}, err
		}
		traces = append(traces, one)
	}
	options := []harness.Option{harness.Loopback()}
	var cases, revisions []string
	for _, t := range traces {
		h := &t.Header
		if h.Tapped {
			return harness.Client{}, fmt.Errorf(
				"--client %s: expected traces of a run: a server of ours did not take part in this "+
					"session; use mcp-conform verify",
				c.Builtin,
			)
		}
		revisions = append(revisions, h.Revision)
		for _, one := range h.Cases {
			if isPlayable(one.ID) {
				cases = append(cases, one.ID)
			}
		}
		if h.Transport == trace.Stdio {
			options = []harness.Option{harness.Stdio()}
		}
	}
	if cases == nil {
		return harness.Client{}, fmt.Errorf("--client %s: no case of the traces is in the catalogue", c.Builtin)
	}
	c.Seed = traces[0].Header.Seed
	if c.Scenario == nil {
		slices.Sort(cases)
		c.Scenario = slices.Compact(cases)
	}
	if c.Revision == nil {
		slices.Sort(revisions)
		c.Revision = slices.Compact(revisions)
	}
	none := 0
	c.Explore = &none
	one := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		i := recordedFor(traces, &env)
		if i < 0 {
			return fmt.Errorf("no trace of %s has the cases of this session", path)
		}
		_, err := client.PlayWithModel(ctx, client.Options{URL: env.URL, HTTP: env.HTTP, Launch: env.Launch}, files[i],
			askAgain(&env))
		return err
	}, options...)
	one.Name, one.Has = c.Builtin, c.Has
	return one, nil
}

// isPlayable reports whether a case is in the catalogue: generated ones are not.
func isPlayable(id string) bool {
	for _, s := range conformance.Scenarios() {
		if slices.Contains(s.Cases, id) {
			return true
		}
	}
	return false
}

// recordedFor returns the index of the trace for a session: one in its revision that has all its tools, at best no
// others; -1 for none.
func recordedFor(traces []*trace.Trace, env *harness.Env) int {
	best, fewest := -1, 0
	for i, t := range traces {
		if t.Header.Revision != string(env.Revision) {
			continue
		}
		has := map[string]bool{}
		for _, c := range t.Header.Cases {
			has[c.Tool] = true
		}
		missing := slices.ContainsFunc(env.Offered(), func(tool string) bool { return !has[tool] })
		if !missing && (best < 0 || len(has) < fewest) {
			best, fewest = i, len(has)
		}
	}
	return best
}

// askAgain makes the recorded requests to the model at today's address, with today's key.
func askAgain(env *harness.Env) func(context.Context, *trace.ModelRequest) {
	facts := dialects.Facts()
	http11 := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context, m *trace.ModelRequest) {
		f := facts[m.Dialect]
		base := strings.TrimSuffix(env.Model[m.Dialect], f.Base)
		r, err := http.NewRequestWithContext(ctx, m.Method, base+m.Path, bytes.NewReader(m.Body))
		if err != nil {
			return // the check of the model's wire sees that it is missing
		}
		for name, value := range m.Header {
			r.Header.Set(name, value)
		}
		r.Header.Set("Content-Type", "application/json")
		if f.KeyHeader != "" {
			r.Header.Set(f.KeyHeader, env.Key)
		} else {
			r.Header.Set("Authorization", "Bearer "+env.Key)
		}
		if resp, err := http11.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
}
