package balance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

var catalogue = check.Catalogue{Scenario}

type request = server.CreateMessageParams

// sending is the request with a history, and what follows it.
func (h history) sending(then func(*session, *request)) func(*session) {
	return func(s *session) {
		ask := tracetest.Asking("What is the weather like?", story.GetWeather)
		ask.Messages = append(ask.Messages, h.messages...)
		then(s.Asks(ask).OnPurpose(), ask)
	}
}

// refusing are the client's error, which the modern revision does not have, and the barrier.
func refusing(code int) func(*session, *request) {
	return func(s *session, _ *request) { s.Refuses(code, "no").PassesBarrier() }
}

// answering is a client that answers as if nothing were wrong.
func answering(s *session, ask *request) {
	s.Prompts(ask).Answers(tracetest.Saying("Mild.")).PassesBarrier()
}

// prompting is a model request that ends as given, and the client's error.
func prompting(end trace.ModelEnd) func(*session, *request) {
	return func(s *session, ask *request) {
		s.Prompt(string(jsonvalue.Marshal(ask)), end).Refuses(-32603, "no").PassesBarrier()
	}
}

func nothing(*session, *request)         { /* the client does nothing */ }
func onlyBarrier(s *session, _ *request) { s.PassesBarrier() }
func dying(s *session, _ *request) {
	s.Refuses(-32602, "no").Ends(trace.Process{Panic: "nil map"})
}
func refusingEverything(s *session, _ *request) { s.Refuses(-32602, "no") }

var refusedByModel = trace.ModelEnd{Status: 400, Refused: "unbalanced"}

func TestForbiddenHistoriesAreRefused(t *testing.T) {
	named := []string{"missing-result", "no-result", "late-result", "trailing-use", "mixed-content"}
	for _, kind := range forbidden {
		require.Equal(t, slices.Contains(named, kind.id), kind.statements()[0] == codeNamed, "%s names its code", kind.id)
		for _, h := range kind.histories {
			judges(t, kind.id, h.name,
				legacy(passes("the right error", h.sending(refusing(-32602)), h.wrong+": error code -32602")),
				legacy(warns("another error", h.sending(refusing(-32603)), "code -32602 for a history in which "+h.wrong+
					", found -32603")),
				modern(passes("not fulfilled", h.sending(onlyBarrier), h.wrong)),
				legacy(unobserved("it refuses everything", h.sending(refusingEverything), `request 1: "no" (code -32602)`)),
				native(warns("a result", h.sending(answering), h.wrong+", found a result")),
				declares(tracetest.SamplingOnly, inapplicable("tools are not declared",
					func(s *session) { s.Marks(trace.MarkWithheld, "sampling.tools") }, "sampling.tools")),
			)
		}
	}
}

func TestAForbiddenHistoryCostsNoModelCallAndNoSession(t *testing.T) {
	h := forbidden[0].histories[0]
	judges(t, "no-model-call", h.name,
		passes("refused at once", h.sending(refusing(-32602))),
		native(passes("refused by the provider", h.sending(prompting(refusedByModel)))),
		native(warns("refused after a model call",
			h.sending(func(s *session, ask *request) { s.Prompts(ask).Refuses(-32602, "no").PassesBarrier() }),
			h.wrong)),
	)
	judges(t, "alive", h.name,
		passes("it continues", h.sending(refusing(-32602))),
		fails("it dies", h.sending(dying), h.wrong+": it panicked: nil map"),
	)
}

func TestABlockOutOfPlaceIsNotDropped(t *testing.T) {
	var marked []string
	for _, kind := range forbidden {
		for _, h := range kind.histories {
			if markers["balance/"+h.name] == "" {
				continue
			}
			marked = append(marked, h.name)
			judges(t, "not-dropped", h.name,
				native(passes("it reaches the model", h.sending(answering), "reached the model")),
				native(passes("it reaches the model, which refuses it", h.sending(prompting(refusedByModel)))),
				native(fails("it is dropped, and the model refuses the rest", h.sending(func(s *session, ask *request) {
					short := *ask
					short.Messages = ask.Messages[:1]
					prompting(refusedByModel)(s, &short)
				}), "which the model refused")),
				native(fails("it is dropped", h.sending(func(s *session, ask *request) {
					short := *ask
					short.Messages = ask.Messages[:1]
					answering(s, &short)
				}), h.wrong)),
				legacy(passes("it is refused", h.sending(refusing(-32603)), `"no" (code -32603)`)),
				modern(passes("it is not fulfilled", h.sending(onlyBarrier), tracetest.NotFulfilled)),
				modern(unsupported("a response may still come", h.sending(nothing), "one could still have come")),
				legacy(unobserved("no response", h.sending(onlyBarrier), tracetest.NoAnswer)),
				inapplicable("a result without a model request",
					h.sending(func(s *session, _ *request) { s.Answers(tracetest.Saying("Mild.")).PassesBarrier() }),
					"answers by itself"),
			)
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
		h := forbidden[slices.IndexFunc(forbidden, func(k kind) bool { return k.id == c.check })].histories[0]
		h.sending(answering)(s)
		got := s.Result("balance/" + c.check)
		require.Equal(t, c.part, got.Evidence[0].Text)
		require.Equal(t, c.path, got.Evidence[0].Path)
		require.Contains(t, got.Evidence[1].Text, "tool use call_paris: get_weather", "what the model received")
	}
}

func TestEachHistoryBreaksTheRuleOfItsCheck(t *testing.T) {
	for _, kind := range forbidden {
		require.True(t, requirements.Known(validity.Kind(kind.id).Statement()), kind.id)
		for _, h := range kind.histories {
			ask := tracetest.Asking("What is the weather like?", story.GetWeather)
			ask.Messages = append(ask.Messages, h.messages...)
			params, err := jsonvalue.ReadObject(jsonvalue.Marshal(ask))
			require.NoError(t, err)
			fault := validity.Check(string(server.V20251125), params)[0]
			require.Equal(t, kind.id, string(fault.Kind), h.name)
			require.Contains(t, fault.Path, h.asCase().Expect.(check.Refusal).Path, h.name)
		}
	}
}

func TestCasesOfHistoriesShareASession(t *testing.T) {
	for _, c := range Scenario.Cases {
		require.True(t, c.Barrier, c.ID)
		require.False(t, c.Isolated || c.Hostile, "%s: a session for each would cost more than it shows", c.ID)
	}
}
