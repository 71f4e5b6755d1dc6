package check

import "github.com/mcp-conform/mcp-conform/conformance/internal/evidence"

// Observed needs a case in which find finds something. Otherwise the verdict is not_observed, with the message and what
// explains it.
func Observed[T any](find func(*evidence.Case) *T, message string) Need {
	return func(e *evidence.Case) *Verdict {
		if find(e) != nil {
			return nil
		}
		return Instead(NotObserved("%s%s", message, e.WhySilent(e.FirstCall)))
	}
}
