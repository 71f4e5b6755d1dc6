package conformance

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/nearest"
)

// SelectionError is the error for a selection without a match.
type SelectionError struct {
	// Pattern is invalid or matches nothing; "" if the selection as a whole has no case.
	Pattern string
	// Nearest holds similar names.
	Nearest []string
	// Err is the syntax error of an invalid pattern; else nil.
	Err error
}

func (e *SelectionError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("pattern %q: %v", e.Pattern, e.Err)
	case e.Pattern == "":
		return "the selection has no case in the revisions that are run"
	}
	text := fmt.Sprintf("%q matches no scenario, case or check", e.Pattern)
	if len(e.Nearest) > 0 {
		text += "; did you mean " + strings.Join(e.Nearest, ", ") + "?"
	}
	return text
}

// selection decides what a run plays and judges, by the patterns of [Only] and [Skip].
type selection struct {
	only, skip []string
	generated  []harness.Case // For this run, in the scenario malformed.
}

// newSelection validates the patterns.
func newSelection(only, skip []string, generated ...harness.Case) (*selection, error) {
	names := allNames()
	for _, c := range generated {
		names = append(names, c.ID)
	}
	for _, pattern := range slices.Concat(only, skip) {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, &SelectionError{Pattern: pattern, Err: err}
		}
		if !slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
			return nil, &SelectionError{Pattern: pattern, Nearest: nearest.Names(pattern, names)}
		}
	}
	return &selection{only, skip, generated}, nil
}

// allNames returns the names that a pattern can match.
func allNames() []string {
	var names []string
	for _, s := range catalogue() {
		names = append(names, s.ID)
		for _, c := range s.Cases {
			names = append(names, c.ID)
		}
		for _, c := range s.Checks {
			names = append(names, s.ID+"/"+c.ID)
		}
	}
	return names
}

func matches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return pattern == name
	}
	ok, _ := path.Match(pattern, name) // newSelection validated it.
	return ok
}

func anyMatches(patterns []string, names ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return matches(p, n) })
	})
}

// check reports whether a check is judged: it, its scenario or one of its cases is selected, and it is not skipped.
func (s *selection) check(scenario *check.Scenario, check *check.Check) bool {
	if s == nil {
		return true
	}
	names := []string{scenario.ID, scenario.ID + "/" + check.ID}
	if anyMatches(s.skip, names...) {
		return false
	}
	for _, c := range scenario.Cases {
		if check.Judges(c.ID) {
			names = append(names, c.ID)
		}
	}
	return len(s.only) == 0 || anyMatches(s.only, names...)
}

// cases returns the cases to play in a revision so that the selection can be judged.
func (s *selection) cases(revision server.Revision) []harness.Case {
	var cases []harness.Case
	for _, scenario := range catalogue() {
		if !slices.Contains(scenario.Revisions, revision) {
			continue
		}
		if scenario.ID == malformed.MalformedID {
			scenario.Cases = append(slices.Clip(scenario.Cases), s.generated...)
		}
		judged := s.judged(&scenario, revision)
		for _, c := range scenario.Cases {
			shows := func(check *check.Check) bool {
				named := len(s.only) == 0 || anyMatches(s.only, scenario.ID, c.ID, scenario.ID+"/"+check.ID)
				return named && check.Judges(c.ID)
			}
			playable := c.Revisions == nil || slices.Contains(c.Revisions, revision)
			if playable && !anyMatches(s.skip, c.ID) && slices.ContainsFunc(judged, shows) {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// judged returns the selected checks of a scenario that have a level in the revision.
func (s *selection) judged(scenario *check.Scenario, revision server.Revision) []*check.Check {
	var judged []*check.Check
	for i := range scenario.Checks {
		if c := &scenario.Checks[i]; c.Levels[revision] != "" && s.check(scenario, c) {
			judged = append(judged, c)
		}
	}
	return judged
}
