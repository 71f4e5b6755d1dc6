package check

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// OutputLines is how many of the last lines of a process's output a report shows.
const OutputLines = 8

// ShowOutput adds the last lines that the client wrote to standard error and standard output.
func ShowOutput(s *evidence.Session, v Verdict) Verdict {
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

// shownLines is how many invalid lines a report shows.
const shownLines = 3

// OnlyMessages judges that every line of the client over stdio was a JSON-RPC message (2025-11-25,
// basic/transports#stdio; 2026-07-28, basic/transports/stdio). An unfinished line does not count if we ended the
// client or its server.
func OnlyMessages(sessions []*evidence.Session) Verdict {
	invalid, messages := 0, 0
	v := Fail("")
	for _, s := range sessions {
		found := s.InvalidLines
		if s.Ended == nil || !s.Ended.Deadline && !s.Ended.Interrupted && !s.Lost {
			found = append(found[:len(found):len(found)], s.PartialLines...)
		}
		for _, p := range found {
			if invalid++; invalid <= shownLines {
				v = v.Show(p, "%s", evidence.Clip(fmt.Sprintf("%q", s.Trace.Find(p.Ref).Frame.Raw)))
			}
		}
		messages += s.Messages
	}
	switch {
	case invalid > 0:
		v.Message = fmt.Sprintf("expected JSON-RPC messages only, found invalid lines: %d", invalid)
		return v
	case messages == 0:
		return NotObserved("the client wrote nothing")
	}
	return Pass("every line was a JSON-RPC message")
}
