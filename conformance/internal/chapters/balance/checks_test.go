package balance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var catalogue = check.Catalogue{Scenario}

type request = server.CreateMessageParams

// sending is the request with a history, and what follows it.
func (h history) sending(then func(*tracetest.Story, *request)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		ask := tracetest.Asking("What is the weather like?", story.GetWeather)
		ask.Messages = append(ask.Messages, h.messages...)
		then(s.Asks(ask).OnPurpose(), ask)
	}
}

// refusing are the client's error, which the modern revision does not have, and the barrier.
func refusing(code int) func(*tracetest.Story, *request) {
	return func(s *tracetest.Story, _ *request) { s.Refuses(code, "no").PassesBarrier() }
}

// answering is a client that answers as if nothing were wrong.
func answering(s *tracetest.Story, ask *request) {
	s.Prompts(ask).Answers(tracetest.Saying("Mild.")).PassesBarrier()
}

// prompting is a model request that ends as given, and the client's error.
func prompting(end trace.ModelEnd) func(*tracetest.Story, *request) {
	return func(s *tracetest.Story, ask *request) {
		s.Prompt(string(dialect.Marshal(ask)), end).Refuses(-32603, "no").PassesBarrier()
	}
}

func nothing(*tracetest.Story, *request)         { /* the client does nothing */ }
func onlyBarrier(s *tracetest.Story, _ *request) { s.PassesBarrier() }
func dying(s *tracetest.Story, _ *request) {
	s.Refuses(-32602, "no").Ends(trace.Process{Panic: "nil map"})
}
func dyingWithoutError(s *tracetest.Story, _ *request)  { s.Ends(trace.Process{Panic: "nil map"}) }
func refusingEverything(s *tracetest.Story, _ *request) { s.Refuses(-32602, "no") }

var refusedByModel = trace.ModelEnd{Status: 400, Refused: "unbalanced"}

func TestForbiddenHistoriesAreRefused(t *testing.T) {
	named := []string{"missing-result", "no-result", "late-result", "trailing-use", "mixed-content"}
	for _, kind := range forbidden {
		require.Equal(t, slices.Contains(named, kind.id), kind.statements[0] == codeNamed, "%s names its code", kind.id)
		for _, h := range kind.histories {
			tracetest.RunCheck(t, catalogue, "balance/"+kind.id, h.name, []tracetest.Test{
				{Name: "the right error", In: tracetest.InA, Verdict: report.Pass, Message: "-32602",
					Steps: h.sending(refusing(-32602))},
				{Name: "another error", In: tracetest.InA, Verdict: report.Warn,
					Message: "code -32602 for a history in which " + h.wrong +
						", found -32603", Steps: h.sending(refusing(-32603))},
				{Name: "the provider's error", In: tracetest.InA, Verdict: report.Warn,
					Message: "found -32603, after the model refused it",
					Steps:   h.sending(prompting(refusedByModel))},
				{Name: "the provider's error, which has no code", In: tracetest.InB, Verdict: report.Pass, Message: h.wrong,
					Steps: h.sending(prompting(refusedByModel))},
				{Name: "not fulfilled", In: tracetest.InB, Verdict: report.Pass, Message: h.wrong, Steps: h.sending(onlyBarrier)},
				{Name: "no response", In: tracetest.InA, Verdict: report.Warn, Message: "found no response",
					Steps: h.sending(onlyBarrier)},
				{Name: "it dies", In: tracetest.InA, Verdict: report.Warn, Message: "found no response; it panicked: nil map",
					Steps: h.sending(dyingWithoutError)},
				{Name: "a response may still come", In: tracetest.InB, Verdict: report.NotObserved,
					Message: "no response to request 1",
					Steps:   h.sending(nothing)},
				{Name: "it refuses everything", In: tracetest.InA, Verdict: report.NotObserved,
					Message: `request 1: "no" (code -32602)`,
					Steps:   h.sending(refusingEverything)},
				{Name: "a result", Dialects: tracetest.Native, Verdict: report.Warn, Message: h.wrong + ", found a result",
					Steps: h.sending(answering)},
				{Name: "the model has no answer", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
					Message: "had no answer", Steps: h.sending(prompting(trace.ModelEnd{Status: 404, Miss: "no rule"}))},
				{Name: "tools are not declared", Declares: tracetest.SamplingOnly, Verdict: report.NotApplicable,
					Message: "sampling.tools",
					Steps:   func(s *tracetest.Story) { s.Marks(trace.MarkWithheld, "sampling.tools") }},
			})
		}
	}
}

func TestAForbiddenHistoryCostsNoModelCallAndNoSession(t *testing.T) {
	h := forbidden[0].histories[0]
	tracetest.RunCheck(t, catalogue, "balance/no-model-call", h.name, []tracetest.Test{
		{Name: "refused at once", Verdict: report.Pass, Steps: h.sending(refusing(-32602))},
		{Name: "refused by the provider", Dialects: tracetest.Native, Verdict: report.Pass,
			Steps: h.sending(prompting(refusedByModel))},
		{Name: "refused after a model call", Dialects: tracetest.Native, Verdict: report.Warn, Message: h.wrong,
			Steps: h.sending(func(s *tracetest.Story, ask *request) { s.Prompts(ask).Refuses(-32602, "no").PassesBarrier() })},
	})
	tracetest.RunCheck(t, catalogue, "balance/alive", h.name, []tracetest.Test{
		{Name: "it continues", Verdict: report.Pass, Steps: h.sending(refusing(-32602))},
		{Name: "it dies", Verdict: report.Fail, Message: h.wrong + ": it panicked: nil map", Steps: h.sending(dying)},
	})
}

func TestABlockUnderTheWrongRoleIsNotDropped(t *testing.T) {
	var marked []string
	for _, kind := range forbidden {
		for _, h := range kind.histories {
			if h.marker == "" {
				continue
			}
			marked = append(marked, h.name)
			tracetest.RunCheck(t, catalogue, "balance/not-dropped", h.name, []tracetest.Test{
				{Name: "it reaches the model", Dialects: tracetest.Native, Verdict: report.Pass, Message: "reached the model",
					Steps: h.sending(answering)},
				{Name: "it is dropped", Dialects: tracetest.Native, Verdict: report.Fail, Message: h.wrong,
					Steps: h.sending(func(s *tracetest.Story, ask *request) {
						short := *ask
						short.Messages = ask.Messages[:1]
						answering(s, &short)
					})},
				{Name: "it is refused", In: tracetest.InA, Verdict: report.Pass, Message: `"no" (code -32603)`,
					Steps: h.sending(refusing(-32603))},
				{Name: "it is not fulfilled", In: tracetest.InB, Verdict: report.Pass, Message: tracetest.NotFulfilled,
					Steps: h.sending(onlyBarrier)},
				{Name: "a response may still come", In: tracetest.InB, Verdict: report.Unsupported,
					Message: "one could still have come",
					Steps:   h.sending(nothing)},
				{Name: "no response", In: tracetest.InA, Verdict: report.NotObserved, Message: tracetest.NoAnswer,
					Steps: h.sending(onlyBarrier)},
				{Name: "a result without a model request", Verdict: report.NotObserved, Message: "the model received no request",
					Steps: h.sending(func(s *tracetest.Story, _ *request) { s.Answers(tracetest.Saying("Mild.")).PassesBarrier() })},
			})
		}
	}
	require.Equal(t, marked, notDropped.Cases)
}

func TestAReportShowsTheWrongPartOfAHistory(t *testing.T) {
	for _, c := range []struct{ check, name, path, part string }{
		{"missing-result", "one-result-of-two", "params.messages[2].content",
			`[{"type":"tool_result","toolUseId":"call_paris","content":[{"type":"text","text":"eighteen degrees"}]}]`},
		{"trailing-use", "use-at-the-end", "params.messages[1].content",
			`[{"type":"tool_use","id":"call_paris","name":"get_weather","input":{"city":"Paris"}}]`},
	} {
		s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "balance/"+c.name)
		i := slices.IndexFunc(Scenario.Cases, func(one harness.Case) bool { return one.ID == s.CaseID })
		Scenario.Cases[i].Expect.(history).sending(answering)(s)
		got := s.Result("balance/" + c.check)
		require.Equal(t, c.part, got.Evidence[0].Text)
		require.Equal(t, c.path, got.Evidence[0].Path)
		require.Contains(t, got.Evidence[1].Text, "tool use call_paris: get_weather", "what the model received")
	}
}

func TestCasesOfHistoriesShareASession(t *testing.T) {
	for _, c := range Scenario.Cases {
		require.True(t, c.Barrier, c.ID)
		require.False(t, c.Isolated || c.Hostile, "%s: a session for each would cost more than it shows", c.ID)
	}
}
