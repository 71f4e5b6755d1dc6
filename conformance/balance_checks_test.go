package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sendingOf is the request with a history.
func sendingOf(h *history) *server.CreateMessageParams {
	ask := asking("What is the weather like?", getWeather)
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
		asks := func(then func(s *story, ask *server.CreateMessageParams)) func(*story) {
			return func(s *story) {
				ask := sendingOf(h)
				s.asks(ask).onPurpose()
				then(s, ask)
			}
		}
		hold(t, catalogue, []telling{
			{name: "by an error", check: check, caseID: h.name, in: inA, verdict: report.Pass, message: "the client refused it with the code " + code,
				tell: asks(func(s *story, _ *server.CreateMessageParams) { s.refuses(-32602, "no").passesBarrier() })},
			{name: "by another error", check: check, caseID: h.name, in: inA, verdict: report.Warn, message: wrongCode + "-32603" + due,
				tell: asks(func(s *story, _ *server.CreateMessageParams) { s.refuses(-32603, "no").passesBarrier() })},
			{name: "by the provider", check: check, caseID: h.name, in: inA, verdict: report.Warn, message: wrongCode + "0, when the model had refused it" + due,
				tell: asks(func(s *story, ask *server.CreateMessageParams) {
					s.prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 400, Refused: "unbalanced"}).refuses(0, "HTTP 400").passesBarrier()
				})},
			{name: "by the provider, which is enough where there is no code", check: check, caseID: h.name, in: inB, verdict: report.Pass, message: "the client did not fulfil a request in which " + h.wrong,
				tell: asks(func(s *story, ask *server.CreateMessageParams) {
					s.prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 400, Refused: "unbalanced"}).passesBarrier()
				})},
			{name: "by silence", check: check, caseID: h.name, in: inB, verdict: report.Pass, message: "the client did not fulfil a request in which " + h.wrong,
				tell: asks(func(s *story, _ *server.CreateMessageParams) { s.passesBarrier() })},
			{name: "by silence, where a word is due", check: check, caseID: h.name, in: inA, verdict: report.Warn, message: "the client neither refused nor answered a history in which " + h.wrong + ": an error is due",
				tell: asks(func(s *story, _ *server.CreateMessageParams) { s.passesBarrier() })},
			{name: "by dying", check: check, caseID: h.name, in: inA, verdict: report.Warn,
				message: "the client neither refused nor answered a history in which " + h.wrong + ": an error is due; it panicked: nil map",
				tell:    asks(func(s *story, _ *server.CreateMessageParams) { s.ends(trace.Process{Panic: "nil map"}) })},
			{name: "by silence at the end", check: check, caseID: h.name, in: inB, verdict: report.NotObserved,
				message: "the client was not seen to answer anything, so that it cannot be said that it refuses this history: no answer came for request 1",
				tell:    asks(func(*story, *server.CreateMessageParams) {})},
			{name: "as all else is", check: check, caseID: h.name, in: inA, verdict: report.NotObserved,
				message: `the client was not seen to answer anything, so that it cannot be said that it refuses this history: request 1 was answered by the error "no" (code -32602)`,
				tell:    asks(func(s *story, _ *server.CreateMessageParams) { s.refuses(-32602, "no") })},
			{name: "not at all", check: check, caseID: h.name, dialects: native, verdict: report.Warn, message: answered,
				tell: asks(func(s *story, ask *server.CreateMessageParams) { s.prompts(ask).answers(saying(mild)).passesBarrier() })},
			{name: "for want of an answer of ours", check: check, caseID: h.name, in: inA, dialects: native, verdict: report.NotObserved, message: "the model had no answer for sampling request 1",
				tell: asks(func(s *story, ask *server.CreateMessageParams) {
					s.prompt(string(dialect.Marshal(ask)), trace.ModelEnd{Status: 404, Miss: "no rule"}).refuses(-32603, "no").passesBarrier()
				})},
			{name: "where tools are not declared", check: check, caseID: h.name, declares: samplingOnly, verdict: report.NotApplicable,
				message: "the client does not declare sampling.tools, so the server must not ask for it",
				tell:    func(s *story) { s.marks(trace.MarkWithheld, "sampling.tools") }},

			{name: "before the model is asked", check: "balance/no-model-call", caseID: h.name, verdict: report.Pass, message: "the model was not asked",
				tell: asks(func(s *story, _ *server.CreateMessageParams) { s.refuses(-32602, "no").passesBarrier() })},
			{name: "after the model was asked", check: "balance/no-model-call", caseID: h.name, dialects: native, verdict: report.Warn,
				message: "the model was asked, and answered, for a history in which " + h.wrong,
				tell:    asks(func(s *story, ask *server.CreateMessageParams) { s.prompts(ask).refuses(-32602, "no").passesBarrier() })},
			{name: "by the provider", check: "balance/no-model-call", caseID: h.name, verdict: report.Pass, message: "the model was not asked",
				tell: asks(func(s *story, _ *server.CreateMessageParams) {
					s.prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "unbalanced"}).refuses(-32603, "no").passesBarrier()
				})},

			{name: "and life goes on", check: "balance/alive", caseID: h.name, verdict: report.Pass, message: "the client went on",
				tell: asks(func(s *story, _ *server.CreateMessageParams) { s.refuses(-32602, "no").passesBarrier() })},
			{name: "and life ends", check: "balance/alive", caseID: h.name, verdict: report.Fail,
				message: "the client did not go on after a history in which " + h.wrong + ": it panicked: nil map",
				tell: asks(func(s *story, _ *server.CreateMessageParams) {
					s.refuses(-32602, "no").ends(trace.Process{Panic: "nil map"})
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
		given := func(keep int) func(*story) {
			return func(s *story) {
				ask := sendingOf(h)
				s.asks(ask).onPurpose()
				short := *ask
				short.Messages = ask.Messages[:keep]
				s.prompts(&short).answers(saying("Mild.")).passesBarrier()
			}
		}
		check := "balance/not-dropped"
		hold(t, catalogue, []telling{
			{name: "but given to the model", check: check, caseID: h.name, dialects: native, tell: given(len(h.messages) + 1), verdict: report.Pass, message: "it reached the model"},
			{name: "but is", check: check, caseID: h.name, dialects: native, tell: given(1), verdict: report.Fail, message: "the client answered a history in which " + h.wrong + ", and dropped it"},
			{name: "but refused", check: check, caseID: h.name, in: inA, verdict: report.Pass, message: `the client refuses it: "no" (code -32603)`,
				tell: func(s *story) { s.asks(sendingOf(h)).onPurpose().refuses(-32603, "no").passesBarrier() }},
			{name: "but left", check: check, caseID: h.name, in: inB, verdict: report.Pass, message: "the client refuses it: it did not fulfil the input request",
				tell: func(s *story) { s.asks(sendingOf(h)).onPurpose().passesBarrier() }},
			{name: "but left, which is not settled", check: check, caseID: h.name, in: inB, verdict: report.Unsupported,
				message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: " +
					"no later sample was answered, so that it may only not have come yet",
				tell: func(s *story) { s.asks(sendingOf(h)).onPurpose() }},
			{name: "but not answered", check: check, caseID: h.name, in: inA, verdict: report.NotObserved, message: "sampling request 1 was not answered: no answer came for request 1",
				tell: func(s *story) { s.asks(sendingOf(h)).onPurpose().passesBarrier() }},
			{name: "but answered without a model", check: check, caseID: h.name, verdict: report.NotObserved,
				message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark",
				tell:    func(s *story) { s.asks(sendingOf(h)).onPurpose().answers(saying("Mild.")).passesBarrier() }},
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
		s := begin(t, catalogue, server.V20251125, dialect.Native, id)
		ask := sendingOf(h)
		got := s.asks(ask).onPurpose().prompts(ask).answers(saying("Mild.")).passesBarrier().result("balance/" + h.check)
		require.Equal(t, part, got.Evidence[0].Text)
		require.Equal(t, "params."+h.at, got.Evidence[0].Path)
		require.Contains(t, got.Evidence[1].Text, "tool use call_paris: get_weather", "and what the model was given")
	}
}

// Each of the histories is wrong in one way: a server that sends it does so on purpose, and once.
func TestEachHistoryHasACheckOfItsOwn(t *testing.T) {
	shown := map[string]int{}
	for _, c := range balance.Checks {
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
	require.Len(t, balance.Cases, len(histories))
	for _, c := range balance.Cases {
		require.True(t, c.Barrier, c.ID)
		require.False(t, c.Isolated || c.Hostile, "%s: a session for each would cost more than it shows", c.ID)
	}
}
