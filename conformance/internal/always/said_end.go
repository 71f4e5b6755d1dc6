package always

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// compareStopReason requires that a standard stop reason is true. Other words, or none, are the client's right, except
// beside tool uses: there a server looks for toolUse, or knows the provider's word for it.
func (c *rendering) compareStopReason() *difference {
	got, given := c.a.Text("stopReason")
	allowed := c.trueReasons()
	ends := []dialect.StopReason{dialect.StopToolUse, dialect.EndTurn}
	if given && len(c.given) > 0 && slices.Contains(ends, c.reply.StopReason) &&
		!slices.Contains(evidence.StandardStopReasons, got) && !c.saysToolUse(got) {
		return falseReason.found(string(dialect.StopToolUse), evidence.Quote(got)).at("", "stopReason")
	}
	if !given || allowed == nil || !slices.Contains(evidence.StandardStopReasons, got) ||
		slices.Contains(allowed, dialect.StopReason(got)) {
		return nil
	}
	want := "other than the standard ones"
	if slices.Contains(evidence.StandardStopReasons, string(c.reply.StopReason)) {
		want = string(c.reply.StopReason)
	}
	return falseReason.found(want, got).at("", "stopReason")
}

// trueReasons returns the standard stop reasons that are true of the reply; nil if that is unknown.
func (c *rendering) trueReasons() []dialect.StopReason {
	reason, word, uses := c.reply.StopReason, c.reply.FinishReason, len(c.given) > 0
	vague := strings.EqualFold(word, "stop") || word == "completed" // one word for several ends
	also := func(holds bool, other dialect.StopReason) []dialect.StopReason {
		if holds {
			return []dialect.StopReason{reason, other}
		}
		return []dialect.StopReason{reason}
	}
	switch reason {
	case dialect.EndTurn:
		return also(vague && c.round.Params.StopSequences != nil, dialect.StopStopSequence)
	case dialect.StopToolUse: // its uses may be left out, and the native dialect passes on what the model claims
		return also(!uses || word == string(dialect.EndTurn), dialect.EndTurn)
	case dialect.StopMaxTokens:
		return also(uses, dialect.StopToolUse)
	case dialect.StopStopSequence:
		return also(true, dialect.EndTurn)
	case dialect.StopRefusal, dialect.StopContentFilter:
		return also(vague, dialect.EndTurn)
	}
	return nil
}

// saysToolUse reports whether a word is the provider's for the end of the reply, or one for the use of a tool.
func (c *rendering) saysToolUse(word string) bool {
	word = letters(word)
	return word == letters(c.reply.FinishReason) || strings.Contains(word, "tool") || strings.Contains(word, "function") ||
		strings.Contains(word, "call")
}
