package selftest

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// conditionsText lists the pairs that never fire, those that do no harm, and those that nothing names yet. Its first
// lines explain the format.
//
//go:embed testdata/conditions.txt
var conditionsText string

// exception is an entry of the list.
type exception struct {
	mutants    []string // chapters, and patterns of names
	conditions []string
	reason     string
	count      int // how many pairs it covers
	covered    []*Pair
}

func (e *exception) covers(p *Pair) bool {
	return slices.Contains(e.conditions, p.Condition) && slices.ContainsFunc(e.mutants, func(pattern string) bool {
		matches, err := path.Match(pattern, p.Mutant)
		return pattern == p.chapter || err == nil && matches
	})
}

func (e *exception) String() string { return e.covering(len(e.covered)) }

func (e *exception) covering(n int) string {
	return fmt.Sprintf("\t%s / %s  %d", strings.Join(e.mutants, " "), strings.Join(e.conditions, " "), n)
}

// The sections of the list.
const (
	never    = "never"   // what cannot exist
	missing  = "missing" // what no case asks for yet
	harmless = "harmless"
	survives = "survives"
)

// exceptions are the entries of the list by section.
type exceptions map[string][]*exception

// readExceptions reads the list. A section has reasons and, under each, entries that begin with a tab.
func readExceptions(list string) exceptions {
	all := exceptions{}
	section, reason := "", ""
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		entry, isEntry := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "== "):
			section, reason = strings.TrimPrefix(line, "== "), ""
		case isEntry:
			names, conditions, _ := strings.Cut(entry, " / ")
			e := &exception{mutants: strings.Fields(names), conditions: strings.Fields(conditions), reason: reason}
			if last := len(e.conditions) - 1; last >= 0 {
				if n, err := strconv.Atoi(e.conditions[last]); err == nil {
					e.count, e.conditions = n, e.conditions[:last]
				}
			}
			all[section] = append(all[section], e)
		case line != "":
			reason = line
		}
	}
	return all
}

// cover finds the entry of a section that covers a pair, and counts the pair there.
func (x exceptions) cover(section string, p *Pair) bool {
	for _, e := range x[section] {
		if e.covers(p) {
			e.covered = append(e.covered, p)
			p.Reason = cmp.Or(p.Reason, e.reason)
			return true
		}
	}
	return false
}

// judge finds what is wrong with the pairs. In a whole run each entry must cover as many pairs as it says. One of
// harmless pairs may cover fewer: where messages cross, a check may see the bug or not.
func (c *Conditions) judge(listed exceptions, whole bool) {
	for i := range c.Pairs {
		switch p := &c.Pairs[i]; {
		case p.Named != "":
		case p.Fired:
			if !listed.cover(harmless, p) && !listed.cover(survives, p) {
				c.complain("%s fires, and no check names it (%s, %s, %s)", p.name(), p.Setting, p.Revision, p.Case)
			}
		case p.Reason == "" && !listed.cover(never, p) && !listed.cover(missing, p) && whole:
			c.complain("%s never fires, and no entry says why", p.name())
		}
	}
	if whole {
		c.judgeCounts(listed)
	}
}

// judgeCounts finds entries that cover another number of pairs than they say.
func (c *Conditions) judgeCounts(listed exceptions) {
	for _, section := range []string{never, missing, harmless, survives} {
		for _, e := range listed[section] {
			if n := len(e.covered); n > e.count || n < e.count && section != harmless {
				c.complain("conditions.txt, %s: found %d pairs, expected %d as in%s: %s", section, n, e.count, e,
					strings.Join(each(e.covered, (*Pair).name), ", "))
			}
		}
	}
}

func (c *Conditions) complain(format string, args ...any) {
	c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...))
}

// UpdatedConditions returns the list with new counts, and with all pairs that now survive. Entries without a pair are
// left out. One of harmless pairs stays as it is if it covers fewer. What never fires and has no entry still needs one.
func (c *Conditions) UpdatedConditions() []byte {
	listed := readExceptions(conditionsText)
	delete(listed, survives)
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Reason != neverOfSample && p.Reason != neverStreamed {
			p.Reason = ""
		}
	}
	c.Wrong = nil
	c.judge(listed, true)
	var b bytes.Buffer
	entries := slices.Concat(listed[never], listed[missing], listed[harmless])
	kept, _, _ := strings.Cut(conditionsText, "== "+survives)
	for line := range strings.Lines(kept) {
		if !strings.HasPrefix(line, "\t") {
			b.WriteString(line)
			continue
		}
		e := entries[0]
		n := len(e.covered)
		if slices.Contains(listed[harmless], e) {
			n = max(n, e.count)
		}
		if n > 0 {
			fmt.Fprintln(&b, e.covering(n))
		}
		entries = entries[1:]
	}
	open := map[string]*exception{}
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Fired && p.Named == "" && p.Reason == "" {
			if open[p.Mutant] == nil {
				open[p.Mutant] = &exception{mutants: []string{p.Mutant}}
			}
			e := open[p.Mutant]
			e.conditions, e.covered = append(e.conditions, p.Condition), append(e.covered, p)
		}
	}
	if len(open) > 0 {
		fmt.Fprintf(&b, "== %s\n\nRules to come will name these.\n", survives)
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		fmt.Fprintln(&b, open[name])
	}
	return b.Bytes()
}

// Text lists the pairs that survive and those that never fire, each with its reason, and counts all.
func (c *Conditions) Text() []byte {
	var b bytes.Buffer
	named, survived, silent := 0, 0, map[string][]string{}
	for i := range c.Pairs {
		switch p := &c.Pairs[i]; {
		case p.Named != "":
			named++
		case p.Fired:
			survived++
			fmt.Fprintf(&b, "survives     %s  (%s, %s, %s)  %s\n", p.name(), p.Setting, p.Revision, p.Case, p.Reason)
		default:
			silent[p.Reason] = append(silent[p.Reason], p.name())
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(silent)) {
		fmt.Fprintf(&b, "never fires  %s\n", cmp.Or(reason, "No entry says why."))
		for _, name := range silent[reason] {
			fmt.Fprintf(&b, "             %s\n", name)
		}
	}
	for _, wrong := range c.Wrong {
		fmt.Fprintf(&b, "WRONG  %s\n", wrong)
	}
	fmt.Fprintf(&b, "%d pairs of mutant and condition: %d named, %d survived, %d never fired: %d wrong\n",
		len(c.Pairs), named, survived, len(c.Pairs)-named-survived, len(c.Wrong))
	return b.Bytes()
}
