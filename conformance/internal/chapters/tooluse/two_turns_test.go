package tooluse

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func listing(id, input string) string {
	return tracetest.Wanting([3]string{id, "list_airports", input})
}
func airports(id string) string { return listing(id, "{}") }

// turns is the first turn, and the second one unless its result is "".
func turns(first, second string) steps {
	return func(s *session) {
		tracetest.Uses(first)(s)
		if second != "" {
			tracetest.Uses(second)(s)
		}
	}
}

func TestToolUsesOfTwoTurnsHaveDifferentIDs(t *testing.T) {
	judges(t, "fresh-ids", "two-turns",
		passes("different ids", turns(airports("call_1"), airports("call_2"))),
		passes("they differ in case", turns(airports("call_a"), airports("call_A"))),
		passes("none, which tool-use-block judges", turns(airports(""), airports(""))),
		fails("the same id", turns(airports("call_0"), airports("call_0")), "call_0 in both"),
		unobserved("one turn without a tool use",
			turns(airports("call_0"), tracetest.Saying("No more.")), "result 2 has no tool use"),
		unobserved("one turn", turns(airports("call_0"), ""), "sampling request 2"))
}

// Answers of a model that lists the airports, with or without an id and a signature.
const (
	withoutID = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{}}}]}}]}`
	withID    = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{},"id":"a"}}]}}]}`
	signed    = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{},"id":"a"},` +
		`"thoughtSignature":"c2VhbA=="}]}}]}`
)

// modelTurns returns the case with the results of two turns, and a model that answers the same in both.
func modelTurns(t *testing.T, model, first, second string) *evidence.Case {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "tool-use/two-turns")
	turns(first, second)(s)
	ev := evidence.Decode(s.Trace).Case("tool-use/two-turns")
	for _, r := range ev.Rounds {
		for _, x := range r.Model {
			x.Answer = []byte(model)
		}
	}
	return ev
}

// requireVerdict judges a case that fulfils Requests and Results.
func requireVerdict(t *testing.T, want report.Verdict, message string, c *check.Check, ev *evidence.Case) {
	t.Helper()
	judge := func() check.Verdict {
		for _, need := range c.Needs {
			if v := need(ev); v != nil {
				return *v
			}
		}
		return c.Judge(ev)
	}
	got := judge()
	require.Equal(t, want, got.Kind, got.Message)
	require.Contains(t, got.Message, message)
}

func TestIDsAreGeneratedIfTheProviderGivesNone(t *testing.T) {
	for name, c := range map[string]struct {
		model, first, second string
		verdict              report.Verdict
		message              string
	}{
		"by turn and name": {withoutID, airports("list_airports-1"), airports("list_airports-2"), report.Pass, "2 ids for 2"},
		"by a counter":     {withoutID, airports("0"), airports("1"), report.Pass, "2 ids for 2"},
		"by name":          {withoutID, airports("list"), airports("list"), check.Failed, "found list twice"},
		"none":             {withoutID, airports(""), "", check.Failed, "list_airports, found none"},
		"only in one turn": {withoutID, airports("a"), airports(""), check.Failed, "list_airports, found none"},
		"one turn":         {withoutID, airports("a"), "", report.NotObserved, "1 of 2 tool uses"},
		"the provider's":   {withID, airports("a"), airports("b"), report.NotApplicable, "the provider gives"},
		"for no call":      {`{}`, airports("a"), airports("b"), report.NotObserved, "cannot be decoded"},
	} {
		t.Run(name, func(t *testing.T) {
			requireVerdict(t, c.verdict, c.message, &idGenerated, modelTurns(t, c.model, c.first, c.second))
		})
	}
}

func TestThoughtSignaturesReachTheModelAgain(t *testing.T) {
	for name, c := range map[string]struct {
		model, restated string
		verdict         report.Verdict
		message         string
	}{
		"the same":                      {signed, "c2VhbA==", report.Pass, ""},
		"lost":                          {signed, "", check.Failed, "list_airports with its signature, found it without"},
		"changed":                       {signed, "c2VhbB==", check.Failed, "found it without"},
		"a placeholder":                 {signed, anySignature, report.Warn, "found a placeholder"},
		"none given":                    {withID, "", report.NotApplicable, "does not sign"},
		"none given, and a placeholder": {withID, anySignature, report.NotApplicable, "does not sign"},
		"the model's answer is unknown": {`{}`, "", report.NotObserved, "cannot be decoded"},
	} {
		t.Run(name, func(t *testing.T) {
			ev := modelTurns(t, c.model, airports("a"), airports("b"))
			request := ev.Rounds[1].Model[0].Request
			request.Messages = append(request.Messages, dialect.Message{Role: dialect.Assistant, Content: []dialect.Block{
				{Type: dialect.ToolUse, ID: "a", Name: "list_airports", Signature: c.restated}}})
			requireVerdict(t, c.verdict, c.message, &thoughtSignature, ev)
		})
	}
}
