package check

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

const (
	// firstLines and lastLines are how many lines of a process's output a report shows at least: a runtime names the
	// error above a long stack, or below it.
	firstLines, lastLines = 2, 4
	// mostErrors is how many lines between them it shows because they name an error.
	mostErrors = 4
)

// ShowOutput adds what the client wrote to standard error and standard output: the first and the last lines, and those
// that name an error.
func (v Verdict) ShowOutput(s *evidence.Session) Verdict {
	if s.Ended == nil {
		return v
	}
	for _, out := range []struct{ label, text string }{{"stderr", s.Ended.Stderr}, {"stdout", s.Ended.Stdout}} {
		if text := shownLines(strings.Split(strings.TrimRight(out.text, "\n"), "\n")); text != "" {
			v = v.Show(evidence.Place{Label: out.label}, "%s", text)
		}
	}
	return v
}

func shownLines(lines []string) string {
	var shown []string
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	errors, omitted := 0, false
	for i, line := range lines {
		names := errors < mostErrors && evidence.NamesError(line)
		if i >= firstLines && i < len(lines)-lastLines && !names {
			omitted = true
			continue
		}
		if names {
			errors++
		}
		if omitted {
			shown = append(shown, "…")
		}
		omitted = false
		shown = append(shown, line)
	}
	return strings.Join(shown, "\n")
}
