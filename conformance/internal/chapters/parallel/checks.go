package parallel

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// wanted are the cities that the model asks for in a case.
func wanted(caseID string) []string {
	switch caseID {
	case "parallel/thirty-three":
		return cities(33)
	case "parallel/failing-tool":
		return []string{"Paris", "London", "Atlantis"}
	}
	return []string{"Paris", "London"}
}

// judgeUses holds the answer's tool uses against those that the model asked for: all of them, in order, with their input.
func judgeUses(e *evidence.Case) check.Verdict {
	a := e.Rounds[0].Result()
	if v := check.UnreadableContent(a); v != nil {
		return *v
	}
	uses, want := a.Uses(), wanted(e.Case.ID)
	tell := func(v check.Verdict) check.Verdict {
		return v.Show(evidence.Place{Label: "model said"}, "get_weather for %s", evidence.Clip(strings.Join(want, ", "))).
			ShowAs("server got", a.At("content"), "%s", evidence.Describe(uses))
	}
	if len(uses) != len(want) {
		return tell(check.Fail("the model asked for %d tools at once, and the answer has %d tool uses", len(want), len(uses)))
	}
	for i, city := range evidence.AskedFor(a) {
		if city != want[i] || uses[i].Name != "get_weather" {
			return tell(check.Fail("tool use %d is not the model's: want get_weather for %s", i+1, want[i]))
		}
	}
	return tell(check.Pass("all %d tool uses came back, in the model's order", len(want)))
}

var allUses = check.Check{
	ID: "all-uses", Rule: "all tool uses of a turn come back, in the model's order, in one array", Levels: check.Everywhere(report.Robust), Results: 1,
	Cases: []string{"two-cities"},
	Cause: "the client looks at the first tool call only, or keeps calls in a map",
	Fix:   "turn every tool call of the turn into a tool_use block, in order",
	Judge: judgeUses,
}

var UniqueIDs = check.Check{
	ID: "unique-ids", Rule: "no two tool uses share an id", Levels: check.Everywhere(report.Must), Results: 1, Statements: check.ToolUseSchema,
	Cases: []string{"two-cities", "thirty-three"},
	Cause: "ids are minted from the tool's name, or from a counter that starts anew",
	Fix:   "pass the provider's ids on; where it has none, mint one for each use",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		uses := a.Uses()
		if len(uses) < 2 {
			return check.NotObserved("the answer has %d tool uses, and it takes two to compare ids (see parallel/all-uses)", len(uses))
		}
		seen := map[string]dialect.Block{}
		for _, use := range uses {
			if other, taken := seen[use.ID]; taken {
				return check.Fail("two tool uses of one turn have the id %s", evidence.QuoteID(use.ID)).
					Show(a.At(other.Path).At("id"), "%q", other.ID).Show(a.At(use.Path).At("id"), "%q", use.ID)
			}
			seen[use.ID] = use
		}
		return check.Pass("%d tool uses have %d ids", len(uses), len(seen)).Show(a.At("content"), "%s", evidence.Describe(uses))
	},
}

var streamedUses = check.Check{
	ID: "streamed-uses", Rule: "all tool uses come back also when the provider streams them in fragments", Levels: check.Everywhere(report.Robust),
	Results: 1, Cases: []string{"two-cities"},
	Cause: "fragments are put together without regard to the index that says which call they belong to",
	Fix:   "keep a call for each index, and add each fragment to its own",
	Judge: func(e *evidence.Case) check.Verdict {
		if v := streams(e); v != nil {
			return *v
		}
		return judgeUses(e)
	},
}

// streams returns nil for a client that asked the model for a stream in the first round, and the verdict for one that did not.
func streams(e *evidence.Case) *check.Verdict {
	x, missing := check.ModelRequest(e.Rounds[0])
	if missing == nil && !x.Request.Stream {
		v := check.NotApplicable("the client does not ask the model for a stream")
		return &v
	}
	return missing
}

var lateDelta = check.Check{
	ID: "late-delta", Rule: "a piece of a tool call that comes with the finish reason, or after it, is not lost", Levels: check.Everywhere(report.Robust),
	Requests: 1, Cases: []string{"late-fragment"},
	Cause: "the client stops reading at the finish reason",
	Fix:   "read the stream to its end, and take every fragment until then",
	Judge: func(e *evidence.Case) check.Verdict {
		if v := streams(e); v != nil {
			return *v
		}
		r := e.Rounds[0]
		if name := r.LastExchange().Request.Dialect; !comesLate[name] {
			return check.NotApplicable("a stream of %s has no place for a late fragment", name)
		}
		a := r.Result()
		switch {
		case a == nil && r.LastExchange().End.Status != 200:
			return check.NotObserved("the model had no such stream for the client%s", e.WhyNoResult(1))
		case a == nil:
			return check.Fail("the client made no answer of a stream whose last fragment is late%s", e.WhyNoResult(1)).Show(r.Model[0].Place, "")
		case check.UnreadableContent(a) != nil:
			return *check.UnreadableContent(a)
		case !slices.Contains(evidence.AskedFor(a), "London"):
			return check.Fail("the arguments of the last tool call came with the finish reason, and were lost").
				Show(evidence.Place{Label: "model said"}, `get_weather({"city":"London"}), last`).Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
		}
		return check.Pass("the late fragment was not lost").Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
	},
}

// comesLate are the dialects in whose streams a piece of a tool call can come with the finish reason, or after it.
var comesLate = map[string]bool{dialect.OpenAIChat: true, dialect.Gemini: true, dialect.Ollama: true}
