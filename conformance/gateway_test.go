package conformance_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

func TestASuiteWithDirectResultsJudgesAGateway(t *testing.T) {
	has := func(rs *report.Results) bool {
		return slices.ContainsFunc(rs.Results, func(r report.Result) bool { return r.ID() == "gateway/judged" })
	}
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})),
		Only: []string{"basic/question"}}
	direct, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.False(t, has(direct))
	suite.Direct = direct
	suite.Checkpoint = func(rs *report.Results, _ []*trace.Trace) { assert.True(t, has(rs), "so far") }
	through, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.True(t, has(through))
}

// The sessions that are only for gateways are in the saved traces, but no check of a client judges them.
func TestSavedSessionsOfAGatewayAreNotJudged(t *testing.T) {
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})),
		Only: []string{"basic/question"}, Revisions: []server.Revision{server.V20251125}}
	_, traces, err := suite.Run(t.Context())
	require.NoError(t, err)
	want, err := suite.Judge(traces)
	require.NoError(t, err)
	crashed := *traces[0]
	crashed.Header.Cases = []trace.Case{{ID: "gateway/unusual", Tool: "gateway-unusual"}}
	crashed.Events = append(slices.Clone(crashed.Events),
		trace.Event{Process: &trace.Process{State: trace.Ended, ExitCode: 1}})
	got, err := suite.Judge(append(traces, &crashed))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestAGatewayListensWhereItIsTold(t *testing.T) {
	for listened, want := range map[trace.Listening]report.Verdict{
		"": report.NotApplicable, trace.OnLoopback: report.Pass, trace.OnInterfaces: report.Warn,
	} {
		one := sessionThat(`{}`, `{}`)
		one.Events = append(one.Events, trace.Event{Process: &trace.Process{State: trace.Ended, Listened: listened}})
		only := oneResult(report.Pass, report.Must)
		rs := conformance.JudgeGateway(only, only, []*trace.Trace{sessionThat(`{}`, `{}`), one})
		i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "gateway/local" })
		require.Equal(t, want, rs.Results[i].Verdict)
		require.Equal(t, want == report.Warn, rs.Failed(true))
		require.Equal(t, want == report.Warn, rs.Results[i].Fix != "")
	}
}

func oneResult(v report.Verdict, level report.Level) *report.Results {
	return &report.Results{Results: []report.Result{{Scenario: "basic", Check: "answered", Revision: "2025-11-25",
		Level: level, Verdict: v, Message: "why"}}}
}

func TestAGatewayIsJudgedAgainstTheRunWithoutIt(t *testing.T) {
	for _, c := range []struct {
		direct, through report.Verdict
		level           report.Level
		want            report.Verdict
		collected       string // the check that fails; "" for none
	}{
		{report.Pass, report.Pass, report.Must, report.Pass, ""},
		{report.Pass, report.Fail, report.Must, report.Fail, ""},
		{report.Pass, report.Warn, report.Should, report.Fail, ""}, // such as a cancel that is lost
		{report.Pass, report.Warn, report.Must, report.Fail, ""},   // such as a stream that stays open
		{report.Pass, report.Warn, report.Advice, report.Warn, ""},
		{report.Pass, report.NotObserved, report.Must, report.NotApplicable, "gateway/judged"},
		{report.Pass, report.NotApplicable, report.Must, report.NotApplicable, "gateway/applies"},
		{report.Pass, report.Unsupported, report.Should, report.NotApplicable, "gateway/applies"},
		{report.Pass, report.HarnessError, report.Must, report.HarnessError, ""},
		{report.Fail, report.Fail, report.Must, report.NotApplicable, ""},
		{report.Warn, report.NotObserved, report.Must, report.NotApplicable, ""},
		{report.Info, report.Info, report.May, report.Info, ""},
		{report.Info, report.NotObserved, report.May, report.NotApplicable, ""},
		{report.NotApplicable, report.NotObserved, report.Must, report.NotApplicable, ""},
		{report.NotApplicable, report.Unsupported, report.Must, report.NotApplicable, ""},
		{report.Unsupported, report.Unsupported, report.Must, report.NotApplicable, ""},
		{report.NotApplicable, report.Fail, report.Must, report.Fail, ""}, // such as a rule about what only the gateway does
	} {
		rs := conformance.JudgeGateway(oneResult(c.direct, c.level), oneResult(c.through, c.level), nil)
		require.Equal(t, c.want, rs.Results[0].Verdict, "%+v", c)
		require.Equal(t, c.collected != "" || c.want == report.Fail, rs.Failed(false), "%+v", c)
		failed := ""
		for _, r := range rs.Results[1:] {
			if r.Failed(false) {
				failed = r.ID()
				require.Contains(t, r.Message, "1 check,")
				require.Contains(t, r.Message, "why (basic/answered)")
			}
		}
		require.Equal(t, c.collected, failed, "%+v", c)
	}
}

func TestWhatNeedNotApplyThroughAGateway(t *testing.T) {
	for _, check := range []string{"token-unique", "capabilities-constant", "error-shape", "no-internals"} {
		direct, through := oneResult(report.Pass, report.Must), oneResult(report.NotApplicable, report.Must)
		for _, rs := range []*report.Results{direct, through} {
			rs.Results[0].Scenario, rs.Results[0].Check = "always", check
		}
		judged := conformance.JudgeGateway(direct, through, nil)
		require.Equal(t, report.NotApplicable, judged.Results[0].Verdict)
		require.False(t, judged.Failed(true))
	}
}

// A failure of a scenario explains why its other checks no longer apply.
func TestTheConsequencesOfAFailureAreNotCounted(t *testing.T) {
	for _, gone := range []report.Verdict{report.NotApplicable, report.NotObserved} {
		for scenario, failures := range map[string]int{"tasks": 1, "basic": 2} {
			direct, through := oneResult(report.Pass, report.Must), oneResult(gone, report.Must)
			failed := oneResult(report.Fail, report.Must).Results[0]
			failed.Scenario, failed.Check = scenario, "result"
			passed := failed
			passed.Verdict = report.Pass
			for rs, other := range map[*report.Results]report.Result{direct: passed, through: failed} {
				rs.Results[0].Scenario, rs.Results[0].Check = "tasks", "related"
				rs.Results = append(rs.Results, other)
			}
			n, said := 0, ""
			for _, r := range conformance.JudgeGateway(direct, through, nil).Results {
				said += r.Message + "\n"
				if r.Failed(false) {
					n++
				}
			}
			require.Equal(t, failures, n, "%s %s", gone, scenario)
			require.Equal(t, failures == 1, strings.Contains(said, "not judged: 1 check, see tasks/result\n"), said)
		}
	}
}

// sessionThat is a session in which the server sees capabilities.
func sessionThat(declares, seen string) *trace.Trace {
	frame := func(session, raw string) trace.Event {
		return trace.Event{Frame: &trace.Frame{Dir: trace.FromClient, Session: session, Raw: []byte(raw)}}
	}
	return &trace.Trace{Header: trace.Header{Revision: "2025-11-25", Declare: json.RawMessage(declares)}, Whole: true,
		Events: []trace.Event{
			frame("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":`+seen+`}}`),
			frame("", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}`),
		}}
}

func TestTheServerSeesWhatTheClientDeclares(t *testing.T) {
	const sampling = `{"sampling":{"tools":{}}}`
	for _, c := range []struct{ declares, seen, want string }{
		{sampling, sampling, ""},
		{sampling, `{"roots":{},"experimental":{"x":{}},"sampling":{"tools":{}}}`, ""},
		{sampling, `{}`, "sampling is lost on the way up"},
		{sampling, `{"sampling":{}}`, "sampling.tools is lost on the way up"},
		{`{}`, sampling, "sampling is added, although the client cannot do it"},
		{`{"sampling":{}}`, `{"sampling":{"context":{}},"elicitation":{}}`, "elicitation, sampling.context is added"},
	} {
		only := oneResult(report.Pass, report.Must)
		rs := conformance.JudgeGateway(only, only,
			[]*trace.Trace{sessionThat(sampling, sampling), sessionThat(c.declares, c.seen)})
		require.Equal(t, "gateway/capabilities", rs.Results[1].ID())
		if c.want == "" {
			require.Equal(t, report.Pass, rs.Results[1].Verdict, "%+v", c)
			continue
		}
		require.Equal(t, report.Fail, rs.Results[1].Verdict, "%+v", c)
		require.Contains(t, rs.Results[1].Message, c.want)
	}
}
