package parallel

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The model uses a tool for two cities at once. The server sends the results in reverse order.
var twoCities = weather("two-cities", story.Reversed(degrees), parisAndLondon...)

var (
	parisAndLondon = []string{"Paris", "London"}
	degrees        = story.Texts("eighteen degrees", "fifteen degrees")
)

// The model makes more tool uses at once than some clients allow.
var thirtyThree = weather("thirty-three", story.Texts(reports(33)...), numbered(33)...)

// A tool whose only parameter is an object. Its keys have capitals and dashes.
var setAlarm = server.Tool{Name: "set_alarm", Description: "Sets an alarm", InputSchema: json.RawMessage(
	`{"type":"object","properties":{"Wake-Up":{"type":"object"}}}`)}

// The model speaks before and after its tool uses, two of which are the same.
var alike = func() harness.Case {
	c := weather("alike", nil)
	c.Handler = func(s *server.Session) (any, error) {
		return story.TwoRounds(s, s.Ask("Wake me at six & seven.", setAlarm),
			story.Texts("set", "set again", "set once more"))
	}
	c.Script = func(string) []*llm.Rule {
		six := llm.Call(setAlarm.Name, `{"Wake-Up":{"In-Hours":6,"Sound":"<beep>"}}`)
		seven := llm.Call(setAlarm.Name, `{"Wake-Up":{"In-Hours":7}}`)
		return []*llm.Rule{
			llm.When(story.WithResults()).Reply(llm.Text("They are set.")),
			llm.When().ReplyFunc(story.Answers(llm.Text("<b>Two</b> alarms & a spare one:\n"), six, six, seven,
				llm.Text(" Sleep \"well\".\n"))),
		}
	}
	return c
}()

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("City %d", i+1)
	}
	return names
}

func reports(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("station %02d reports mild weather", i+1)
	}
	return texts
}

// streamedUses leaves the tool uses of a result to always/server-was-given.
var streamedUses = check.Check{
	ID: "streamed-uses", Cases: []string{"two-cities", "interleaved", "repeated-names"},
	Rule:   "The client accepts tool uses that the provider streams in fragments",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{check.AsksModel, check.ModelReadsRequest(1), asksForStream},
	Cause: "fragments are joined without regard to the index of their call, which makes invalid arguments",
	Fix: "Keep one call for each index, and append each fragment of its arguments. " +
		"Take the name as it is: some servers repeat it.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.RefusalWithTools(e, r); how != "" {
			return check.Fail("expected the tool uses of the model's stream, found a refusal: %s", how).At(r.Model[0].Place)
		}
		a, v := check.ReadableResult(e, r)
		if v != nil {
			return *v
		}
		return check.Pass("the client accepts the stream").ShowUses(a)
	},
}

// asksForStream needs a client that streams the model's answer in the first round.
func asksForStream(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Rounds[0].LastExchange().Request.Stream,
		check.NotApplicable("the client does not ask the model for a stream"))
}

// The model's stream has a form that some servers have: the end of the last tool call comes with or after the finish
// reason, the fragments of the calls come in turn, or each of them has the name of its tool.
var (
	lateFragment  = streamed("late-fragment", (*llm.Rule).LateUse)
	interleaved   = streamed("interleaved", func(r *llm.Rule) *llm.Rule { return r.Stream(llm.Interleaved) })
	repeatedNames = streamed("repeated-names", func(r *llm.Rule) *llm.Rule { return r.Stream(llm.RepeatedNames) })
)

// streamed is a case in which form changes the rule of the tool calls.
func streamed(id string, form func(*llm.Rule) *llm.Rule) harness.Case {
	c := weather(id, degrees, parisAndLondon...)
	script := c.Script
	c.Script = func(mark string) []*llm.Rule {
		rules := script(mark)
		form(rules[1])
		return rules
	}
	return c
}

var lateDelta = check.Check{
	ID: "late-delta", Cases: []string{"late-fragment"},
	Rule:   "The client uses tool call fragments that arrive with or after the finish reason",
	Levels: check.Robust, Requests: 1,
	Needs: []check.Need{check.AsksModel, check.ModelReadsRequest(1), asksForStream, allowsLateFragments},
	Cause: "the client stops reading at the finish reason",
	Fix:   "Read the stream to its end, and use every fragment.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
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
		said := r.LastExchange().Calls()
		if len(said) == 0 {
			return check.NotApplicable("the model used no tool").At(r.Model[0].Place)
		}
		late := said[len(said)-1].Input
		same := func(use dialect.Block) bool { return jsonvalue.Same(evidence.Arguments(use), late) }
		if !slices.ContainsFunc(a.Uses(), same) {
			return check.Fail("expected the late arguments of the last tool call, found none").
				ShowAs("model said", r.LastExchange().Place, "%s", evidence.Describe(said)).ShowUses(a)
		}
		return check.Pass("the late fragment reached the server").ShowUses(a)
	},
}

// allowsLateFragments needs a dialect whose streams may send a piece of a tool call with the finish reason, or after
// it.
func allowsLateFragments(e *evidence.Case) *check.Verdict {
	d := e.Rounds[0].LastExchange().Request.Dialect
	return check.Unless(dialects.FactsOf(d).LateUses,
		check.NotApplicable("a stream of %s cannot send a late fragment", d))
}
