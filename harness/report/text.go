package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// TextOptions are the settings of [Text]. The zero value is plain text.
type TextOptions struct {
	// Color marks verdicts with colours of a terminal.
	Color bool
	// Strict says that warnings fail the run.
	Strict bool
}

// Text encodes the results for a person: a line for each check with a sign for each revision, a note on each that calls for
// one, and a closing line with the counts.
func Text(rs *Results, o TextOptions) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "mcp-conform %s · client: %s · seed %d\n", rs.Tool, printable(rs.Client), rs.Seed)
	table(&b, rs, o)
	notes(&b, rs, o)
	reported(&b, rs, o)
	b.WriteByte('\n')
	if rs.Interrupted {
		b.WriteString("interrupted: what stands above is what was judged until then\n")
	}
	b.WriteString(closing(rs, o))
	return b.Bytes()
}

// signs are what the table shows for a verdict.
var signs = map[Verdict]string{Pass: "pass", Fail: "FAIL", Warn: "warn", Info: "info", NotApplicable: "n/a",
	Unsupported: "unsupp", NotObserved: "NOT SEEN", HarnessError: "HARNESS"}

// colors are the terminal's for a verdict.
var colors = map[Verdict]string{Pass: "32", Fail: "31;1", Warn: "33", Info: "36", NotApplicable: "2",
	Unsupported: "33", NotObserved: "31", HarnessError: "35;1"}

func paint(text string, v Verdict, o TextOptions) string {
	if !o.Color {
		return text
	}
	return "\x1b[" + colors[v] + "m" + text + "\x1b[0m"
}

// table writes one line a check, one column a revision.
func table(b *bytes.Buffer, rs *Results, o TextOptions) {
	var revisions, scenarios []string
	const column = 12
	width, levels := 0, 11
	for i := range rs.Results {
		r := &rs.Results[i]
		if !slices.Contains(revisions, r.Revision) {
			revisions = append(revisions, r.Revision)
		}
		if !slices.Contains(scenarios, r.Scenario) {
			scenarios = append(scenarios, r.Scenario)
		}
		width, levels = max(width, len(r.Check)), max(levels, len(rs.levels(r.Scenario, r.Check)))
	}
	for _, scenario := range scenarios {
		fmt.Fprintf(b, "\n%-*s  %-*s", width+2, scenario, levels, "level")
		for _, revision := range revisions {
			fmt.Fprintf(b, "  %-*s", column, revision)
		}
		trimLine(b)
		var seen []string
		for i := range rs.Results {
			r := &rs.Results[i]
			if r.Scenario != scenario || slices.Contains(seen, r.Check) {
				continue
			}
			seen = append(seen, r.Check)
			fmt.Fprintf(b, "  %-*s  %-*s", width, r.Check, levels, rs.levels(scenario, r.Check))
			for _, revision := range revisions {
				cell, painted := "", ""
				if other := rs.find(scenario, r.Check, revision); other != nil {
					cell = signs[other.Verdict]
					painted = paint(cell, other.Verdict, o)
				}
				fmt.Fprintf(b, "  %s%s", painted, strings.Repeat(" ", column-len(cell)))
			}
			trimLine(b)
		}
	}
}

// levels are the levels of a check, where the revisions differ one after the other.
func (rs *Results) levels(scenario, check string) string {
	var found []string
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Scenario == scenario && r.Check == check && !slices.Contains(found, string(r.Level)) {
			found = append(found, string(r.Level))
		}
	}
	return strings.Join(found, "/")
}

// trimLine ends a line without blanks at its end.
func trimLine(b *bytes.Buffer) {
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

// notes writes a note on each result that calls for one. What could not be judged for one and the same reason is told once.
func notes(b *bytes.Buffer, rs *Results, o TextOptions) {
	told := map[string]bool{}
	for i := range rs.Results {
		r := &rs.Results[i]
		if r.Verdict == Pass || r.Verdict == Info || r.Verdict == NotApplicable {
			continue
		}
		same := rs.unseenLike(r)
		if len(same) < 2 {
			b.WriteByte('\n')
			Note(b, r, o)
		} else if key := string(r.Verdict) + r.Revision + r.Message; !told[key] {
			told[key] = true
			fmt.Fprintf(b, "\n%s  %d checks · %s\n      %s\n\n", paint(signs[r.Verdict], r.Verdict, o), len(same), r.Revision, indented(r.Message))
			line(b, "these", byScenario(same))
			line(b, "again", r.Reproduce)
		}
	}
}

// reported tells what is the client's choice, a line each: revisions that agree share one.
func reported(b *bytes.Buffer, rs *Results, o TextOptions) {
	type told struct{ id, message string }
	var lines []told
	revisions := map[told][]string{}
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Verdict == Info {
			t := told{r.ID(), r.Message}
			if revisions[t] == nil {
				lines = append(lines, t)
			}
			revisions[t] = append(revisions[t], r.Revision)
		}
	}
	if lines != nil {
		fmt.Fprintf(b, "\n%s  the client's choice, reported and not judged\n\n", paint(signs[Info], Info, o))
	}
	for _, t := range lines {
		fmt.Fprintf(b, "      %s  %s  [%s]\n", t.id, indented(t.message), strings.Join(revisions[t], ", "))
	}
}

// byScenario writes ids as a line a scenario.
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

// unseenLike returns the checks that could not be judged in the revision for the same reason as r, which is one of them.
func (rs *Results) unseenLike(r *Result) []string {
	if r.Verdict != NotObserved && r.Verdict != Unsupported || len(r.Evidence) > 0 {
		return nil
	}
	var ids []string
	for i := range rs.Results {
		if other := &rs.Results[i]; other.Verdict == r.Verdict && other.Revision == r.Revision && other.Message == r.Message {
			ids = append(ids, other.ID())
		}
	}
	return ids
}

// line writes a labelled line, and further lines of the text below its first.
func line(b *bytes.Buffer, label, text string) {
	if text != "" {
		fmt.Fprintf(b, "      %-16s  %s\n", label, strings.ReplaceAll(printable(text), "\n", "\n"+strings.Repeat(" ", 24)))
	}
}

// indented is a message below the head of its note.
func indented(message string) string { return strings.ReplaceAll(printable(message), "\n", "\n      ") }

// printable shows the control characters of a text that is the client's own, such as the colours of its stderr, in place of
// sending them to whoever reads the report.
func printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Note writes one result as a note from a colleague: what was expected and why, what came, and how to see it again.
func Note(b *bytes.Buffer, r *Result, o TextOptions) {
	head := fmt.Sprintf("%s  %s · %s · %s", paint(signs[r.Verdict], r.Verdict, o), r.ID(), r.Level, r.Revision)
	if len(r.Dialects) > 0 {
		head += " · " + strings.Join(r.Dialects, ", ")
	}
	fmt.Fprintln(b, head)
	fmt.Fprintf(b, "      %s\n", indented(r.Message))
	before := b.Len()
	b.WriteByte('\n')
	for _, f := range r.Evidence {
		var where []string
		for _, part := range []string{f.Event, f.Path} {
			if part != "" {
				where = append(where, part)
			}
		}
		if f.Seq != 0 {
			where = append(where, fmt.Sprintf("[%s #%d]", orSession(f.Case), f.Seq))
		}
		line(b, f.Label, strings.Trim(strings.Join(where, "  ")+"\n"+f.Text, "\n"))
	}
	line(b, "what went on", exchange(r.Around))
	if r.Requirement != nil {
		line(b, "why", strings.TrimPrefix(r.Requirement.Text+"\n"+r.Requirement.URL, "\n"))
	}
	line(b, "usual cause", r.Cause)
	line(b, "how to mend", r.Fix)
	line(b, "again", r.Reproduce)
	if b.Len() == before+1 { // nothing to say beyond the message
		b.Truncate(before)
	}
}

// exchange tells the steps around the evidence, a line each, and marks in those that it rests on the place that matters.
func exchange(steps []Step) string {
	var b strings.Builder
	for i := range steps {
		s := &steps[i]
		if i > 0 && s.Seq > steps[i-1].Seq+gap {
			b.WriteString("…\n")
		}
		who := s.From
		if s.To != "" {
			who += " → " + s.To
		}
		fmt.Fprintf(&b, "#%-3d %s  %s\n", s.Seq, who+strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(who))), strings.ReplaceAll(s.Says, "\n", " "))
		for _, x := range s.Excerpts {
			text, note := []rune(x.Text), x.Path
			start := min(x.Start, len(text))
			end := min(start+x.Length, len(text))
			if x.Missing {
				note += " is missing"
			}
			fmt.Fprintf(&b, "     %s\n     %s%s %s\n", strings.Map(oneLine, x.Text), strings.Repeat(" ", columns(text[:start])), strings.Repeat("^", max(columns(text[start:end]), 1)), note)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// widest is the room for who speaks to whom.
const widest = len("server -> client") // as wide as with an arrow of one character, and one more

// gap is how far the numbers of two steps may be apart without anything of note between them: the pieces of a stream.
const gap = 40

// columns is how wide a text is on a terminal.
func columns(text []rune) int {
	n := len(text)
	for _, r := range text {
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}

// oneLine keeps an excerpt as wide as its marks are.
func oneLine(r rune) rune {
	if unicode.IsControl(r) {
		return '\ufffd'
	}
	return r
}

func orSession(caseID string) string {
	if caseID == "" {
		return "session"
	}
	return caseID
}

// closing is the line that says how it ended.
func closing(rs *Results, o TextOptions) string {
	var parts []string
	for _, v := range Verdicts() {
		if n := rs.Summary[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(v), "_", " ")))
		}
	}
	word, verdict := "ok", Pass
	switch {
	case rs.Failed(o.Strict):
		word, verdict = "failed", Fail
	case rs.Has(HarnessError):
		word, verdict = "harness error", HarnessError
	case rs.Interrupted:
		word, verdict = "not finished", Warn
	}
	if len(parts) == 0 {
		parts = []string{"nothing was judged"}
	}
	return fmt.Sprintf("%s: %s\n", paint(word, verdict, o), strings.Join(parts, ", "))
}
