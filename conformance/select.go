package conformance

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/replaced"
	"github.com/mcp-conform/mcp-conform/internal/words"
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
	if rule := replaced.Rules[e.Pattern]; rule != "" {
		return fmt.Sprintf("%s: %s replaced it", text, rule)
	}
	if scenario, _, _ := strings.Cut(e.Pattern, "/"); scenario == gatewayScenario {
		return text + ": the checks of a gateway judge all that is played; select cases, such as basic/question"
	}
	if len(e.Nearest) > 0 {
		text += "; did you mean " + strings.Join(e.Nearest, ", ") + "?"
	}
	return text
}

// selection decides what a run plays and judges, by the patterns of [Only] and [Skip].
type selection struct {
	only, skip patterns
	namesRules bool      // only names checks of every case. If it names none, all of them are judged.
	generated  generated // the cases of this run that are not in the catalogue; nil for none
}

// patterns are kept by kind, because most are names, which a map finds at once.
type patterns struct {
	names map[string]bool
	globs []string
}

func newPatterns(all []string) patterns {
	p := patterns{names: map[string]bool{}}
	for _, pattern := range all {
		if strings.ContainsAny(pattern, `*?[\`) {
			p.globs = append(p.globs, pattern)
		} else {
			p.names[pattern] = true
		}
	}
	return p
}

func (p *patterns) none() bool { return len(p.names) == 0 && len(p.globs) == 0 }

func (p *patterns) match(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return p.names[name] || slices.ContainsFunc(p.globs, func(glob string) bool {
			ok, _ := path.Match(glob, name) // newSelection validated it.
			return ok
		})
	})
}

// newSelection validates the patterns.
func newSelection(only, skip []string, generated generated) (*selection, error) {
	names := allNames()
	if generated != nil {
		for _, c := range generated(server.DefaultRevisions()[0]) {
			names = append(names, c.ID)
		}
	}
	for _, pattern := range slices.Concat(only, skip) {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, &SelectionError{Pattern: pattern, Err: err}
		}
		if one := newPatterns([]string{pattern}); !one.match(names...) {
			return nil, &SelectionError{Pattern: pattern, Nearest: words.Near(pattern, names)}
		}
	}
	s := &selection{only: newPatterns(only), skip: newPatterns(skip), generated: generated}
	for _, scenario := range catalogue() {
		for _, c := range scenario.Checks {
			s.namesRules = s.namesRules || scenario.EveryCase && s.only.match(scenario.ID, scenario.ID+"/"+c.ID)
		}
	}
	return s, nil
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

// check reports whether a check is judged: it, its scenario or one of its cases is selected, and it is not skipped.
func (s *selection) check(scenario *check.Scenario, check *check.Check) bool {
	if s == nil {
		return true
	}
	names := []string{scenario.ID, scenario.ID + "/" + check.ID}
	if s.skip.match(names...) {
		return false
	}
	if scenario.EveryCase && !s.namesRules {
		return true
	}
	for _, c := range scenario.Cases {
		if check.Judges(c.ID) {
			names = append(names, c.ID)
		}
	}
	return s.only.none() || s.only.match(names...)
}

// cases returns the cases to play in a revision so that the selection can be judged.
func (s *selection) cases(revision server.Revision) []harness.Case {
	if s.namesRules {
		s = &selection{skip: s.skip, generated: s.generated}
	}
	all := s.only.none()
	var cases, generated []harness.Case
	if s.generated != nil {
		generated = s.generated(revision)
	}
	for _, scenario := range catalogue() {
		if !slices.Contains(scenario.Revisions, revision) {
			continue
		}
		scenario.Cases = withCases(&scenario, generated)
		judged := s.judged(&scenario, revision)
		for _, c := range scenario.Cases {
			shows := func(check *check.Check) bool {
				named := all || s.only.match(scenario.ID, c.ID, scenario.ID+"/"+check.ID)
				return named && check.Judges(c.ID)
			}
			playable := c.Revisions == nil || slices.Contains(c.Revisions, revision)
			alone := s.alone(&scenario, c.ID)
			if playable && !s.skip.match(c.ID) && (alone || slices.ContainsFunc(judged, shows)) {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// alone reports whether a case is selected that no check of its scenario judges. It is there for the rules of every
// case.
func (s *selection) alone(scenario *check.Scenario, caseID string) bool {
	judged := slices.ContainsFunc(scenario.Checks, func(check check.Check) bool { return check.Judges(caseID) })
	return !judged && (s.only.none() || s.only.match(scenario.ID, caseID)) && !s.skip.match(scenario.ID)
}

// withCases returns the cases of the scenario, and those of others that belong to it.
func withCases(scenario *check.Scenario, others []harness.Case) []harness.Case {
	cases := slices.Clip(scenario.Cases)
	for _, c := range others {
		if strings.HasPrefix(c.ID, scenario.ID+"/") {
			cases = append(cases, c)
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
