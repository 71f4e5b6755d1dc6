package check

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// OutputLines is how many of the last lines of a process's output a report shows.
const OutputLines = 8

// ShowOutput adds the last lines that the client wrote to standard error and standard output.
func (v Verdict) ShowOutput(s *evidence.Session) Verdict {
	if s.Ended == nil {
		return v
	}
	for _, out := range []struct{ label, text string }{{"stderr", s.Ended.Stderr}, {"stdout", s.Ended.Stdout}} {
		lines := strings.Split(strings.TrimRight(out.text, "\n"), "\n")
		if text := strings.Join(lines[max(0, len(lines)-OutputLines):], "\n"); text != "" {
			v = v.Show(evidence.Place{Label: out.label}, "%s", text)
		}
	}
	return v
}
