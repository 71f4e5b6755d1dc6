package always

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var stopReasonWord = check.Check{
	ID:     "stop-reason-word",
	Rule:   "A stop reason that MCP has is written as MCP writes it",
	Levels: check.Advice,
	Cause:  "the provider's word is passed on, such as end_turn, stop or length",
	Fix:    "Map the provider's words to endTurn, maxTokens, stopSequence and toolUse. Pass on only other words.",
	Judge: eachResult("every stop reason is written as MCP writes it",
		func(e *evidence.Case, a *evidence.Answer) *check.Verdict {
			got, given := a.Text("stopReason")
			if !given {
				return nil
			}
			meant := meantBy(e, a, got)
			for _, standard := range evidence.StandardStopReasons {
				if got != standard && (letters(got) == letters(standard) || standard == meant) {
					return check.Instead(check.Fail("expected the stop reason %s, found %s", standard, got).
						Show(a.At("stopReason"), "%q", got))
				}
			}
			return nil
		}),
}

// meantBy returns the stop reason for which the provider's word is in an answer; "" if it holds none, or one for tool
// uses, which the comparison with the model's reply judges.
func meantBy(e *evidence.Case, a *evidence.Answer, word string) string {
	for _, r := range e.Rounds {
		if r.Result() != a || len(r.CompletedCalls()) != 1 {
			continue
		}
		reply := r.LastExchange().Reply()
		if reply != nil && reply.StopReason != dialect.StopToolUse && letters(reply.FinishReason) == letters(word) {
			return string(reply.StopReason)
		}
	}
	return ""
}

func letters(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > utf8.RuneSelf {
			return c
		}
		return -1
	}, strings.ToLower(name))
}
