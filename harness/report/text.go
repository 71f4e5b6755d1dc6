package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TextOptions are the settings of [Text]. The zero value is plain text.
type TextOptions struct {
	// Color adds terminal colours to verdicts.
	Color bool
	// Strict says that warnings fail the run.
	Strict bool
	// Verbose shows the evidence.
	Verbose bool
	// Took is how long the run took; 0 leaves it out.
	Took time.Duration
	// Since says what is new since an earlier run; "" for nothing.
	Since string
	// Hint ends the last line of a short report; "" for none.
	Hint string
}

// Text encodes the results for people. The report is short: counts, a few lines for each failure, a line for each
// warning. Verbose adds a table with a line for each check and a column for each revision, the evidence of each result
// that needs attention, and the client's choices.
func Text(rs *Results, o TextOptions) []byte {
	var b bytes.Buffer
	var revisions []string
	for i := range rs.Results {
		revisions = include(revisions, rs.Results[i].Revision)
	}
	fmt.Fprintf(&b, "mcp-conform %s · %s · %s · seed %d\n", rs.Tool, printable(rs.Client),
		strings.Join(revisions, ", "), rs.Seed)
	if o.Verbose {
		table(&b, rs, o)
		notes(&b, rs, o)
		if lines := rs.known(o); len(lines) > 0 {
			b.WriteByte('\n')
			b.Write(lines)
		}
		infos(&b, rs, o)
	} else {
		short(&b, rs, o)
	}
	rs.baseline(&b, o)
	b.WriteByte('\n')
	for _, note := range rs.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if rs.Interrupted {
		b.WriteString("interrupted: these are the results until then\n")
	}
	b.WriteString(lastLine(rs, o))
	return b.Bytes()
}

var signs = map[Verdict]string{Pass: "pass", Fail: "FAIL", Warn: "warn", Info: "info", NotApplicable: "n/a",
	Unsupported: "unsupp", NotObserved: "NOT SEEN", HarnessError: "HARNESS"}

var colors = map[Verdict]string{Pass: "32", Fail: "31;1", Warn: "33", Info: "36", NotApplicable: "2",
	Unsupported: "33", NotObserved: "31", HarnessError: "35;1"}

func paint(text string, v Verdict, o TextOptions) string {
	if !o.Color {
		return text
	}
	return "\x1b[" + colors[v] + "m" + text + "\x1b[0m"
}

const column = 12

// table writes one line a check, one column a revision.
func table(b *bytes.Buffer, rs *Results, o TextOptions) {
	var revisions, scenarios []string
	width, levels := 0, 11
	for i := range rs.Results {
		r := &rs.Results[i]
		revisions, scenarios = include(revisions, r.Revision), include(scenarios, r.Scenario)
		width, levels = max(width, len(r.Check)), max(levels, len(rs.levels(r.Scenario, r.Check)))
	}
	for _, scenario := range scenarios {
		fmt.Fprintf(b, "\n%-*s  %-*s", width+2, scenario, levels, "level")
		for _, revision := range revisions {
			fmt.Fprintf(b, "  %-*s", column, revision)
		}
		endLine(b)
		for _, check := range rs.checks(scenario) {
			fmt.Fprintf(b, "  %-*s  %-*s", width, check, levels, rs.levels(scenario, check))
			for _, revision := range revisions {
				sign, painted := "", ""
				if r := rs.find(scenario, check, revision); r != nil {
					sign = r.sign()
					painted = paint(sign, r.Verdict, o)
				}
				fmt.Fprintf(b, "  %s%s", painted, strings.Repeat(" ", column-len(sign)))
			}
			endLine(b)
		}
	}
}

func (rs *Results) checks(scenario string) []string {
	var ids []string
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == scenario {
			ids = include(ids, r.Check)
		}
	}
	return ids
}

func include(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// levels are the levels of a check, such as "ROBUST/MUST" if the revisions differ.
func (rs *Results) levels(scenario, check string) string {
	var found []string
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == scenario && r.Check == check {
			found = include(found, string(r.Level))
		}
	}
	return strings.Join(found, "/")
}

func endLine(b *bytes.Buffer) {
	b.Truncate(len(bytes.TrimRight(b.Bytes(), " ")))
	b.WriteByte('\n')
}

func (rs *Results) find(scenario, check, revision string) *Result {
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == scenario && r.Check == check && r.Revision == revision {
			return r
		}
	}
	return nil
}

// notes writes a note on each result that needs attention. Checks that could not be judged for one reason share a note.
func notes(b *bytes.Buffer, rs *Results, o TextOptions) {
	written := map[string]bool{}
	var all []*Result
	for i := range rs.Results {
		all = append(all, rs.Results[i].Findings()...)
	}
	for _, r := range all {
		if r.Verdict == Pass || r.Verdict == Info || r.Verdict == NotApplicable || r.Known != nil {
			continue
		}
		same := rs.unjudgedLike(r)
		if len(same) < 2 {
			b.WriteByte('\n')
			Note(b, r, o)
		} else if key := string(r.Verdict) + r.Revision + r.Message; !written[key] {
			written[key] = true
			fmt.Fprintf(b, "\n%s  %d checks · %s\n      %s\n\n",
				paint(signs[r.Verdict], r.Verdict, o), len(same), r.Revision, indented(r.Message))
			line(b, "checks", byScenario(same))
			line(b, "reproduce", r.Reproduce)
		}
	}
}

// unjudgedLike returns the checks that could not be judged in r's revision for r's reason, r included.
func (rs *Results) unjudgedLike(r *Result) []string {
	if r.Verdict != NotObserved && r.Verdict != Unsupported || len(r.Evidence) > 0 {
		return nil
	}
	var ids []string
	for i := range rs.Results {
		other := &rs.Results[i]
		if other.Verdict == r.Verdict && other.Revision == r.Revision && other.Message == r.Message {
			ids = append(ids, other.ID())
		}
	}
	return ids
}

func byScenario(ids []string) string {
	var lines []string
	last := ""
	for _, id := range ids {
		scenario, check, _ := strings.Cut(id, "/")
		if scenario == last {
			lines[len(lines)-1] += ", " + check
		} else {
			lines = append(lines, scenario+": "+check)
		}
		last = scenario
	}
	return strings.Join(lines, "\n")
}

// infos lists the client's choices, a line each. Revisions that agree share a line.
func infos(b *bytes.Buffer, rs *Results, o TextOptions) {
	type info struct{ id, message string }
	var all []info
	revisions := map[info][]string{}
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Verdict == Info {
			one := info{r.ID(), r.Message}
			if revisions[one] == nil {
				all = append(all, one)
			}
			revisions[one] = append(revisions[one], r.Revision)
		}
	}
	if all != nil {
		fmt.Fprintf(b, "\n%s  the client's choices, reported and not judged\n\n", paint(signs[Info], Info, o))
	}
	for _, one := range all {
		fmt.Fprintf(b, "      %s  %s  [%s]\n", one.id, indented(one.message), strings.Join(revisions[one], ", "))
	}
}

var counted = []struct {
	verdict Verdict
	word    string
}{
	{Fail, "failed"}, {HarnessError, "harness errors"}, {NotObserved, "not seen"}, {Warn, "warnings"}, {Pass, "passed"},
	{Info, "reported"}, {Unsupported, "unsupported"}, {NotApplicable, "not applicable"},
}

// counts counts the results by verdict, and apart the known ones, and those that another one left nothing to judge.
func (rs *Results) counts() []string {
	var counts []string
	known, unjudged, open := 0, 0, map[Verdict]int{}
	for i := range rs.Results {
		switch r := &rs.Results[i]; {
		case r.Known != nil:
			known++
		case r.Prerequisite != "":
			unjudged++
		default:
			open[r.Verdict]++
		}
	}
	for _, c := range counted {
		word := c.word
		if open[c.verdict] == 1 {
			word = strings.TrimSuffix(word, "s")
		}
		if n := open[c.verdict]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, word))
		}
	}
	if unjudged > 0 {
		counts = append(counts, fmt.Sprintf("%d not judged", unjudged))
	}
	if known > 0 {
		counts = append(counts, fmt.Sprintf("%d known", known))
	}
	if rs.Baseline != nil && len(rs.Baseline.Problems) > 0 {
		counts = append(counts, fmt.Sprintf("%d wrong in the baseline", len(rs.Baseline.Problems)))
	}
	if len(counts) == 0 {
		counts = []string{"no results"}
	}
	return counts
}

// Headline says in a line whether the run failed, and counts the verdicts.
func Headline(rs *Results, strict bool) string {
	return strings.TrimSpace(lastLine(rs, TextOptions{Strict: strict}))
}

func lastLine(rs *Results, o TextOptions) string {
	counts := rs.counts()
	word, verdict := "ok", Pass
	switch {
	case rs.Failed(o.Strict):
		word, verdict = "failed", Fail
	case rs.Has(HarnessError):
		word, verdict = "harness error", HarnessError
	case rs.Interrupted:
		word, verdict = "not finished", Warn
	}
	if o.Since != "" {
		counts = append(counts, o.Since)
	}
	if o.Took > 0 {
		counts = append(counts, fmt.Sprintf("%.1f s", o.Took.Seconds()))
	}
	line := fmt.Sprintf("%s: %s", paint(word, verdict, o), strings.Join(counts, ", "))
	if o.Hint != "" && !o.Verbose {
		line += "        " + o.Hint
	}
	return line + "\n"
}
