package always

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

var stopReasonWord = check.Check{
	ID:     "stop-reason-word",
	Rule:   "A stop reason that MCP has is written as MCP writes it",
	Levels: check.Advice,
	Cause:  "the provider's word is passed on, such as end_turn or tool_use",
	Fix:    "Map the provider's words to endTurn, maxTokens, stopSequence and toolUse. Pass on only other words.",
	Judge: eachResult("every stop reason is written as MCP writes it",
		func(_ *evidence.Case, a *evidence.Answer) *check.Verdict {
			got, _ := a.Text("stopReason")
			for _, standard := range evidence.StandardStopReasons {
				if got != standard && letters(got) == letters(standard) {
					return check.Instead(check.Fail("expected the stop reason %s, found %s", standard, got).
						Show(a.At("stopReason"), "%q", got))
				}
			}
			return nil
		}),
}

func letters(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > utf8.RuneSelf {
			return c
		}
		return -1
	}, strings.ToLower(name))
}
