package check

import "github.com/mcp-conform/mcp-conform/conformance/internal/evidence"

// Need is a precondition of a check. It returns nil if the case fulfils it, and otherwise the verdict that takes the place of Judge's.
type Need func(*evidence.Case) *Verdict

// ModelReadsRequest needs a request of the model for the nth sampling request (from 1) that could be decoded. Judge finds it with
// [evidence.Round.LastExchange].
func ModelReadsRequest(n int) Need {
	return func(e *evidence.Case) *Verdict {
		if len(e.Rounds) < n {
			v := NotObserved("the server did not send sampling request %d%s", n, e.WhyNoResult(n-1))
			return &v
		}
		_, v := ModelRequest(e.Rounds[n-1])
		return v
	}
}

// ReadableContent needs a result for the nth sampling request (from 1) whose content could be decoded.
func ReadableContent(n int) Need {
	return func(e *evidence.Case) *Verdict {
		_, v := ReadableResult(e, e.Rounds[n-1])
		return v
	}
}

// Expected returns the Expect of the case, as its author wrote it. It panics if the case has an expectation of another type: a mistake of
// the catalogue.
func Expected[T any](e *evidence.Case) T { return e.Expect.(T) }
