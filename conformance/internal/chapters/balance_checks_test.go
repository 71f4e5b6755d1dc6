package chapters_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/balance"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

var balanceCatalogue = check.Catalogue{balance.Scenario}

type balanceRequest = server.CreateMessageParams

// sending is the request with a history, and what follows it.
func sending(h balance.History, then func(*session, *balanceRequest)) func(*session) {
	return func(s *session) {
		if h.Later {
			s.Asks(tracetest.Asking("Are you there?")).Answers(tracetest.Saying("Yes."))
		}
		ask := tracetest.Asking("What is the weather like?", story.GetWeather)
		ask.Messages = append(ask.Messages, h.Messages...)
		then(s.Asks(ask).OnPurpose(), ask)
	}
}

// balanceRefusing are the client's error, which the modern revision does not have, and the barrier.
func balanceRefusing(code int) func(*session, *balanceRequest) {
	return func(s *session, _ *balanceRequest) { s.Refuses(code, "no").PassesBarrier() }
}

// answering is a client that answers as if nothing were wrong.
func answering(s *session, ask *balanceRequest) {
	s.Prompts(ask).Answers(tracetest.Saying("Mild.")).PassesBarrier()
}

// prompting is a model request that ends as given, and the client's error.
func prompting(end trace.ModelEnd) func(*session, *balanceRequest) {
	return func(s *session, ask *balanceRequest) {
		s.Prompt(string(jsonvalue.Marshal(ask)), end).Refuses(-32603, "no").PassesBarrier()
	}
}

func balanceNothing(*session, *balanceRequest)  { /* the client does nothing */ }
func onlyBarrier(s *session, _ *balanceRequest) { s.PassesBarrier() }
func dying(s *session, _ *balanceRequest) {
	s.Refuses(-32602, "no").Ends(trace.Process{Panic: "nil map"})
}
func refusingEverything(s *session, _ *balanceRequest) { s.Refuses(-32602, "no") }

var refusedByModel = trace.ModelEnd{Status: 400, Refused: "unbalanced"}

func TestForbiddenHistoriesAreRefused(t *testing.T) {
	named := []string{"missing-result", "no-result", "late-result", "trailing-use", "mixed-content"}
	for _, kind := range balance.Forbidden {
		require.Equal(t, slices.Contains(named, kind.ID), kind.Statements()[0] == balance.CodeNamed, "%s names its code",
			kind.ID)
		for _, h := range kind.Histories {
			refusesAll, first := sending(h, refusingEverything), `request 1: "no" (code -32602)`
			if h.Later {
				refusesAll = func(s *session) { s.Asks(tracetest.Asking("Are you there?")).Refuses(-32602, "no") }
				first = "did not send sampling request 2: error response to " + first
			}
			balanceJudges(t, kind.ID, h.Name,
				legacy(passes("the right error", sending(h, balanceRefusing(-32602)), h.Wrong+": error code -32602")),
				legacy(warns("another error", sending(h, balanceRefusing(-32603)), "code -32602 for a history in which "+h.Wrong+
					", found -32603")),
				modern(passes("not fulfilled", sending(h, onlyBarrier), h.Wrong)),
				legacy(unobserved("it refuses everything", refusesAll, first)),
				native(warns("a result", sending(h, answering), h.Wrong+", found a result")),
				declares(tracetest.SamplingOnly, inapplicable("tools are not declared",
					func(s *session) { s.Marks(trace.MarkWithheld, "sampling.tools") }, "sampling.tools")),
			)
		}
	}
}

// A client that refuses all images may find the image first, and not the wrong history. It may not ask its model then.
func TestTheErrorCodeMayBeThatForAnImage(t *testing.T) {
	const name = "image-beside-result"
	for _, c := range []struct {
		what       string
		code       int // for an image in a valid request
		asksModel  bool
		otherImage bool // is served
		want       report.Verdict
	}{
		{"the code for images", -32603, false, false, report.Pass},
		{"another code", -32000, false, false, report.Warn},
		{"the provider refuses it", -32603, true, false, report.Warn},
		{"another image is served", -32603, false, true, report.Warn},
	} {
		s := tracetest.Begin(t, balanceCatalogue, server.V20251125, dialect.Native, "balance/"+name)
		sending(historyNamed(name), func(s *session, ask *balanceRequest) {
			if c.asksModel {
				s.Prompt(string(jsonvalue.Marshal(ask)), refusedByModel)
			}
			s.Refuses(-32603, "no")
		})(s)
		continuesIn(s, "balance/text-beside-result")
		s.Asks(tracetest.Asking("Hello?")).Answers(tracetest.Saying("Hello."))
		s.Asks(aboutImage("And here?")).Refuses(c.code, "no images")
		if c.otherImage {
			again := aboutImage("And there?")
			s.Asks(again).Prompts(again).Answers(tracetest.Saying("A map."))
		}
		got := s.PassesBarrier().Ends(trace.Process{}).Result("balance/mixed-content")
		i := slices.IndexFunc(got.Cases, func(r report.CaseResult) bool { return r.Case == "balance/"+name })
		require.Equal(t, c.want, got.Cases[i].Verdict, "%s: %s", c.what, got.Cases[i].Message)
	}
}

func historyNamed(name string) balance.History {
	for _, kind := range balance.Forbidden {
		for _, h := range kind.Histories {
			if h.Name == name {
				return h
			}
		}
	}
	panic("no history is called " + name)
}

func TestAForbiddenHistoryCostsNoModelCallAndNoSession(t *testing.T) {
	h := balance.Forbidden[0].Histories[0]
	balanceJudges(t, "no-model-call", h.Name,
		passes("refused at once", sending(h, balanceRefusing(-32602))),
		native(passes("refused by the provider", sending(h, prompting(refusedByModel)))),
		native(warns("refused after a model call",
			sending(h, func(s *session, ask *balanceRequest) { s.Prompts(ask).Refuses(-32602, "no").PassesBarrier() }),
			h.Wrong)),
	)
	balanceJudges(t, "alive", h.Name,
		passes("it continues", sending(h, balanceRefusing(-32602))),
		fails("it dies", sending(h, dying), h.Wrong+": it panicked: nil map"),
	)
}

func TestABlockOutOfPlaceIsNotDropped(t *testing.T) {
	var marked []string
	for _, kind := range balance.Forbidden {
		for _, h := range kind.Histories {
			if balance.Markers[story.Plain("balance/"+h.Name)] == "" {
				continue
			}
			marked = append(marked, h.Name)
			noAnswer := tracetest.NoAnswer
			if h.Later {
				noAnswer = strings.ReplaceAll(noAnswer, "request 1", "request 2")
			}
			balanceJudges(t, "not-dropped", h.Name,
				native(passes("it reaches the model", sending(h, answering), "reached the model")),
				native(passes("it reaches the model, which refuses it", sending(h, prompting(refusedByModel)))),
				native(fails("it is dropped, and the model refuses the rest", sending(h, func(s *session, ask *balanceRequest) {
					short := *ask
					short.Messages = ask.Messages[:1]
					prompting(refusedByModel)(s, &short)
				}), "which the model refused")),
				native(fails("it is dropped", sending(h, func(s *session, ask *balanceRequest) {
					short := *ask
					short.Messages = ask.Messages[:1]
					answering(s, &short)
				}), h.Wrong)),
				legacy(passes("it is refused", sending(h, balanceRefusing(-32603)), `"no" (code -32603)`)),
				modern(passes("it is not fulfilled", sending(h, onlyBarrier), tracetest.NotFulfilled)),
				modern(unsupported("a response may still come", sending(h, balanceNothing), "one could still have come")),
				legacy(unobserved("no response", sending(h, onlyBarrier), noAnswer)),
				inapplicable("a result without a model request",
					sending(h, func(s *session, _ *balanceRequest) { s.Answers(tracetest.Saying("Mild.")).PassesBarrier() }),
					"answers by itself"),
			)
		}
	}
	require.Equal(t, marked, balance.NotDropped.Cases)
}

func TestAReportShowsTheWrongPartOfAHistory(t *testing.T) {
	for _, c := range []struct{ check, Name, path, part string }{
		{"missing-result", "one-result-of-two", "params.messages[2].content",
			`[{"type":"tool_result","toolUseId":"call_paris","content":[{"type":"text","text":"eighteen degrees"}]}]`},
		{"trailing-use", "use-at-the-end", "params.messages[1].content",
			`[{"type":"tool_use","id":"call_paris","name":"get_weather","input":{"city":"Paris"}}]`},
	} {
		s := tracetest.Begin(t, balanceCatalogue, server.V20251125, dialect.Native, "balance/"+c.Name)
		h := balance.Forbidden[slices.IndexFunc(balance.Forbidden,
			func(k balance.Kind) bool { return k.ID == c.check })].Histories[0]
		sending(h, answering)(s)
		got := s.Result("balance/" + c.check)
		require.Equal(t, c.part, got.Evidence[0].Text)
		require.Equal(t, c.path, got.Evidence[0].Path)
		require.Contains(t, got.Evidence[1].Text, "tool use call_paris: get_weather", "what the model received")
	}
}

func TestEachHistoryBreaksTheRuleOfItsCheck(t *testing.T) {
	for _, kind := range balance.Forbidden {
		require.True(t, requirements.Known(validity.Kind(kind.ID).Statement()), kind.ID)
		for _, h := range kind.Histories {
			ask := tracetest.Asking("What is the weather like?", story.GetWeather)
			ask.Messages = append(ask.Messages, h.Messages...)
			params, err := jsonvalue.ReadObject(jsonvalue.Marshal(ask))
			require.NoError(t, err)
			fault := validity.Check(string(server.V20251125), params)[0]
			require.Equal(t, kind.ID, string(fault.Kind), h.Name)
			require.Contains(t, fault.Path, h.AsCase().Expect.(check.Refusal).Path, h.Name)
		}
	}
}

func TestCasesOfHistoriesShareASession(t *testing.T) {
	for _, c := range balance.Scenario.Cases {
		require.True(t, c.Barrier, c.ID)
		require.False(t, c.Isolated || c.Hostile, "%s: a session for each would cost more than it shows", c.ID)
	}
}
