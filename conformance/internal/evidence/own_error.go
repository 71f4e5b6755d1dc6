package evidence

import (
	"regexp"
	"strings"
)

// errorLine matches a line in which a runtime names an error: of Go, JavaScript, Python, Java, .NET and Rust.
var errorLine = regexp.MustCompile(`^(panic: |fatal error: |thread '.*' (\(\d+\) )?panicked|Unhandled exception|` +
	`Exception in thread|Uncaught |[\w.$]*(Error|Exception)\b)`)

// NamesError reports whether a runtime names an error in the line.
func NamesError(line string) bool { return errorLine.MatchString(line) }

// OwnError returns the line of a client's standard error that says what went wrong: one that names an error, or else
// the last; "" without any. Python ends with the error that counts, other runtimes begin with it. Rust gives the reason
// in the next line. Python draws lines around the errors of a group, such as that of tasks that ran at once.
func OwnError(stderr string) string {
	var lines, errors []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimLeft(strings.TrimSpace(line), "| ")
		if line == "" || strings.HasPrefix(line, "+-") {
			continue
		}
		if NamesError(line) {
			errors = append(errors, line)
		} else if n := len(errors); n > 0 && len(lines) > 0 && lines[len(lines)-1] == errors[n-1] &&
			strings.HasPrefix(errors[n-1], "thread ") {
			errors[n-1] += " " + line
		}
		lines = append(lines, line)
	}
	switch {
	case len(errors) == 0 && len(lines) == 0:
		return ""
	case len(errors) == 0:
		return lines[len(lines)-1]
	case strings.Contains(stderr, "Traceback (most recent call last)"):
		return errors[len(errors)-1]
	}
	return errors[0]
}

// ownError is [OwnError] in short, after ": "; "" without one.
func ownError(stderr string) string {
	const most = 200
	text := OwnError(stderr)
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return ": " + text
}
