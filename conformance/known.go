package conformance

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/harness/baseline"
)

// Known accepts failures and warnings of the client: their subtests are skipped with the reason. The test fails if one
// of them no longer fails, fails in another way, or has expired, so that the list stays true.
func Known(entries ...baseline.Entry) Option {
	return func(s *settings) {
		s.known = func() ([]baseline.Entry, error) {
			for i := range entries {
				if member, err := entries[i].Validate(BaselineChecks()); err != nil {
					return nil, fmt.Errorf("known failure %d (%s), %s: %w", i+1, entries[i].Check, member, err)
				}
			}
			return entries, nil
		}
	}
}

// KnownIn is Known for the entries of a file, as mcp-conform run --baseline reads it.
func KnownIn(path string) Option {
	return func(s *settings) {
		s.known = func() ([]baseline.Entry, error) {
			f, err := baseline.Read(path, BaselineChecks())
			if err != nil {
				return nil, err
			}
			return f.Entries, nil
		}
	}
}

// BaselineChecks returns the checks that a baseline may name, with their revisions.
func BaselineChecks() baseline.Checks {
	checks := baseline.Checks{}
	for _, s := range Scenarios() {
		for _, c := range s.Checks {
			for _, r := range AllRevisions() {
				if c.Levels[r] != "" {
					checks[c.ID] = append(checks[c.ID], string(r))
				}
			}
		}
	}
	return checks
}
