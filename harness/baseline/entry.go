// Package baseline knows the failures of a client that its authors have accepted for now. A run with a baseline passes
// as long as exactly those checks fail, in the same way. Everything is a pure function of results and entries.
package baseline

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/replaced"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Entry is a known failure or warning of one check, or of those that a pattern names.
type Entry struct {
	// Check is a check, such as "parallel/results-reach-model", or a pattern of [path.Match], such as "balance/*".
	Check string `yaml:"check"`
	// Max is how many results a pattern may cover. A pattern needs it; a single check has none.
	Max int `yaml:"max,omitempty"`
	// Revisions are those in which the check fails; nil for all. Dialect limits the entry to results of one dialect.
	Revisions []string `yaml:"revisions,flow,omitempty"`
	Dialect   string   `yaml:"dialect,omitempty"`
	// Messages are the messages of all cases that may fail, in the form of [Normal] or as the report has them.
	Messages []string `yaml:"messages"`
	// Cases are the cases that fail, and Kinds those of each kind of difference. A pattern of [path.Match] stands for one
	// case or more, and one with a number, such as "parallel/* (20)", for so many. Without both, any case may fail.
	Cases []string            `yaml:"cases,omitempty"`
	Kinds map[string][]string `yaml:"kinds,omitempty"`
	// Reason says why the failure is accepted. Issue is its address, and Owner who fixes it.
	Reason string `yaml:"reason"`
	Issue  string `yaml:"issue,omitempty"`
	Owner  string `yaml:"owner,omitempty"`
	// Until is the last day on which the entry is valid, such as 2027-01-31; "" for no limit.
	Until string `yaml:"until,omitempty"`
	// Flaky is true for a check that sometimes passes.
	Flaky bool `yaml:"flaky,omitempty"`

	place string // file and line; "" for an entry without a file
}

// Checks are the names of all checks, with the revisions in which each is judged.
type Checks map[string][]string

// CheckDay returns an error for a value of [Entry.Until] that is not a day of the calendar.
func CheckDay(until string) error {
	if _, err := time.Parse(time.DateOnly, until); err != nil && until != "" {
		return fmt.Errorf("expected a day such as 2027-01-31, found %q", until)
	}
	return nil
}

func (e *Entry) isPattern() bool { return strings.ContainsAny(e.Check, `*?[\`) }

func (e *Entry) names(check string) bool {
	ok, err := path.Match(e.Check, check)
	return ok && err == nil || e.Check == check
}

// Validate returns an error for an entry that is incomplete or can match nothing, and the member that is wrong.
func (e *Entry) Validate(known Checks) (member string, err error) {
	var missing []string
	if e.Check == "" {
		missing = append(missing, "check")
	}
	if len(e.Messages) == 0 {
		missing = append(missing, "messages")
	}
	if e.Reason == "" {
		missing = append(missing, "reason")
	}
	switch _, syntax := path.Match(e.Check, ""); {
	case len(missing) > 0:
		return "", fmt.Errorf("the entry has no %s", strings.Join(missing, ", no "))
	case syntax != nil:
		return "check", fmt.Errorf("invalid pattern: %w", syntax)
	case e.isPattern() && e.Max < 1:
		return "check", errors.New("expected max with the pattern: how many results it may cover")
	case !e.isPattern() && e.Max != 0:
		return "max", errors.New("expected max with a pattern only")
	}
	if err := CheckDay(e.Until); err != nil {
		return "until", err
	}
	if member, err := e.validatePins(); err != nil {
		return member, err
	}
	return e.validateNames(known)
}

func (e *Entry) validateNames(known Checks) (member string, err error) {
	var names, revisions, all []string
	found := false
	for name, judged := range known {
		names, all = append(names, name), append(all, judged...)
		if e.names(name) {
			found, revisions = true, append(revisions, judged...)
		}
	}
	if !found {
		slices.Sort(names)
		return "check", unknown("check", e.Check, names)
	}
	for _, r := range e.Revisions {
		if slices.Contains(revisions, r) {
			continue
		}
		if slices.Contains(all, r) {
			return "revisions", fmt.Errorf("%s is not judged in %s", e.Check, r)
		}
		slices.Sort(all)
		return "revisions", unknown("revision", r, slices.Compact(all))
	}
	return "", nil
}

func unknown(what, name string, known []string) error {
	text := fmt.Sprintf("unknown %s %q", what, name)
	if rule := replaced.Rules[name]; rule != "" {
		return fmt.Errorf("%s: %s replaced it", text, rule)
	}
	if near := words.DidYouMean(name, known); near != "" {
		text += "; " + near
	}
	return errors.New(text)
}

// concerns reports whether the entry is about the result, whatever its verdict is.
func (e *Entry) concerns(r *report.Result) bool {
	return e.names(r.ID()) && (e.Revisions == nil || slices.Contains(e.Revisions, r.Revision)) &&
		(e.Dialect == "" || slices.Contains(r.Dialects, e.Dialect))
}
