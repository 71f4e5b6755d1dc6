package conformance

import (
	"fmt"
	"github.com/mcp-conform/mcp-conform/internal/nearest"
	"path"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/malformed"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// SelectionError says that what was selected is not there: a mistake of whoever called.
type SelectionError struct {
	// Pattern is the pattern that is malformed or matches nothing; "" where all of them together leave nothing.
	Pattern string
	// Nearest are names that come near it.
	Nearest []string
	// Err says what is wrong with a malformed pattern.
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

// selection is what a run plays and judges. A pattern names scenarios ("parallel"), cases ("parallel/two-cities") or checks
// ("parallel/results-*"), with the wildcards of [path.Match]; "*" is every scenario. A check brings its cases, and a
// case all checks that it shows.
type selection struct {
	only, skip []string
	made       []harness.Case // for this run, of the scenario malformed
}

// newSelection checks the patterns.
func newSelection(only, skip []string, made ...harness.Case) (*selection, error) {
	names := allNames()
	for _, c := range made {
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
	return &selection{only, skip, made}, nil
}

// allNames are the names that a pattern can match.
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
	ok, _ := path.Match(pattern, name) // checked before
	return ok
}

func anyMatches(patterns []string, names ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return matches(p, n) })
	})
}

// check reports whether a check is judged: it is named, or its scenario is, or one of its cases, and it is not skipped.
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

// cases returns what has to be played in a revision for the selection to be judged.
func (s *selection) cases(revision server.Revision) []harness.Case {
	var cases []harness.Case
	for _, scenario := range catalogue() {
		if !slices.Contains(scenario.Revisions, revision) {
			continue
		}
		if scenario.ID == malformed.MalformedID {
			scenario.Cases = append(slices.Clip(scenario.Cases), s.made...)
		}
		var judged []*check.Check
		for i := range scenario.Checks {
			if check := &scenario.Checks[i]; check.Levels[revision] != "" && s.check(&scenario, check) {
				judged = append(judged, check)
			}
		}
		for _, c := range scenario.Cases {
			shows := func(check *check.Check) bool {
				return check.Judges(c.ID) && (len(s.only) == 0 || anyMatches(s.only, scenario.ID, c.ID, scenario.ID+"/"+check.ID))
			}
			playable := c.Revisions == nil || slices.Contains(c.Revisions, revision)
			if playable && !anyMatches(s.skip, c.ID) && slices.ContainsFunc(judged, shows) {
				cases = append(cases, c)
			}
		}
	}
	return cases
}
