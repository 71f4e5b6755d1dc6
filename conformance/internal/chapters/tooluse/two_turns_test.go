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

// Answers of a model that lists the airports, with or without a signature.
const (
	withID = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{},"id":"a"}}]}}]}`
	signed = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"list_airports","args":{},"id":"a"},` +
		`"thoughtSignature":"c2VhbA=="}]}}]}`
)

// modelTurns returns the case with the results of two turns, and a model that answers the same in both.
func modelTurns(t *testing.T, model, first, second string) *evidence.Case {
	s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "tool-use/two-turns")
	turns(first, second)(s)
	ev := evidence.Decode(s.Trace).Case("tool-use/two-turns")
	for _, r := range ev.Rounds {
		for _, x := range r.Model {
			x.Dialect, x.Answer = dialect.Gemini, []byte(model)
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
		"the model's answer is unknown": {`{}`, "", report.NotApplicable, "used no tool"},
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
