package check

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// outputLines is how many of the last lines of a process's output a report shows.
const OutputLines = 8

// seeOutput adds the last lines that the client wrote.
func ShowOutput(s *evidence.Session, v Verdict) Verdict {
	if s.Ended == nil {
		return v
	}
	for _, out := range []struct{ label, text string }{{"stderr", s.Ended.Stderr}, {"stdout", s.Ended.Stdout}} {
		lines := strings.Split(strings.TrimRight(out.text, "\n"), "\n")
		if len(lines) > OutputLines {
			lines = lines[len(lines)-OutputLines:]
		}
		if text := strings.Join(lines, "\n"); text != "" {
			v = v.Show(evidence.Place{Label: out.label}, "%s", text)
		}
	}
	return v
}
