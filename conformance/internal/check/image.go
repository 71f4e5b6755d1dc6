package check

import (
	"cmp"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

// TakesImage needs a client that does not refuse the image of a case whose check is not about it. A client may refuse
// all images, with an error or, in 2026-07-28, by the end of the call, and then nothing else shows.
func TakesImage(e *evidence.Case) *Verdict {
	refuses := len(e.Rounds) > 0 && e.Rounds[0].Shows() && !e.Session.ServesImages() &&
		!slices.ContainsFunc(e.Rounds, serves)
	if !refuses {
		return nil
	}
	return Instead(NotApplicable("the client did not ask its model: it may refuse a request about an image").
		At(e.Rounds[0].Asked))
}

// SentBehindImage needs the sampling request with this index, from 0, to have been sent. A request about an image may
// come before it.
func SentBehindImage(e *evidence.Case, index int) *Verdict {
	if index < len(e.Rounds) {
		return nil
	}
	return cmp.Or(TakesImage(e), Instead(NotSent(e, index+1)))
}

// serves reports whether the client did not simply refuse the request: it asked its model, gave a result, declined for
// the user, or gave no response at all.
func serves(r *evidence.Round) bool {
	legacy := r.RawID != nil
	answers := func(a evidence.Answer) bool { return a.Err == nil || a.Err.Code == evidence.CodeDeclined }
	return len(r.Model) > 0 || legacy && len(r.Answers) == 0 || slices.ContainsFunc(r.Answers, answers)
}
