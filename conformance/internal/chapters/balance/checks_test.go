package balance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sendingOf is the request with a history.
func sendingOf(h *history) *server.CreateMessageParams {
	ask := tracetest.Asking("What is the weather like?", story.GetWeather)
	ask.Messages = append(ask.Messages, h.messages...)
	return ask
}

func TestForbiddenHistoriesAreRefused(t *testing.T) {
	const mild = "It is mild there."
	const code = "-32602"
	for i := range histories {
		h := &histories[i]
		check := "balance/" + h.check
		wrongCode, answered := "the client refused a history in which "+h.wrong+" with the code ", "the client answered a history in which "+h.wrong
		due := ": " + code + " says that the request is wrong"
		if slices.Contains([]string{"missing-result", "no-result", "late-result", "trailing-use", "mixed-content"}, h.check) {
			due = ": " + code + " is due"
		}
		asks := func(then func(s *tracetest.Story, ask *server.CreateMessageParams)) func(*tracetest.Story) {
			return func(s *tracetest.Story) {
				ask := sendingOf(h)
				s.Asks(ask).OnPurpose()
				then(s, ask)
			}
		}
		tracetest.Run(t, catalogue, []tracetest.Test{
			{Name: "by an error", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.Pass, Message: "the client refused it with the code " + code,
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.Refuses(-32602, "no").PassesBarrier() })},
			{Name: "by another error", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.Warn, Message: wrongCode + "-32603" + due,
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.Refuses(-32603, "no").PassesBarrier() })},
			{Name: "by the provider", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.Warn, Message: wrongCode + "0, when the model had refused it" + due,
				Steps: asks(func(s *tracetest.Story, ask *server.CreateMessageParams) {
					s.Prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 400, Refused: "unbalanced"}).Refuses(0, "HTTP 400").PassesBarrier()
				})},
			{Name: "by the provider, which is enough where there is no code", Check: check, CaseID: h.name, In: tracetest.InB, Verdict: report.Pass, Message: "the client did not fulfil a request in which " + h.wrong,
				Steps: asks(func(s *tracetest.Story, ask *server.CreateMessageParams) {
					s.Prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 400, Refused: "unbalanced"}).PassesBarrier()
				})},
			{Name: "by silence", Check: check, CaseID: h.name, In: tracetest.InB, Verdict: report.Pass, Message: "the client did not fulfil a request in which " + h.wrong,
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.PassesBarrier() })},
			{Name: "by silence, where a word is due", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.Warn, Message: "the client neither refused nor answered a history in which " + h.wrong + ": an error is due",
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.PassesBarrier() })},
			{Name: "by dying", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.Warn,
				Message: "the client neither refused nor answered a history in which " + h.wrong + ": an error is due; it panicked: nil map",
				Steps:   asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.Ends(trace.Process{Panic: "nil map"}) })},
			{Name: "by silence at the end", Check: check, CaseID: h.name, In: tracetest.InB, Verdict: report.NotObserved,
				Message: "the client was not seen to answer anything, so that it cannot be said that it refuses this history: no response to request 1",
				Steps:   asks(func(*tracetest.Story, *server.CreateMessageParams) {})},
			{Name: "as all else is", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.NotObserved,
				Message: `the client was not seen to answer anything, so that it cannot be said that it refuses this history: error response to request 1: "no" (code -32602)`,
				Steps:   asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.Refuses(-32602, "no") })},
			{Name: "not at all", Check: check, CaseID: h.name, Dialects: tracetest.Native, Verdict: report.Warn, Message: answered,
				Steps: asks(func(s *tracetest.Story, ask *server.CreateMessageParams) {
					s.Prompts(ask).Answers(tracetest.Saying(mild)).PassesBarrier()
				})},
			{Name: "for want of an answer of ours", Check: check, CaseID: h.name, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved, Message: "the model had no answer for sampling request 1",
				Steps: asks(func(s *tracetest.Story, ask *server.CreateMessageParams) {
					s.Prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 404, Miss: "no rule"}).Refuses(-32603, "no").PassesBarrier()
				})},
			{Name: "where tools are not declared", Check: check, CaseID: h.name, Declares: tracetest.SamplingOnly, Verdict: report.NotApplicable,
				Message: "the client does not declare sampling.tools, so the server must not ask for it",
				Steps:   func(s *tracetest.Story) { s.Marks(trace.MarkWithheld, "sampling.tools") }},

			{Name: "before the model is asked", Check: "balance/no-model-call", CaseID: h.name, Verdict: report.Pass, Message: "no call of the model was completed",
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.Refuses(-32602, "no").PassesBarrier() })},
			{Name: "after the model was asked", Check: "balance/no-model-call", CaseID: h.name, Dialects: tracetest.Native, Verdict: report.Warn,
				Message: "the model was asked, and answered, for a history in which " + h.wrong,
				Steps: asks(func(s *tracetest.Story, ask *server.CreateMessageParams) {
					s.Prompts(ask).Refuses(-32602, "no").PassesBarrier()
				})},
			{Name: "by the provider", Check: "balance/no-model-call", CaseID: h.name, Verdict: report.Pass, Message: "no call of the model was completed",
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) {
					s.Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "unbalanced"}).Refuses(-32603, "no").PassesBarrier()
				})},

			{Name: "and life goes on", Check: "balance/alive", CaseID: h.name, Verdict: report.Pass, Message: "the client went on",
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) { s.Refuses(-32602, "no").PassesBarrier() })},
			{Name: "and life ends", Check: "balance/alive", CaseID: h.name, Verdict: report.Fail,
				Message: "the client did not go on after a history in which " + h.wrong + ": it panicked: nil map",
				Steps: asks(func(s *tracetest.Story, _ *server.CreateMessageParams) {
					s.Refuses(-32602, "no").Ends(trace.Process{Panic: "nil map"})
				})},
		})
	}
}

func TestWhatIsUnderTheWrongRoleIsNotDropped(t *testing.T) {
	for i := range histories {
		h := &histories[i]
		if h.marker == "" {
			continue
		}
		given := func(keep int) func(*tracetest.Story) {
			return func(s *tracetest.Story) {
				ask := sendingOf(h)
				s.Asks(ask).OnPurpose()
				short := *ask
				short.Messages = ask.Messages[:keep]
				s.Prompts(&short).Answers(tracetest.Saying("Mild.")).PassesBarrier()
			}
		}
		check := "balance/not-dropped"
		tracetest.Run(t, catalogue, []tracetest.Test{
			{Name: "but given to the model", Check: check, CaseID: h.name, Dialects: tracetest.Native, Steps: given(len(h.messages) + 1), Verdict: report.Pass, Message: "it reached the model"},
			{Name: "but is", Check: check, CaseID: h.name, Dialects: tracetest.Native, Steps: given(1), Verdict: report.Fail, Message: "the client answered a history in which " + h.wrong + ", and dropped it"},
			{Name: "but refused", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.Pass, Message: `the client refuses it: "no" (code -32603)`,
				Steps: func(s *tracetest.Story) { s.Asks(sendingOf(h)).OnPurpose().Refuses(-32603, "no").PassesBarrier() }},
			{Name: "but left", Check: check, CaseID: h.name, In: tracetest.InB, Verdict: report.Pass, Message: "the client refuses it: it did not fulfil the input request",
				Steps: func(s *tracetest.Story) { s.Asks(sendingOf(h)).OnPurpose().PassesBarrier() }},
			{Name: "but left, which is not settled", Check: check, CaseID: h.name, In: tracetest.InB, Verdict: report.Unsupported,
				Message: "no response came, but one could still have come: the client must call the tools in the order of tools/list and answer the last sampling request: " +
					"no later sampling request was answered, so it could still come",
				Steps: func(s *tracetest.Story) { s.Asks(sendingOf(h)).OnPurpose() }},
			{Name: "but not answered", Check: check, CaseID: h.name, In: tracetest.InA, Verdict: report.NotObserved, Message: "no result for sampling request 1: no response to request 1",
				Steps: func(s *tracetest.Story) { s.Asks(sendingOf(h)).OnPurpose().PassesBarrier() }},
			{Name: "but answered without a model", Check: check, CaseID: h.name, Verdict: report.NotObserved,
				Message: "the model received no request for sampling request 1: none had the mark of the case",
				Steps: func(s *tracetest.Story) {
					s.Asks(sendingOf(h)).OnPurpose().Answers(tracetest.Saying("Mild.")).PassesBarrier()
				}},
		})
	}
}

// A report shows the very part of the history that is wrong.
func TestAForbiddenHistoryIsShownWhereItIsWrong(t *testing.T) {
	shown := map[string]string{
		"balance/one-result-of-two": `[{"type":"tool_result","toolUseId":"call_paris","content":[{"type":"text","text":"eighteen degrees"}]}]`,
		"balance/use-at-the-end":    `[{"type":"tool_use","id":"call_paris","name":"get_weather","input":{"city":"Paris"}}]`,
	}
	for id, part := range shown {
		h := historyOf(id)
		s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, id)
		ask := sendingOf(h)
		got := s.Asks(ask).OnPurpose().Prompts(ask).Answers(tracetest.Saying("Mild.")).PassesBarrier().Result("balance/" + h.check)
		require.Equal(t, part, got.Evidence[0].Text)
		require.Equal(t, "params."+h.at, got.Evidence[0].Path)
		require.Contains(t, got.Evidence[1].Text, "tool use call_paris: get_weather", "and what the model was given")
	}
}

// Each of the histories is wrong in one way: a server that sends it does so on purpose, and once.
func TestEachHistoryHasACheckOfItsOwn(t *testing.T) {
	shown := map[string]int{}
	for _, c := range Scenario.Checks {
		for _, name := range c.Cases {
			shown[name]++
			require.Equal(t, name, historyOf("balance/"+name).name)
		}
	}
	for _, h := range histories {
		want := 1
		if h.marker != "" {
			want = 2 // and that it is not dropped
		}
		require.Equal(t, want, shown[h.name], h.name)
	}
	require.Len(t, Scenario.Cases, len(histories))
	for _, c := range Scenario.Cases {
		require.True(t, c.Barrier, c.ID)
		require.False(t, c.Isolated || c.Hostile, "%s: a session for each would cost more than it shows", c.ID)
	}
}
