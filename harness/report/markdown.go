package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// MarkdownOptions are the settings of [Markdown]. The zero value writes everything.
type MarkdownOptions struct {
	// Strict says that warnings fail the run.
	Strict bool
	// Limit is the most bytes to write: findings that do not fit are counted. 0 for no limit.
	Limit int
}

// Markdown encodes the results as GitHub's Markdown: a table of scenarios and revisions, each failure with its fix, a
// line for each warning and each known failure.
func Markdown(rs *Results, o MarkdownOptions) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## mcp-conform: %s\n\n%s · mcp-conform %s · seed %d\n\n", Escape(Headline(rs, o.Strict)),
		inlineCode(rs.Client), Escape(rs.Tool), rs.Seed)
	if rs.Interrupted {
		b.WriteString("**Interrupted:** these are the results until then.\n\n")
	}
	markdownTable(&b, rs)
	parts := rs.markdownParts(o)
	for i, part := range parts {
		more := fmt.Sprintf("\n%d more findings do not fit here.\n", len(parts)-i)
		if o.Limit > 0 && b.Len()+len(part)+len(more) > o.Limit {
			b.WriteString(more)
			break
		}
		b.WriteString(part)
	}
	return b.Bytes()
}

// markdownParts are the findings: problems of the baseline, failures, warnings, known failures.
func (rs *Results) markdownParts(o MarkdownOptions) []string {
	var parts, lines []string
	if rs.Baseline != nil {
		for _, p := range rs.Baseline.Problems {
			parts = append(parts, fmt.Sprintf("### Baseline: %s is %s\n\n%s %s\n\n", inlineCode(p.Check), p.Kind,
				Escape(p.Place), Escape(p.Message)))
		}
	}
	for _, g := range rs.groups() {
		if r := g.first(); r.Verdict == HarnessError || r.Failed(o.Strict) {
			parts = append(parts, g.markdown())
		} else {
			lines = append(lines, fmt.Sprintf("- %s %s %s: %s\n", r.Verdict, inlineCode(r.ID()), g.where(),
				inlineCode(oneLineOf(r.Message))))
		}
	}
	for line := range strings.Lines(string(rs.known(TextOptions{}))) {
		lines = append(lines, "- "+Escape(strings.TrimSpace(line))+"\n")
	}
	return append(parts, lines...)
}

func markdownTable(b *bytes.Buffer, rs *Results) {
	var revisions, scenarios []string
	cells := map[string]map[string]int{}
	for i := range rs.Results {
		r := &rs.Results[i]
		revisions, scenarios = include(revisions, r.Revision), include(scenarios, r.Scenario)
		key := r.Scenario + " " + r.Revision
		if cells[key] == nil {
			cells[key] = map[string]int{}
		}
		cells[key][r.symbol()]++
	}
	if revisions == nil {
		return
	}
	fmt.Fprintf(b, "| | %s |\n|---|%s\n", strings.Join(revisions, " | "), strings.Repeat("---|", len(revisions)))
	for _, scenario := range scenarios {
		fmt.Fprintf(b, "| %s |", Escape(scenario))
		for _, revision := range revisions {
			for _, symbol := range symbols {
				if n := cells[scenario+" "+revision][symbol]; n > 0 {
					fmt.Fprintf(b, " %d %s", n, symbol)
				}
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n✓ passed · ✗ failed · ! warning · ? not judged · – not applicable\n\n")
}

// symbols count results in a table, in this order.
var symbols = []string{"✓", "✗", "!", "known", "?", "–"}

func (r *Result) symbol() string {
	switch {
	case r.Known != nil:
		return "known"
	case r.Prerequisite != "" || r.Verdict == Unsupported:
		return "?"
	case r.Verdict == HarnessError || r.Failed(false):
		return "✗"
	case r.Warned():
		return "!"
	case r.Verdict == NotApplicable:
		return "–"
	}
	return "✓"
}

func (g group) where() string {
	var names []string
	for _, r := range g {
		names = include(names, r.Revision)
	}
	for _, r := range g {
		for _, d := range r.Dialects {
			names = include(names, d)
		}
	}
	return strings.Join(names, ", ")
}

// markdown is a failure with its fix and the command that reproduces it.
func (g group) markdown() string {
	var b strings.Builder
	var ids []string
	r := g.first()
	for _, one := range g {
		ids = include(ids, one.Title())
	}
	fmt.Fprintf(&b, "### ✗ %s\n\n%s · %s\n\n%s", inlineCode(listed(ids)), r.Level, g.where(), fenced(g.message()))
	if also := g.also(); also != "" {
		fmt.Fprintf(&b, "**Also fails:** %s\n\n", Escape(also))
	}
	if r.Fix != "" {
		fmt.Fprintf(&b, "**Fix:** %s\n\n", Escape(r.Fix))
	}
	if r.Requirement != nil {
		fmt.Fprintf(&b, "**Requirement:** [%s](<%s>)\n\n", Escape(r.Requirement.Text), r.Requirement.URL)
	}
	if r.Reproduce != "" {
		b.WriteString("**Reproduce:**\n\n" + fenced(r.Reproduce))
	}
	return b.String()
}

var (
	backticks = regexp.MustCompile("`+")
	special   = regexp.MustCompile("[\\\\`*_{}\\[\\]<>()#+!|~&@$]")
)

func longestRun(text string) int {
	n := 0
	for _, run := range backticks.FindAllString(text, -1) {
		n = max(n, len(run))
	}
	return n
}

// fenced is a block of text as it is. The fence is longer than any in it.
func fenced(text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return fence + "text\n" + printable(text) + "\n" + fence + "\n\n"
}

func inlineCode(text string) string {
	text = oneLineOf(text)
	if text == "" {
		return "<code></code>"
	}
	tick := strings.Repeat("`", longestRun(text)+1)
	if len(tick) > 1 {
		return tick + " " + text + " " + tick
	}
	return tick + text + tick
}

// Escape returns a text as one line of Markdown that shows it as it is.
func Escape(text string) string { return special.ReplaceAllString(oneLineOf(text), `\$0`) }

func oneLineOf(text string) string {
	return strings.Join(strings.FieldsFunc(printable(text), func(r rune) bool { return r == '\n' }), " ")
}
