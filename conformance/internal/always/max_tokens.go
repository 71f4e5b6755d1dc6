package always

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var maxTokens = check.Check{
	ID:     "max-tokens",
	Rule:   "Every model request allows at most maxTokens",
	Levels: check.Levels(report.Robust, report.Must), Statements: []string{"sampling/18"},
	Cause: "a default or minimum of the client replaces the server's maxTokens, in every request or only in a later round",
	Fix:   "Pass maxTokens on, or less, with every request to the model.",
	Judge: func(e *evidence.Case) check.Verdict {
		compared := 0
		for _, r := range e.Rounds {
			for _, x := range r.Model {
				limit := limitOf(e, r, x)
				if x.Request == nil || limit <= 0 {
					continue
				}
				if got := x.Request.MaxTokens; got == nil || *got > limit {
					return aboveLimit(r, x, limit)
				}
				compared++
			}
		}
		if compared == 0 {
			return check.NotApplicable("no request to the model has a limit to compare")
		}
		return check.Pass("every model request allows at most maxTokens")
	},
}

// limitOf returns the limit of a round for a request to the model. Of concurrent requests, the wire may not tell which
// one it is for: then the largest counts. Invalid limits are 0.
func limitOf(e *evidence.Case, r *evidence.Round, x *evidence.Exchange) int64 {
	rounds := e.Rounds
	if e.Alone(r) || isOnlyFor(e, r, x) {
		rounds = []*evidence.Round{r}
	}
	limit := int64(0)
	for _, one := range rounds {
		if one.Params != nil && one.Params.MaxTokens != nil {
			limit = max(limit, *one.Params.MaxTokens)
		}
	}
	if r.Params == nil || r.Params.MaxTokens == nil || r.Hostile {
		return 0
	}
	return limit
}

// isOnlyFor reports whether a request to the model says what a round asked last, and not what another round did.
func isOnlyFor(e *evidence.Case, r *evidence.Round, x *evidence.Exchange) bool {
	for _, one := range e.Rounds {
		if one.Params == nil || one.Params.LastText() == "" || x.Says(one.Params.LastText()) != (one == r) {
			return false
		}
	}
	return true
}

func aboveLimit(r *evidence.Round, x *evidence.Exchange, limit int64) check.Verdict {
	found := "no limit"
	if x.Request.MaxTokens != nil {
		found = fmt.Sprint(*x.Request.MaxTokens)
	}
	return check.Fail("expected at most %d tokens in the model request, found %s", limit, found).
		ShowAs("server sent", r.Asked.At("maxTokens"), "%d", limit).ShowAs("model received", x.Place, "%s", found)
}
