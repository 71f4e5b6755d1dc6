package conformance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// TestWhatKeepsACaseFromBeingJudged goes through the gates before a check: which each says why, and that it is not the client's fault where
// it is not.
func TestWhatKeepsACaseFromBeingJudged(t *testing.T) {
	began := func(then func(*story)) func(server.Revision) *story {
		return func(r server.Revision) *story {
			s := begin(t, catalogue, r, dialect.Native, "tool-use/one-tool")
			then(s)
			return s
		}
	}
	idle := func(then func(*story)) func(server.Revision) *story {
		return func(r server.Revision) *story {
			s := unconnected(t, catalogue, r, dialect.Native, "tool-use/one-tool")
			then(s)
			return s
		}
	}
	for _, c := range []struct {
		name, check string
		tell        func(server.Revision) *story
		verdict     report.Verdict
		message     string
		in          []server.Revision
	}{
		{"never connected", "tool-use/tool-use-block", idle(func(*story) {}),
			report.NotObserved, "the client never got as far as using the server (see client/connects)", nil},
		{"never called", "tool-use/tool-use-block", idle(func(s *story) { s.connects() }),
			report.NotObserved, "the client never called the tool tool-use-one-tool", nil},
		{"speaks another revision", "tool-use/tool-use-block", idle(func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`)
		}), report.NotApplicable, "the client does not speak %s: it tried 2024-11-05", nil},
		{"speaks the other era", "tool-use/tool-use-block", idle(func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		}), report.NotApplicable, "the client does not speak 2025-11-25: it tried 2026-07-28", inA},
		{"withheld", "tool-use/tool-use-block", began(func(s *story) { s.marks(trace.MarkWithheld, "sampling.tools") }),
			report.NotApplicable, "the client does not declare sampling.tools, so the server must not ask for it", nil},
		{"cut by the recorder", "tool-use/tool-use-block", began(func(s *story) {
			uses(booked())(s)
			s.trace.Whole, s.trace.Dropped = false, 3
		}), report.NotObserved, "the trace is not whole: 3 events were over the recorder's limit, so nothing is said of this", nil},
		{"a fault of ours", "tool-use/tool-use-block", began(func(s *story) {
			s.marks(trace.MarkHarnessError, "a frame was wrong").marks(trace.MarkHarnessError, "and another")
		}), report.HarnessError, "the harness broke the protocol itself: a frame was wrong; and another", nil},
		{"a fault of ours in a run that was cut, too", "tool-use/tool-use-block", began(func(s *story) {
			s.marks(trace.MarkHarnessError, "a frame was wrong")
			s.trace.Whole = false
		}), report.HarnessError, "the harness broke the protocol itself: a frame was wrong", nil},
		{"turned down by the server", "tool-use/tool-use-block", began(func(s *story) {
			s.frame(s.caseID, trace.ToClient, 400, `{"jsonrpc":"2.0","error":{"code":-32020,"message":"header Mcp-Name is missing"}}`)
		}), report.NotObserved, "the server turned the call down with HTTP 400", nil},
		{"nothing was asked", "tool-use/tool-use-block", began(func(*story) {}),
			report.NotObserved, "the play did not get as far as sampling request 1", nil},
		{"not answered", "tool-use/tool-use-block", began(func(s *story) { s.asks(askingForFlight()) }),
			report.NotObserved, "sampling request 1 was not answered with a result: no answer came for request 1", nil},
		{"answered by an error", "tool-use/tool-use-block", began(func(s *story) { s.asks(askingForFlight()).refuses(-1, "no") }),
			report.NotObserved, `sampling request 1 was not answered with a result: request 1 was answered by the error "no" (code -1)`, inA},
		{"the second not answered", "tool-use/not-executed", began(func(s *story) {
			uses(booked())(s)
			s.asks(askingForFlight())
		}), report.NotObserved, "sampling request 2 was not answered with a result: no answer came for request 2", nil},
		{"interrupted", "tool-use/tool-use-block", began(func(s *story) { s.asks(askingForFlight()).ends(trace.Process{Interrupted: true}) }),
			report.NotObserved, "the run was interrupted before this was over", nil},
		{"interrupted after it was over", "tool-use/tool-use-block", began(func(s *story) {
			uses(booked())(s)
			s.marks(trace.MarkHandlerEnded, "").ends(trace.Process{Interrupted: true})
		}), report.Pass, "the tool use is well-formed", nil},
		{"freed by the end of an interrupted run", "tool-use/tool-use-block", began(func(s *story) {
			s.asks(askingForFlight()).ends(trace.Process{Interrupted: true}).marks(trace.MarkHandlerEnded, "context canceled")
		}), report.NotObserved, "the run was interrupted before this was over", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			revisions := c.in
			if revisions == nil {
				revisions = bothEras
			}
			for _, revision := range revisions {
				got := c.tell(revision).result(c.check)
				require.Equal(t, strings.ReplaceAll(c.message, "%s", string(revision)), got.Message)
				require.Equal(t, c.verdict, got.Verdict)
			}
		})
	}
}

func TestARoundThatWasNotReachedSaysWhy(t *testing.T) {
	const check = "parallel/results-reach-model"
	hold(t, catalogue, []telling{
		{name: "nothing was asked", check: check, caseID: "two-cities", tell: func(*story) {}, verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 1"},
		{name: "the first was not answered", check: check, caseID: "two-cities", tell: func(s *story) { s.asks(askingForWeather()) }, verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 2: no answer came for request 1"},
		{name: "the first was refused", check: check, caseID: "two-cities", in: inA, tell: func(s *story) { s.asks(askingForWeather()).refuses(-1, "no") },
			verdict: report.NotObserved, message: `the play did not get as far as sampling request 2: request 1 was answered by the error "no" (code -1)`},
		{name: "there was nothing to go on from", check: check, caseID: "two-cities", tell: wants(saying("Sunny.")), verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 2: the answer to request 1 could not be gone on from"},
	})
}

// A miss of the recordings is our own limit: it is neither a refusal of the client's nor a fault. A miss of the scripts is what the
// client asked for.
func TestAMissOfTheRecordingsConvictsNobody(t *testing.T) {
	missed := func(replayed bool, revision server.Revision) *story {
		s := begin(t, catalogue, revision, dialect.Native, "parallel/result-image")
		s.trace.Header.Replayed = replayed
		wants(twoUses())(s)
		next := askingForWeather().After(json.RawMessage(twoUses()), texts("mild"))
		return s.asks(next).prompt(`{"maxTokens":5,"messages":[]}`, trace.ModelEnd{Status: 404, Miss: "nothing like it"}).refuses(-32603, "the model failed")
	}
	for _, revision := range bothEras {
		got := missed(true, revision).result("parallel/result-content")
		require.Equal(t, report.Fail, got.Verdict, "what the model was asked is evidence all the same")
		require.Equal(t, "a tool result's content never reached the model (image)", got.Message)

		first := begin(t, catalogue, revision, dialect.Native, "parallel/two-cities")
		first.trace.Header.Replayed = true
		first.asks(askingForWeather()).prompt(`{"maxTokens":5,"messages":[]}`, trace.ModelEnd{Status: 404, Miss: "nothing like it"})
		rs := first.judged()
		for _, r := range rs.Results {
			switch r.ID() {
			case "client/sampled":
				require.Equal(t, report.NotObserved, r.Verdict, "a run that judged nothing is no success")
				require.Equal(t, "no recording answers what this client asks of the model, so judge it by the scripts: nothing like it", r.Message)
			case "parallel/results-reach-model":
				require.Equal(t, report.Unsupported, r.Verdict)
				require.Equal(t, "no recording answers what this client asks of the model, so judge it by the scripts: nothing like it", r.Message)
			}
		}
		require.True(t, rs.Failed(false))

		scripted := begin(t, catalogue, revision, dialect.Native, "parallel/two-cities")
		scripted.asks(askingForWeather()).prompt(`{"maxTokens":5,"messages":[]}`, trace.ModelEnd{Status: 404, Miss: "no rule"})
		require.Equal(t, report.NotObserved, scripted.result("parallel/results-reach-model").Verdict)
		require.Equal(t, report.Fail, scripted.result("client/sampled").Verdict)
	}
}

func TestNothingToJudgeIsAnError(t *testing.T) {
	_, err := Judge()
	require.EqualError(t, err, "there is nothing to judge: no trace holds a session")
}

func TestATraceOfNothingIsNoSuccess(t *testing.T) {
	rs, err := Judge(&trace.Trace{Whole: true, Header: trace.Header{Revision: "2025-11-25"}})
	require.NoError(t, err)
	require.True(t, rs.Failed(false))
	require.Zero(t, rs.Summary[report.Pass])
}

func TestWhatNoTraceHasIsNotJudged(t *testing.T) {
	rs := begin(t, catalogue, server.V20250618, dialect.Native, "basic/question").judged()
	for _, r := range rs.Results {
		require.Equal(t, "2025-06-18", r.Revision)
		require.Contains(t, []string{"client", "basic"}, r.Scenario)
	}
}

func TestResultsFollowTheCatalogueWhateverTheOrderOfTraces(t *testing.T) {
	modern, legacy := begin(t, catalogue, server.V20260728, dialect.Native, "basic/question"), begin(t, catalogue, server.V20251125, dialect.Native, "basic/question")
	right(modern)
	right(legacy)
	modern.ends(trace.Process{})
	legacy.ends(trace.Process{})
	one, err := Judge(modern.trace, legacy.trace)
	require.NoError(t, err)
	other, err := Judge(legacy.trace, modern.trace)
	require.NoError(t, err)
	require.Equal(t, string(report.JSON(one)), string(report.JSON(other)))
	require.Equal(t, "2025-11-25", one.Results[0].Revision)
}

func TestTheWorstCaseSpeaksForACheck(t *testing.T) {
	good, bad := begin(t, catalogue, server.V20251125, dialect.Native, "basic/question"), begin(t, catalogue, server.V20251125, dialect.OpenAIChat, "basic/truncated")
	right(good)
	truncatedWith(with(saying(answer), "role", `"user"`))(bad)
	for _, s := range []*story{good, bad} {
		s.ends(trace.Process{})
	}
	rs, err := Judge(good.trace, bad.trace)
	require.NoError(t, err)
	for _, r := range rs.Results {
		if r.Check != "role-assistant" {
			continue
		}
		require.Equal(t, report.Fail, r.Verdict)
		require.Equal(t, "the result's role is not assistant", r.Message)
		require.Equal(t, []report.CaseResult{
			{Case: "basic/question", Verdict: report.Pass, Message: "every result has the role assistant"},
			{Case: "basic/truncated", Verdict: report.Fail, Message: "the result's role is not assistant"}}, r.Cases)
		require.Equal(t, []string{dialect.Native, dialect.OpenAIChat}, r.Dialects)
		require.Equal(t, "basic/truncated", r.Evidence[0].Case)
		require.Equal(t, "result.role", r.Evidence[0].Path)
		return
	}
	require.Fail(t, "the check was not judged")
}

func TestAVerdictInSeveralCasesCountsThem(t *testing.T) {
	both := []*story{begin(t, catalogue, server.V20251125, dialect.Native, "basic/question"), begin(t, catalogue, server.V20251125, dialect.Native, "basic/truncated")}
	var traces []*trace.Trace
	for _, s := range both {
		answersWith(without(saying(answer), "role"))(s)
		traces = append(traces, s.ends(trace.Process{}).trace)
	}
	rs, err := Judge(traces...)
	require.NoError(t, err)
	for _, r := range rs.Results {
		if r.Check == "role-assistant" {
			require.Equal(t, "the result's role is not assistant (the same verdict in 1 more of its 2 cases)", r.Message)
		}
	}
}

func TestALevelDecidesWhatABrokenRuleIs(t *testing.T) {
	for level, want := range map[report.Level]report.Verdict{report.Must: report.Fail, report.Robust: report.Fail,
		report.Should: report.Warn, report.Advice: report.Warn, report.May: report.Info} {
		require.Equal(t, want, settle(broken, level), level)
		require.Equal(t, report.Pass, settle(report.Pass, level), level)
		require.Equal(t, report.NotObserved, settle(report.NotObserved, level), level)
	}
}

func TestTheTimeOfAResultIsThatOfItsPlays(t *testing.T) {
	s := begin(t, catalogue, server.V20251125, dialect.Native, "basic/question")
	right(s)
	for i := range s.trace.Events {
		s.trace.Events[i].At = time.Duration(i) * time.Second
	}
	require.Equal(t, int64(4000), s.result("basic/answered").DurationMS)
}
