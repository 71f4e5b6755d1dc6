package report

import (
	"bytes"
	"fmt"
	"strings"
)

// GitHub shows at most ten annotations of a kind for a step, and a step summary of at most 1 MiB.
const (
	mostAnnotations = 10
	longestNote     = 4000
	// StepSummaryLimit is the most bytes of a step summary.
	StepSummaryLimit = 1 << 20
)

// Annotations encodes failures and warnings as GitHub's workflow commands, a line each. There are at most ten of each
// kind; the last one then counts the others.
func Annotations(rs *Results, strict bool) []byte {
	var errors, warnings []annotation
	if rs.Baseline != nil {
		for _, p := range rs.Baseline.Problems {
			one := annotation{title: "baseline: " + p.Check, message: p.Kind + ": " + p.Message}
			if at := strings.LastIndex(p.Place, ":"); at > 0 { // The file of Windows may have a colon.
				one.file, one.line = p.Place[:at], p.Place[at+1:]
			}
			errors = append(errors, one)
		}
	}
	for _, g := range rs.groups() {
		r := g.first()
		message := g.message()
		if also := g.also(); also != "" {
			message += "\nAlso fails: " + also
		}
		if r.Fix != "" {
			message += "\nFix: " + r.Fix
		}
		if r.Reproduce != "" {
			message += "\nReproduce: " + r.Reproduce
		}
		one := annotation{title: fmt.Sprintf("%s (%s)", r.Title(), g.where()), message: message}
		if r.Failed(strict) || r.Verdict == HarnessError {
			errors = append(errors, one)
		} else if r.Warned() {
			warnings = append(warnings, one)
		}
	}
	var b bytes.Buffer
	writeAnnotations(&b, "error", errors)
	writeAnnotations(&b, "warning", warnings)
	return b.Bytes()
}

// annotation is a workflow command; file and line may be empty.
type annotation struct{ title, message, file, line string }

func writeAnnotations(b *bytes.Buffer, kind string, all []annotation) {
	for i, a := range all {
		if more := len(all) - i; i == mostAnnotations-1 && more > 1 {
			a = annotation{title: "mcp-conform", message: fmt.Sprintf("%d more: see the step summary", more)}
		} else if i >= mostAnnotations {
			return
		}
		properties := "title=" + property(a.title)
		if a.file != "" {
			properties = "file=" + property(a.file) + ",line=" + property(a.line) + "," + properties
		}
		if runes := []rune(a.message); len(runes) > longestNote {
			a.message = string(runes[:longestNote]) + "…"
		}
		fmt.Fprintf(b, "::%s %s::%s\n", kind, properties, data(a.message))
	}
}

// data and property escape as the runner's own toolkit does.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(printable(text))
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}
