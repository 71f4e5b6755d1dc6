package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/internal/words"
)

const (
	// lineWidth is where lines break, except commands and what the client wrote.
	lineWidth = 110
	// ownLines is how many lines of the client's output are shown.
	ownLines = 3
	// mostBlocks is how many failures the short report shows in full.
	mostBlocks = 10
	// mostOthers is how many messages of other cases follow that of a failure.
	mostOthers = 2
	// shownNames is how many cases or checks a line names.
	shownNames = 4
)

// short writes what a reader needs first: a count for each scenario, a few lines for each failure, a line for each
// warning.
func short(b *bytes.Buffer, rs *Results, o TextOptions) {
	tallies(b, rs, o)
	groups := rs.groups()
	first := func(g group) bool { return g.first().Verdict == Unsupported && rs.waitsFor(g.first().ID()) }
	for _, g := range groups {
		if first(g) {
			b.WriteByte('\n')
			g.writeLine(b, o)
		}
	}
	rest, folded := least(groups), map[Verdict][]string{}
	for i, g := range groups {
		switch r := g.first(); {
		case r.Verdict == HarnessError:
			b.WriteByte('\n')
			Note(b, r, o)
		case slices.Contains(rest, i):
			folded[r.Verdict] = append(folded[r.Verdict], r.Title())
		case r.Failed(false):
			b.WriteByte('\n')
			g.writeBlock(b, o)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(folded)) {
		fmt.Fprintf(b, "\n%s  %s\n", paint(signs[v], v, o),
			wrapped(fmt.Sprintf("%d more, with -v: %s", len(folded[v]), strings.Join(folded[v], ", ")), 6))
	}
	var lines bytes.Buffer
	for _, g := range groups {
		if r := g.first(); r.Warned() || r.Verdict == Unsupported && !first(g) {
			g.writeLine(&lines, o)
		}
	}
	lines.Write(rs.known(o))
	for _, prerequisite := range rs.prerequisites() {
		fmt.Fprintf(&lines, "%s  not judged because of %s: %s\n", paint(signs[NotObserved], NotObserved, o),
			prerequisite.id, words.Count(prerequisite.checks, "check"))
	}
	if lines.Len() > 0 {
		b.WriteByte('\n')
		b.Write(lines.Bytes())
	}
}

// least returns the indexes of the failures that matter least, if there are more than a screen shows: those that were
// not seen, then those that break no MUST, and of equals those with the fewest cases.
func least(groups []group) []int {
	var failed []int
	for i, g := range groups {
		if g.first().Failed(false) {
			failed = append(failed, i)
		}
	}
	slices.SortStableFunc(failed, func(i, j int) int {
		return cmp.Or(groups[i].rank()-groups[j].rank(), groups[j].caseCount()-groups[i].caseCount())
	})
	return failed[min(len(failed), mostBlocks):]
}

// rank is smaller for a failure that matters more.
func (g group) rank() int {
	switch r := g.first(); {
	case r.Verdict != Fail:
		return 2
	case r.Level != Must:
		return 1
	}
	return 0
}

// caseCount is the number of cases that fail, in all revisions.
func (g group) caseCount() (n int) {
	for _, r := range g {
		for _, c := range r.Cases {
			if c.Verdict == r.Verdict {
				n++
			}
		}
	}
	return n
}

// Brief writes one result as the short report does: the message, the fix, and the command that reproduces it.
func Brief(b *bytes.Buffer, r *Result, o TextOptions) {
	for _, one := range r.Findings() {
		group{one}.writeBlock(b, o)
	}
}

func tallies(b *bytes.Buffer, rs *Results, o TextOptions) {
	var scenarios []string
	for i := range rs.Results {
		scenarios = include(scenarios, rs.Results[i].Scenario)
	}
	column, idle := 0, 0
	for _, scenario := range scenarios {
		text, painted := scenario, scenario
		add := func(n int, sign string, v Verdict) {
			if n > 0 {
				part := fmt.Sprintf(" %d %s", n, sign)
				text, painted = text+part, painted+paint(part, v, o)
			}
		}
		add(rs.count(scenario, func(r *Result) bool { return r.Verdict == Pass || r.Verdict == Info }), "✓", Pass)
		add(rs.count(scenario, func(r *Result) bool { return r.Known != nil }), "known", Info)
		judged := func(r *Result) bool { return r.Prerequisite == "" && r.Known == nil }
		add(rs.count(scenario, func(r *Result) bool {
			return judged(r) && (r.Failed(false) || r.Verdict == HarnessError)
		}), "✗", Fail)
		add(rs.count(scenario, func(r *Result) bool { return judged(r) && r.Warned() }), "!", Warn)
		if text != scenario {
			add(rs.count(scenario, func(r *Result) bool { return r.Prerequisite != "" && r.Known == nil }), "?", NotObserved)
		}
		if text == scenario {
			idle++
			continue
		}
		switch width := utf8.RuneCountInString(text); {
		case column == 0:
			column = width
		case column+3+width > lineWidth:
			b.WriteByte('\n')
			column = width
		default:
			b.WriteString("   ")
			column += 3 + width
		}
		b.WriteString(painted)
	}
	if idle > 0 {
		fmt.Fprintf(b, "   %s without a judged check", words.Count(idle, "scenario"))
	}
	b.WriteByte('\n')
}

func (rs *Results) count(scenario string, is func(*Result) bool) int {
	n := 0
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == scenario && is(r) {
			n++
		}
	}
	return n
}

// group is results that a reader fixes at once: one check, and kind of difference, with one verdict in several
// revisions, or several checks that could not be judged for one reason.
type group []*Result

func (g group) first() *Result { return g[0] }

// groups returns the results that need attention, except those that wait for a prerequisite.
func (rs *Results) groups() []group {
	var groups []group
	index := map[string]int{}
	var all []*Result
	for i := range rs.Results {
		all = append(all, rs.Results[i].Findings()...)
	}
	for _, r := range all {
		if root := r.rootIn(all); root != nil {
			root.also = include(root.also, r.ID())
			continue
		}
		if r.Verdict == Pass || r.Verdict == Info || r.Verdict == NotApplicable || r.Prerequisite != "" || r.Known != nil {
			continue
		}
		key := string(r.Verdict) + " " + r.Title()
		if r.Verdict == NotObserved && len(r.Evidence) == 0 || r.Verdict == Unsupported {
			key = fmt.Sprint(r.Verdict, r.Failed(false), varying.ReplaceAllString(r.Message, "0"))
		}
		if at, ok := index[key]; ok {
			groups[at] = append(groups[at], r)
			continue
		}
		index[key] = len(groups)
		groups = append(groups, group{r})
	}
	return groups
}

// rootIn returns the finding that has the same cause and is shown; nil for none.
func (r *Result) rootIn(all []*Result) *Result {
	for _, root := range all {
		if r.SameAs != "" && r.Known == nil && root.Known == nil && r.Revision == root.Revision && r.SameAs == root.Title() {
			return root
		}
	}
	return nil
}

// also lists the checks that the cause of the group fails, too.
func (g group) also() string {
	var ids []string
	for _, r := range g {
		for _, id := range r.also {
			ids = include(ids, id)
		}
	}
	return strings.Join(ids, ", ")
}

// varying matches what differs between messages with one meaning: numbers of requests.
var varying = regexp.MustCompile(`\d+`)

func (g group) head() string {
	var checks, revisions, dialects []string
	for _, r := range g {
		checks, revisions = include(checks, r.Title()), include(revisions, r.Revision)
		for _, d := range r.Dialects {
			dialects = include(dialects, d)
		}
	}
	head := listed(checks) + "   " + strings.Join(revisions, " ")
	if len(dialects) > 0 {
		head += "   " + strings.Join(dialects, " ")
	}
	return head
}

var ownLabels = []string{"model", "stderr", "stdout"}

func (g group) writeBlock(b *bytes.Buffer, o TextOptions) {
	r := g.first()
	fmt.Fprintf(b, "%s  %s\n      %s\n", paint(signs[r.Verdict], r.Verdict, o), g.head(), wrapped(g.message(), 6))
	for i := range r.Evidence {
		if e := &r.Evidence[i]; e.Seq == 0 && slices.Contains(ownLabels, e.Label) {
			shortLine(b, e.Label, ownWords(e.Text, r.Message))
		}
	}
	shortLine(b, "also", wrapped(g.also(), labelled))
	shortLine(b, "fix", wrapped(r.Fix, labelled))
	shortLine(b, "reproduce", r.Reproduce)
}

// message is the message of the group with its cases, that of a later revision if it says something else, and those of
// other cases.
func (g group) message() string {
	var lines, seen []string
	var all []saying
	for _, r := range g {
		prefix, of := "", r.sayings()
		if len(seen) > 0 {
			prefix = r.Revision + ": "
		}
		if plain := varying.ReplaceAllString(r.Message, "0"); !slices.Contains(seen, plain) {
			seen = append(seen, plain)
			lines = append(lines, prefix+of[0].String())
		}
		for _, s := range of[1:] {
			if !slices.ContainsFunc(all, func(other saying) bool { return alike(other.message, s.message) }) {
				all = append(all, saying{s.message, s.cases, prefix})
			}
		}
	}
	return strings.Join(append(lines, others(all, mostOthers)...), "\n")
}

func (r *Result) cases() string {
	var names []string
	for _, c := range r.Cases {
		if c.Verdict == r.Verdict {
			names = include(names, strings.TrimPrefix(c.Case, r.Scenario+"/"))
		}
	}
	return saying{cases: names}.String()
}

func listed(names []string) string {
	if more := len(names) - shownNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (g group) writeLine(b *bytes.Buffer, o TextOptions) {
	r := g.first()
	fmt.Fprintf(b, "%s  %s\n", paint(signs[r.Verdict], r.Verdict, o), wrapped(g.head()+"   "+r.Message+r.cases(), 6))
}

const labelled = 17

func shortLine(b *bytes.Buffer, label, text string) {
	if text != "" {
		rest := "\n" + strings.Repeat(" ", labelled)
		fmt.Fprintf(b, "      %-9s  %s\n", label, strings.ReplaceAll(printable(text), "\n", rest))
	}
}

// wrapped breaks a text between words, so that it ends before lineWidth if its first line begins in the column. The
// lines of a message begin there, too.
func wrapped(text string, begin int) string {
	var lines []string
	for line := range strings.SplitSeq(printable(text), "\n") {
		lines = append(lines, words.Lines(line, begin, lineWidth)...)
	}
	if begin == labelled {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", begin))
}

// ownWords is the end of what the client wrote; "" if the message quotes a line of it.
func ownWords(text, message string) string {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if line = strings.TrimSpace(line); len(line) > 1 && strings.Contains(message, ": "+line) {
			return ""
		}
	}
	return strings.Join(lines[max(0, len(lines)-ownLines):], "\n")
}

func (rs *Results) waitsFor(id string) bool {
	return slices.ContainsFunc(rs.Results, func(r Result) bool { return r.Prerequisite == id })
}

type waiting struct {
	id     string
	checks int
}

// prerequisites counts by prerequisite, in order.
func (rs *Results) prerequisites() []waiting {
	var all []waiting
	for i := range rs.Results {
		id := rs.Results[i].Prerequisite
		if id == "" || rs.Results[i].Known != nil {
			continue
		}
		at := slices.IndexFunc(all, func(w waiting) bool { return w.id == id })
		if at < 0 {
			at = len(all)
			all = append(all, waiting{id: id})
		}
		all[at].checks++
	}
	return all
}
