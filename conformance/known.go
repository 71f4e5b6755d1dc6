package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Known accepts failures and warnings of the client: their subtests are skipped with the reason. The test fails if one
// of them no longer fails, fails in another way, or has expired, so that the list stays true.
func Known(entries ...baseline.Entry) Option {
	return func(s *settings) {
		s.known = func() (*baseline.File, error) {
			for i := range entries {
				if member, err := entries[i].Validate(BaselineChecks()); err != nil {
					return nil, fmt.Errorf("known failure %d (%s), %s: %w", i+1, entries[i].Check, member, err)
				}
			}
			return &baseline.File{Entries: entries}, nil
		}
	}
}

// KnownIn is Known for the entries of a file, as mcp-conform run --baseline reads it. If the environment variable
// MCP_CONFORM_BASELINE is "update", the test writes the file, as mcp-conform baseline --update does, with an entry for
// each failure and, with [Strict], each warning.
func KnownIn(path string) Option {
	return func(s *settings) {
		s.known = func() (*baseline.File, error) {
			f, err := baseline.Read(path, BaselineChecks())
			if updates() && errors.Is(err, fs.ErrNotExist) {
				return baseline.Parse(path, nil, nil)
			}
			return f, err
		}
	}
}

// updates reports whether [KnownIn] writes its file.
func updates() bool { return os.Getenv("MCP_CONFORM_BASELINE") == "update" }

// compare marks what is known, and reports what is wrong with the list. Or it writes the list anew.
func (s *settings) compare(t *testing.T, rs *report.Results, known *baseline.File) *report.Results {
	t.Helper()
	if updates() && known.Name != "" {
		text, changes := known.Update(rs, baseline.Fresh{Reason: "not explained yet", Strict: s.strict})
		f, err := baseline.Parse(known.Name, []byte(text), BaselineChecks())
		if err == nil && len(changes) > 0 {
			err = os.WriteFile(known.Name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatalf("conformance: %v", err)
		}
		for _, change := range changes {
			t.Logf("conformance: %s: %s", known.Name, change)
		}
		known = f
	}
	rs = baseline.Apply(rs, known.Entries, time.Now().Format(time.DateOnly))
	for _, p := range rs.Baseline.Problems {
		t.Errorf("conformance: known failure %s: %s: %s", cmp.Or(p.Place, p.Check), p.Kind, p.Message)
	}
	return rs
}

// BaselineChecks returns the checks that a baseline may name, with their revisions.
func BaselineChecks() baseline.Checks {
	checks := baseline.Checks{}
	all := GatewayChecks()
	for _, s := range Scenarios() {
		all = append(all, s.Checks...)
	}
	for _, c := range all {
		for _, r := range server.AllRevisions() {
			if c.Levels[r] != "" {
				checks[c.ID] = append(checks[c.ID], string(r))
			}
		}
	}
	return checks
}
