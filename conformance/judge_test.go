package conformance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Each precondition of a check has its verdict and says why the case is not judged.
func TestPreconditionsDecideWhetherACaseIsJudged(t *testing.T) {
	began := func(then func(*tracetest.Story)) func(server.Revision) *tracetest.Story {
		return func(r server.Revision) *tracetest.Story {
			s := tracetest.Begin(t, catalogue(), r, dialect.Native, "tool-use/one-tool")
			then(s)
			return s
		}
	}
	idle := func(then func(*tracetest.Story)) func(server.Revision) *tracetest.Story {
		return func(r server.Revision) *tracetest.Story {
			s := tracetest.Unconnected(t, catalogue(), r, dialect.Native, "tool-use/one-tool")
			then(s)
			return s
		}
	}
	for _, c := range []struct {
		name, check string
		tell        func(server.Revision) *tracetest.Story
		verdict     report.Verdict
		message     string
		in          []server.Revision
	}{
		{"never connected", "tool-use/stop-reason-tooluse", idle(func(*tracetest.Story) {}),
			report.NotObserved, "the client never used the server (see client/connects)", nil},
		{"never called", "tool-use/stop-reason-tooluse", idle(func(s *tracetest.Story) { s.Connects() }),
			report.NotObserved, "the client never called the tool tool-use-one-tool", nil},
		{"speaks another revision", "tool-use/stop-reason-tooluse", idle(func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0,
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`)
		}), report.NotApplicable, "the client does not speak %s: it tried 2024-11-05", nil},
		{"speaks the other era", "tool-use/stop-reason-tooluse", idle(func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0,
				`{"jsonrpc":"2.0","id":1,"method":"server/discover",`+
					`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		}), report.NotApplicable, "the client does not speak 2025-11-25: it tried 2026-07-28", tracetest.InA},
		{"withheld", "tool-use/stop-reason-tooluse",
			began(func(s *tracetest.Story) { s.Marks(trace.MarkWithheld, "sampling.tools") }),
			report.NotObserved, "the client does not declare sampling.tools here, but declares it elsewhere", nil},
		{"incomplete trace", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			tracetest.Uses(tracetest.Booked())(s)
			s.Trace.Whole, s.Trace.Dropped = false, 3
		}), report.NotObserved, "the trace is incomplete: 3 events were over the recorder's limit", nil},
		{"a harness error", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			s.Marks(trace.MarkHarnessError, "a frame was wrong").Marks(trace.MarkHarnessError, "and another")
		}), report.HarnessError, "the harness broke the protocol: a frame was wrong; and another", nil},
		{"a harness error in an incomplete trace", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			s.Marks(trace.MarkHarnessError, "a frame was wrong")
			s.Trace.Whole = false
		}), report.HarnessError, "the harness broke the protocol: a frame was wrong", nil},
		{"refused by the server", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			s.Frame(s.CaseID, trace.ToClient, 400,
				`{"jsonrpc":"2.0","error":{"code":-32020,"message":"header Mcp-Name is missing"}}`)
		}), report.NotObserved, "the server refused the call with HTTP 400", nil},
		{"no sampling request", "tool-use/stop-reason-tooluse", began(func(*tracetest.Story) {}),
			report.NotObserved, "the server did not send sampling request 1", nil},
		{"no response", "tool-use/stop-reason-tooluse",
			began(func(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()) }),
			report.NotObserved, "no result for sampling request 1: no response to request 1", nil},
		{"an error response", "tool-use/stop-reason-tooluse",
			began(func(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()).Refuses(-1, "no") }),
			report.NotObserved, `no result for sampling request 1: error response to request 1: "no" (code -1)`, tracetest.InA},
		{"interrupted", "tool-use/stop-reason-tooluse",
			began(func(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()).Ends(trace.Process{Interrupted: true}) }),
			report.NotObserved, "the run was interrupted before the case was over", nil},
		{"interrupted after its end", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			tracetest.Uses(tracetest.Booked())(s)
			s.Marks(trace.MarkHandlerEnded, "").Ends(trace.Process{Interrupted: true})
		}), report.Pass, "the stop reason is a standard one", nil},
		{"its handler ended by the interrupt", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			s.Asks(tracetest.AskingForFlight()).Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkEnding}})
			s.Marks(trace.MarkHandlerEnded, "context canceled").Ends(trace.Process{Interrupted: true})
		}), report.NotObserved, "the run was interrupted before the case was over", nil},
		{"ended by the interrupt", "tool-use/stop-reason-tooluse", began(func(s *tracetest.Story) {
			s.Asks(tracetest.AskingForFlight()).Ends(trace.Process{Interrupted: true}).Marks(trace.MarkHandlerEnded,
				"context canceled")
		}), report.NotObserved, "the run was interrupted before the case was over", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			revisions := c.in
			if revisions == nil {
				revisions = tracetest.BothEras
			}
			for _, revision := range revisions {
				got := c.tell(revision).Result(c.check)
				require.Contains(t, got.Message, strings.ReplaceAll(c.message, "%s", string(revision)))
				require.Equal(t, c.verdict, got.Verdict)
			}
		})
	}
}

func TestTheMessageSaysWhyARoundIsMissing(t *testing.T) {
	const check = "parallel/results-reach-model"
	tracetest.Run(t, catalogue(), []tracetest.Test{
		{Name: "no sampling request", Check: check, CaseID: "two-cities", Steps: func(*tracetest.Story) {},
			Verdict: report.NotObserved,
			Message: "the server did not send sampling request 1"},
		{Name: "no response to the first", Check: check, CaseID: "two-cities",
			Steps: func(s *tracetest.Story) { s.Asks(tracetest.AskingForWeather()) }, Verdict: report.NotObserved,
			Message: "the server did not send sampling request 2: no response to request 1"},
		{Name: "the first was refused", Check: check, CaseID: "two-cities", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.AskingForWeather()).Refuses(-1, "no") },
			Verdict: report.NotObserved, Message: `the server did not send sampling request 2: error response to request 1: ` +
				`"no" (code -1)`},
		{Name: "the handler could not continue", Check: check, CaseID: "two-cities",
			Steps: tracetest.Wants(tracetest.Saying("Sunny.")), Verdict: report.NotObserved,
			Message: "the server did not send sampling request 2: the handler could not continue from the response to " +
				"request 1"},
	})
}

// A request that no recording matches is a limit of the harness. One that no script matches is the client's doing.
func TestAMissOfTheRecordingsIsNotAFailure(t *testing.T) {
	missed := func(replayed bool, revision server.Revision) *tracetest.Story {
		s := tracetest.Begin(t, catalogue(), revision, dialect.Native, "parallel/two-cities")
		s.Trace.Header.Replayed = replayed
		tracetest.Wants(tracetest.TwoUses())(s)
		next := tracetest.AskingForWeather().After(json.RawMessage(tracetest.TwoUses()), story.Texts("mild"))
		return s.Asks(next).Prompt(`{"maxTokens":5,"messages":[]}`,
			trace.ModelEnd{Status: 404, Unmatched: "nothing like it"}).Refuses(-32603, "the model failed")
	}
	for _, revision := range tracetest.BothEras {
		got := missed(true, revision).Result("parallel/results-reach-model")
		require.Equal(t, report.Fail, got.Verdict, "the model request is evidence all the same")
		require.Contains(t, got.Message, "found 0")

		first := tracetest.Begin(t, catalogue(), revision, dialect.Native, "parallel/two-cities")
		first.Trace.Header.Replayed = true
		first.Asks(tracetest.AskingForWeather()).Prompt(`{"maxTokens":5,"messages":[]}`,
			trace.ModelEnd{Status: 404, Unmatched: "nothing like it"})
		rs := first.Judged()
		for _, r := range rs.Results {
			switch r.ID() {
			case "client/sampled":
				require.Equal(t, report.NotObserved, r.Verdict, "a run that judged nothing does not pass")
				require.Contains(t, r.Message, "--llm script")
				require.Contains(t, r.Message, "nothing like it")
			case "parallel/results-reach-model":
				require.Equal(t, report.Unsupported, r.Verdict)
				require.Contains(t, r.Message, "--llm script")
				require.Contains(t, r.Message, "nothing like it")
			}
		}
		require.True(t, rs.Failed(false))

		scripted := tracetest.Begin(t, catalogue(), revision, dialect.Native, "parallel/two-cities")
		scripted.Asks(tracetest.AskingForWeather()).Prompt(`{"maxTokens":5,"messages":[]}`,
			trace.ModelEnd{Status: 404, Unmatched: "no rule"})
		require.Equal(t, report.NotObserved, scripted.Result("parallel/results-reach-model").Verdict)
		require.Equal(t, report.Fail, scripted.Result("client/sampled").Verdict)
	}
}

func TestNothingToJudgeIsAnError(t *testing.T) {
	_, err := Judge()
	require.EqualError(t, err, "nothing to judge: the traces have no session")
}

func TestAnEmptyTraceDoesNotPass(t *testing.T) {
	rs, err := Judge(&trace.Trace{Whole: true, Header: trace.Header{Revision: "2025-11-25"}})
	require.NoError(t, err)
	require.True(t, rs.Failed(false))
	require.Zero(t, rs.Summary[report.Pass])
}

func TestOnlyCasesOfTheTracesAreJudged(t *testing.T) {
	rs := tracetest.Begin(t, catalogue(), server.V20250618, dialect.Native, "basic/question").Judged()
	for _, r := range rs.Results {
		require.Equal(t, "2025-06-18", r.Revision)
		require.Contains(t, []string{"client", "always", "basic"}, r.Scenario)
	}
}

func TestResultsDoNotDependOnTheOrderOfTraces(t *testing.T) {
	modern, legacy := tracetest.Begin(t, catalogue(), server.V20260728, dialect.Native,
		"basic/question"), tracetest.Begin(t, catalogue(), server.V20251125, dialect.Native, "basic/question")
	tracetest.Right(modern)
	tracetest.Right(legacy)
	modern.Ends(trace.Process{})
	legacy.Ends(trace.Process{})
	one, err := Judge(modern.Trace, legacy.Trace)
	require.NoError(t, err)
	other, err := Judge(legacy.Trace, modern.Trace)
	require.NoError(t, err)
	require.Equal(t, string(report.JSON(one)), string(report.JSON(other)))
	require.Equal(t, "2025-11-25", one.Results[0].Revision)
}

func TestTheWorstCaseDecidesACheck(t *testing.T) {
	good, bad := tracetest.Begin(t, catalogue(), server.V20251125, dialect.Native, "basic/question"), tracetest.Begin(t,
		catalogue(), server.V20251125, dialect.OpenAIChat, "basic/truncated")
	tracetest.Right(good)
	bad.Asks(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question)).Refuses(-32603, "no")
	for _, s := range []*tracetest.Story{good, bad} {
		s.Ends(trace.Process{})
	}
	rs, err := Judge(good.Trace, bad.Trace)
	require.NoError(t, err)
	for _, r := range rs.Results {
		if r.ID() != "basic/answered" {
			continue
		}
		require.Equal(t, report.Fail, r.Verdict)
		require.Contains(t, r.Message, `"no" (code -32603)`)
		require.Len(t, r.Cases, 2)
		require.Equal(t, report.CaseResult{Case: "basic/truncated", Verdict: report.Fail, Message: r.Message}, r.Cases[1])
		require.Equal(t, report.Pass, r.Cases[0].Verdict)
		require.Equal(t, []string{dialect.Native, dialect.OpenAIChat}, r.Dialects)
		require.Equal(t, "basic/truncated", r.Evidence[0].Case)
		require.Equal(t, "params", r.Evidence[0].Path)
		return
	}
	require.Fail(t, "the check was not judged")
}

func TestAResultListsTheCasesWithItsVerdict(t *testing.T) {
	both := []*tracetest.Story{tracetest.Begin(t, catalogue(), server.V20251125, dialect.Native, "basic/question"),
		tracetest.Begin(t, catalogue(), server.V20251125, dialect.Native, "basic/truncated")}
	var traces []*trace.Trace
	for _, s := range both {
		tracetest.AnswersWith(tracetest.Without(tracetest.Saying(story.Answer), "role"))(s)
		traces = append(traces, s.Ends(trace.Process{}).Trace)
	}
	rs, err := Judge(traces...)
	require.NoError(t, err)
	for _, r := range rs.Results {
		if r.Check == "role-assistant" {
			require.Equal(t, "basic/question", r.Case)
			require.Len(t, r.Cases, 2)
		}
	}
}

func TestTheLevelDecidesTheVerdictOfAFailure(t *testing.T) {
	for level, want := range map[report.Level]report.Verdict{report.Must: report.Fail, report.Robust: report.Fail,
		report.Should: report.Warn, report.Advice: report.Warn, report.May: report.Info} {
		require.Equal(t, want, check.Settle(check.Failed, level), level)
		require.Equal(t, report.Pass, check.Settle(report.Pass, level), level)
		require.Equal(t, report.NotObserved, check.Settle(report.NotObserved, level), level)
	}
}

func TestTheDurationOfAResultIsThatOfItsCases(t *testing.T) {
	s := tracetest.Begin(t, catalogue(), server.V20251125, dialect.Native, "basic/question")
	tracetest.Right(s)
	for i := range s.Trace.Events {
		s.Trace.Events[i].At = time.Duration(i) * time.Second
	}
	require.Equal(t, int64(4000), s.Result("basic/answered").DurationMS)
}
