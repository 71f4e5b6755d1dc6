package always

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// shownLines is how many invalid lines a report shows.
const shownLines = 3

// OnlyMessages judges that every line of the client over stdio was a JSON-RPC message (2025-11-25,
// basic/transports#stdio; 2026-07-28, basic/transports/stdio). An unfinished line does not count if we ended the
// client or its server.
func OnlyMessages(sessions []*evidence.Session) check.Verdict {
	invalid, messages := 0, 0
	v := check.Fail("")
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
		return check.NotObserved("the client wrote nothing")
	}
	return check.Pass("every line was a JSON-RPC message")
}
