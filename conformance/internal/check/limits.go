package check

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// byItsLimit is the verdict where a client hung up on the model when its own limit had passed, so that this was not for a cancel, or may not have
// been; nil where it hung up before.
func ByItsLimit(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) *Verdict {
	header := ev.Session.Trace.Header
	if !header.TimeoutDeclared || !x.End.HungUp || ev.ModelEndTime(x)-ev.TimeOf(r.Asked.Ref) < header.ClientTimeout {
		return nil
	}
	v := Unsupported("the client hung up on the model when the %s had passed that it waits, so that nothing else need have ended that: declare a longer limit (%s), of 10 seconds or more",
		header.ClientTimeout, LimitOption).Show(r.Asked, "").Show(x.Place, "")
	return &v
}
