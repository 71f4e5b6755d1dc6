package basic

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The check in this file judges the form of a result. Its cases are in question.go and endings.go.

var noArray = check.Check{
	ID: "no-array-before-a", Cases: plain,
	Rule:   "Before 2025-11-25, the content of a result MUST be a single block",
	Levels: check.BeforeTools(report.Must), Statements: check.ResultSchema, Results: 1,
	Cause: "the client sends the result of a newer revision than the negotiated one",
	Fix:   "Send content as one block up to 2025-06-18.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		if content := a.Member("content"); content != nil && content[0] == '[' {
			return check.Fail("expected a single block in the result, found %s", found(content)).ShowMembers(a, "content")
		}
		return check.Pass("content is a single block")
	},
}
