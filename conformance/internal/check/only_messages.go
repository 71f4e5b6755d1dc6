package check

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// mostStrays is how many of the strays are shown.
const mostStrays = 3

// onlyMessages wants nothing but messages on the pipe, each a line (2025-11-25, basic/transports#stdio; 2026-07-28,
// basic/transports/stdio). What a client that we ended, or whose server we ended, had not finished is not held against it.
func OnlyMessages(sessions []*evidence.Session) Verdict {
	strays, messages := 0, 0
	v := Fail("the client wrote what is no JSON-RPC message")
	for _, s := range sessions {
		found := s.InvalidLines
		if s.Ended == nil || !s.Ended.Deadline && !s.Ended.Interrupted && !s.Lost {
			found = append(found[:len(found):len(found)], s.PartialLines...)
		}
		for _, p := range found {
			if strays++; strays <= mostStrays {
				v = v.Show(p, "%s", evidence.Clip(fmt.Sprintf("%q", s.Trace.Find(p.Ref).Frame.Raw)))
			}
		}
		messages += s.Messages
	}
	switch {
	case strays > 1:
		v.Message = fmt.Sprintf("the client wrote %d lines that are no JSON-RPC messages", strays)
		return v
	case strays == 1:
		return v
	case messages == 0:
		return NotObserved("the client wrote nothing")
	}
	return Pass("every line was a message")
}
