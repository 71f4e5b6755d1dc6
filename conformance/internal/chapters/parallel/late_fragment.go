package parallel

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The model's stream sends the end of the last tool call with or after the finish reason.
var lateFragment = late(weather("late-fragment", story.Texts("eighteen degrees", "fifteen degrees"), cities{"Paris", "London"}))

func late(c harness.Case) harness.Case {
	script := c.Script
	c.Script = func(mark string) []*llm.Rule {
		rules := script(mark)
		rules[0].LateUse()
		return rules
	}
	return c
}

var lateDelta = check.Check{
	ID: "late-delta", Cases: []string{"late-fragment"},
	Rule:   "A fragment of a tool call with or after the finish reason reaches the server",
	Levels: check.Everywhere(report.Robust), Requests: 1,
	Needs: []check.Need{check.ModelReadsRequest(1), asksForStream, allowsLateFragments},
	Cause: "the client stops reading at the finish reason",
	Fix:   "Read the stream to its end, and use every fragment.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, want := e.Rounds[0], check.Expected[cities](e)
		a := r.Result()
		switch {
		case a == nil && r.LastExchange().End.Status != 200:
			return check.NotObserved("the model sent no stream to the client%s", e.WhyNoResult(1))
		case a == nil:
			return check.Fail("expected a result from a stream with a late fragment%s", e.WhyNoResult(1)).Show(r.Model[0].Place, "")
		}
		if v := check.UnreadableContent(a); v != nil {
			return *v
		}
		if last := want[len(want)-1]; !slices.Contains(evidence.AskedFor(a), last) {
			return check.Fail("expected the late arguments of the last tool call, found none").
				Show(evidence.Place{Label: "model said"}, "get_weather for %s, last", last).
				Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
		}
		return check.Pass("the late fragment reached the server").Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
	},
}

// allowsLateFragments needs a dialect whose streams may send a piece of a tool call with the finish reason, or after
// it.
func allowsLateFragments(e *evidence.Case) *check.Verdict {
	switch d := e.Rounds[0].LastExchange().Request.Dialect; d {
	case dialect.OpenAIChat, dialect.Gemini, dialect.Ollama:
		return nil
	default:
		v := check.NotApplicable("a stream of %s cannot send a late fragment", d)
		return &v
	}
}
