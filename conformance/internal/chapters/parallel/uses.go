package parallel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The model uses a tool for two cities at once. The server sends the results in reverse order.
var twoCities = weather("two-cities", story.Reversed(degrees), parisAndLondon)

var (
	parisAndLondon = cities{"Paris", "London"}
	degrees        = story.Texts("eighteen degrees", "fifteen degrees")
)

// The model makes more tool uses at once than some clients allow.
var thirtyThree = weather("thirty-three", story.Texts("mild"), numbered(33))

func numbered(n int) cities {
	names := make(cities, n)
	for i := range names {
		names[i] = fmt.Sprintf("City %d", i+1)
	}
	return names
}

var allUses = check.Check{
	ID: "all-uses", Cases: []string{"two-cities"},
	Rule:   "All tool uses of a turn reach the server in one array, in the model's order",
	Levels: check.Robust, Results: 1, Needs: []check.Need{check.ReadableContent(1)},
	Cause: "the client reads only the first tool call, or keeps the calls in a map",
	Fix:   "Map every tool call of the turn to a tool_use block, in order.",
	Judge: judgeUses,
}

var streamedUses = check.Check{
	ID: "streamed-uses", Cases: []string{"two-cities"},
	Rule:   "All tool uses of a turn reach the server if the provider streams them in fragments",
	Levels: check.Robust, Results: 1,
	Needs: []check.Need{check.ModelReadsRequest(1), asksForStream, check.ReadableContent(1)},
	Cause: "fragments are joined without regard to the index of their call",
	Fix:   "Keep one call for each index, and append each fragment to the call of its index.",
	Judge: judgeUses,
}

// judgeUses passes a result with exactly the model's tool uses, in order.
func judgeUses(e *evidence.Case) check.Verdict {
	a, want := e.Rounds[0].Result(), check.Expected[cities](e)
	uses := a.Uses()
	show := func(v check.Verdict) check.Verdict {
		return v.Show(evidence.Place{Label: "model said"}, "get_weather for %s", strings.Join(want, ", ")).ShowUses(a)
	}
	if len(uses) != len(want) {
		return show(check.Fail("expected %d tool uses in the result, found %d", len(want), len(uses)))
	}
	for i, city := range evidence.RequestedCities(a) {
		if city != want[i] || uses[i].Name != story.GetWeather.Name {
			return show(check.Fail("expected get_weather for %s as tool use %d, found %s for %q",
				want[i], i+1, uses[i].Name, city))
		}
	}
	return show(check.Pass("all %d tool uses reached the server, in the model's order", len(want)))
}

// asksForStream needs a client that streams the model's answer in the first round.
func asksForStream(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Rounds[0].LastExchange().Request.Stream,
		check.NotApplicable("the client does not ask the model for a stream"))
}

var uniqueIDs = check.Check{
	ID: "unique-ids", Cases: []string{"two-cities", "thirty-three"}, Statements: check.ToolUseSchema,
	Rule:   "The client MUST give each tool use a unique id",
	Levels: check.Must, Results: 1,
	Cause: "ids are generated from the tool's name, or from a counter that starts anew",
	Fix:   "Pass the provider's ids on. If it has none, generate one for each tool use.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		uses := a.Uses()
		if len(uses) < 2 {
			return check.NotObserved("the result has %d tool uses, ids need 2 to compare (see parallel/all-uses)", len(uses))
		}
		seen := map[string]dialect.Block{}
		for _, use := range uses {
			if other, taken := seen[use.ID]; taken {
				return check.Fail("expected a unique id for each tool use, found %s twice", evidence.QuoteID(use.ID)).
					Show(a.At(other.Path).At("id"), "%q", other.ID).Show(a.At(use.Path).At("id"), "%q", use.ID)
			}
			seen[use.ID] = use
		}
		return check.Pass("%d tool uses have %d ids", len(uses), len(seen)).ShowUses(a)
	},
}

var over32Calls = check.Check{
	ID: "over-32-calls", Cases: []string{"thirty-three"},
	Rule:   "33 tool uses at once reach the server, or the client returns an error",
	Levels: check.Robust, Requests: 1,
	Cause: "a limit of the client or of a buffer silently drops tool uses",
	Fix:   "Pass all tool uses on, or return an error with the limit.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, want := e.Rounds[0], check.Expected[cities](e)
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses %d tool uses: %s", len(want), how)
		}
		a, v := check.ReadableResult(e, r)
		if v != nil {
			return *v
		}
		got := evidence.RequestedCities(a)
		for _, city := range want {
			if !slices.Contains(got, city) {
				return check.Fail("expected %d tool uses in the result, found %d: %s is missing",
					len(want), len(got), city).ShowUses(a)
			}
		}
		return check.Pass("all %d tool uses reached the server", len(want))
	},
}

// The model's stream sends the end of the last tool call with or after the finish reason.
var lateFragment = late(weather("late-fragment", degrees, parisAndLondon))

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
	Levels: check.Robust, Requests: 1,
	Needs: []check.Need{check.ModelReadsRequest(1), asksForStream, allowsLateFragments},
	Cause: "the client stops reading at the finish reason",
	Fix:   "Read the stream to its end, and use every fragment.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, want := e.Rounds[0], check.Expected[cities](e)
		a := r.Result()
		switch {
		case a == nil && r.LastExchange().End.Status != 200:
			return check.NotObserved("the model sent no stream%s", e.WhyNoResult(1))
		case a == nil:
			return check.Fail("expected a result from a stream with a late fragment%s", e.WhyNoResult(1)).
				At(r.Model[0].Place)
		}
		if v := check.UnreadableContent(a); v != nil {
			return *v
		}
		if last := want[len(want)-1]; !slices.Contains(evidence.RequestedCities(a), last) {
			return check.Fail("expected the late arguments of the last tool call, found none").
				Show(evidence.Place{Label: "model said"}, "get_weather for %s, last", last).ShowUses(a)
		}
		return check.Pass("the late fragment reached the server").ShowUses(a)
	},
}

// allowsLateFragments needs a dialect whose streams may send a piece of a tool call with the finish reason, or after
// it.
func allowsLateFragments(e *evidence.Case) *check.Verdict {
	d := e.Rounds[0].LastExchange().Request.Dialect
	return check.Unless(slices.Contains([]string{dialect.OpenAIChat, dialect.Gemini, dialect.Ollama}, d),
		check.NotApplicable("a stream of %s cannot send a late fragment", d))
}
