package baseline

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// failure is a case in which a check fails, with the kind of difference; "" for none.
type failure struct{ kind, caseID string }

func (f failure) String() string {
	if f.kind == "" {
		return f.caseID
	}
	return f.caseID + " (" + f.kind + ")"
}

func describe(failures []failure) string {
	var names []string
	for _, f := range failures {
		names = append(names, f.String())
	}
	return strings.Join(names, ", ")
}

// needsEntry reports whether an entry for a result is about a case: one that fails like the result, or of a kind of
// difference that only warns.
func needsEntry(r *report.Result, c report.CaseResult) bool {
	return c.Verdict == r.Verdict || r.Verdict == report.Fail && c.Verdict == report.Warn && c.Difference != ""
}

// anyCase stands for the cases that show a difference by chance.
const anyCase = "*/*"

// failures are the cases that an entry is about; none for a check that judges no cases. Those that show a difference by
// chance count only if no case always shows it.
func failures(r *report.Result) []failure {
	var all, chance []failure
	for _, c := range r.Cases {
		switch {
		case !needsEntry(r, c):
		case c.Chance:
			chance = append(chance, failure{c.Difference, anyCase})
		default:
			all = append(all, failure{c.Difference, c.Case})
		}
	}
	for _, f := range slices.Compact(chance) {
		if !slices.ContainsFunc(all, func(a failure) bool { return a.kind == f.kind }) {
			all = append(all, f)
		}
	}
	return all
}

// pin is what an entry says of one case, or of the cases that a pattern matches.
type pin struct {
	kind, pattern string
	count         int // of the cases of the pattern; 0 for any
}

var counted = regexp.MustCompile(`^(.*) \((\d+)\)$`)

func newPin(kind, text string) pin {
	p := pin{kind: kind, pattern: text}
	if parts := counted.FindStringSubmatch(text); parts != nil {
		p.pattern = parts[1]
		p.count, _ = strconv.Atoi(parts[2])
	}
	return p
}

func (p pin) text() string {
	if p.count > 0 {
		return fmt.Sprintf("%s (%d)", p.pattern, p.count)
	}
	return p.pattern
}

func (p pin) String() string { return failure{p.kind, p.text()}.String() }

func (p pin) covers(f failure) bool {
	ok, _ := path.Match(p.pattern, f.caseID) // validatePins has seen its syntax.
	return p.kind == f.kind && ok
}

func (p pin) among(failures []failure) int {
	return len(slices.DeleteFunc(slices.Clone(failures), func(f failure) bool { return !p.covers(f) }))
}

// wasPlayed reports whether all cases of the pin are among those that were played. A pattern without a number may stand
// for others, too.
func (p pin) wasPlayed(cases []string) bool {
	n := 0
	for _, id := range cases {
		if p.covers(failure{p.kind, id}) {
			n++
		}
	}
	return n >= max(1, p.count) && (p.count > 0 || !strings.Contains(p.pattern, "*"))
}

func (e *Entry) pins() []pin {
	var pins []pin
	for _, text := range e.Cases {
		pins = append(pins, newPin("", text))
	}
	for _, kind := range slices.Sorted(maps.Keys(e.Kinds)) {
		for _, text := range e.Kinds[kind] {
			pins = append(pins, newPin(kind, text))
		}
	}
	return pins
}

func (e *Entry) pinned() bool { return len(e.Cases)+len(e.Kinds) > 0 }

func (e *Entry) setPins(pins []pin) {
	e.Cases, e.Kinds = nil, nil
	for _, p := range pins {
		switch {
		case p.kind == "":
			e.Cases = append(e.Cases, p.text())
		case e.Kinds == nil:
			e.Kinds = map[string][]string{p.kind: {p.text()}}
		default:
			e.Kinds[p.kind] = append(e.Kinds[p.kind], p.text())
		}
	}
}

// validatePins returns the member that has an invalid pattern.
func (e *Entry) validatePins() (member string, err error) {
	for _, p := range e.pins() {
		_, err := path.Match(p.pattern, "")
		if err == nil && p.pattern == "" {
			err = errors.New("expected a case, found an empty text")
		}
		if err == nil {
			continue
		}
		if p.kind != "" {
			return "kinds", fmt.Errorf("%s: %q: %w", p.kind, p.text(), err)
		}
		return "cases", fmt.Errorf("%q: %w", p.text(), err)
	}
	return "", nil
}

func uncovered(pins []pin, failures []failure) []failure {
	var rest []failure
	for _, f := range failures {
		if !slices.ContainsFunc(pins, func(p pin) bool { return p.covers(f) }) {
			rest = append(rest, f)
		}
	}
	return rest
}

const (
	// mostListed is how many cases of a scenario a new entry lists. Of more it has the number.
	mostListed             = 12
	anyExplored, anyFuzzed = "explore/*", "malformed/fuzz-*"
)

// pinsFor returns pins for failures, sorted. The cases of explore depend on the seed, so that any of them counts.
func pinsFor(failures []failure) []pin {
	byScenario := map[failure]int{}
	for _, f := range failures {
		byScenario[failure{f.kind, scenarioOf(f.caseID)}]++
	}
	var pins []pin
	for _, f := range failures {
		p := pin{kind: f.kind, pattern: f.caseID}
		n := byScenario[failure{f.kind, scenarioOf(f.caseID)}]
		switch {
		case newPin(f.kind, anyExplored).covers(f):
			p.pattern = anyExplored
		case newPin(f.kind, anyFuzzed).covers(f):
			p.pattern = anyFuzzed
		case n > mostListed:
			p.pattern, p.count = scenarioOf(f.caseID)+"/*", n
		}
		pins = append(pins, p)
	}
	return sorted(pins)
}

func scenarioOf(caseID string) string {
	scenario, _, _ := strings.Cut(caseID, "/")
	return scenario
}

func sorted(pins []pin) []pin {
	sort.Slice(pins, func(i, j int) bool { return pins[i].kind+" "+pins[i].text() < pins[j].kind+" "+pins[j].text() })
	return slices.Compact(pins)
}

// refit returns the pins as they fit the survey: patterns that people wrote stay as long as they cover something. keep
// says which stay in any case.
func refit(pins []pin, s *survey, keep func(pin) bool) []pin {
	if pins == nil {
		return pinsFor(s.cases)
	}
	var kept []pin
	for _, p := range pins {
		n := p.among(s.cases)
		if p.count > 0 && !keep(p) || n > p.count && p.count > 0 {
			p.count = n
		}
		if n > 0 || keep(p) {
			kept = append(kept, p)
		}
	}
	return sorted(append(kept, pinsFor(uncovered(kept, s.cases))...))
}

// except returns the texts of the pins that the others lack.
func except(pins, others []pin) (rest []string) {
	for _, p := range pins {
		if !slices.Contains(others, p) {
			rest = append(rest, p.String())
		}
	}
	return rest
}
