package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
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
	fmt.Fprintf(&b, "mcp-conform %s · client: %s · seed %d\n", rs.Tool, rs.Client, rs.Seed)
	table(&b, rs, o)
	for i := range rs.Results {
		if r := &rs.Results[i]; r.Verdict != Pass && r.Verdict != Info && r.Verdict != NotApplicable {
			b.WriteByte('\n')
			Note(&b, r, o)
		}
	}
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
	width := 0
	for i := range rs.Results {
		r := &rs.Results[i]
		if !slices.Contains(revisions, r.Revision) {
			revisions = append(revisions, r.Revision)
		}
		if !slices.Contains(scenarios, r.Scenario) {
			scenarios = append(scenarios, r.Scenario)
		}
		width = max(width, len(r.Check))
	}
	const column = 12
	for _, scenario := range scenarios {
		fmt.Fprintf(b, "\n%-*s  %-6s", width+2, scenario, "level")
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
			fmt.Fprintf(b, "  %-*s  %-6s", width, r.Check, r.Level)
			for _, revision := range revisions {
				cell, verdict := "", Pass
				if other := rs.find(scenario, r.Check, revision); other != nil {
					cell, verdict = signs[other.Verdict], other.Verdict
				}
				fmt.Fprintf(b, "  %s%s", paint(cell, verdict, o), strings.Repeat(" ", column-len(cell)))
			}
			trimLine(b)
		}
	}
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

// Note writes one result as a note from a colleague: what was expected and why, what came, and how to see it again.
func Note(b *bytes.Buffer, r *Result, o TextOptions) {
	head := fmt.Sprintf("%s  %s · %s · %s", paint(signs[r.Verdict], r.Verdict, o), r.ID(), r.Level, r.Revision)
	if len(r.Dialects) > 0 {
		head += " · " + strings.Join(r.Dialects, ", ")
	}
	fmt.Fprintln(b, head)
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "      %-16s  %s\n", label, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 24)))
		}
	}
	fmt.Fprintf(b, "      %s\n\n", strings.ReplaceAll(r.Message, "\n", "\n      "))
	for _, f := range r.Frames {
		where := f.Path
		if f.Seq != 0 {
			if where != "" {
				where += "  "
			}
			where += fmt.Sprintf("[%s #%d]", orSession(f.Case), f.Seq)
		}
		line(f.Label, strings.TrimPrefix(where+"\n"+f.Text, "\n"))
	}
	if r.Requirement != nil {
		line("why", strings.TrimPrefix(r.Requirement.Says+"\n"+r.Requirement.URL, "\n"))
	}
	line("usual cause", r.Usual)
	line("again", r.Again)
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
	if rs.Failed(o.Strict) {
		word, verdict = "failed", Fail
	} else if rs.Has(HarnessError) {
		word, verdict = "harness error", HarnessError
	}
	if len(parts) == 0 {
		parts = []string{"nothing was judged"}
	}
	return fmt.Sprintf("%s: %s\n", paint(word, verdict, o), strings.Join(parts, ", "))
}
