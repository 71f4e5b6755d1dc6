package chapters_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// refusals are the cases with a forbidden request, with what the client declares.
var refusals = []struct{ caseID, declares, needed string }{
	{"undeclared-sampling", declareNothing, "sampling"},
	{"undeclared-tools", tracetest.SamplingOnly, "sampling.tools"},
	{"undeclared-toolchoice", tracetest.SamplingOnly, "sampling.tools"},
}

func TestWhatIsNotDeclaredIsRefused(t *testing.T) {
	refuses := func(code int) steps {
		return func(s *session) { declareIgnored(s); s.Refuses(code, "no").PassesBarrier() }
	}
	silent := func(s *session) { declareIgnored(s); s.PassesBarrier() }
	dies := func(s *session) { declareIgnored(s); s.Ends(trace.Process{ExitCode: 2}) }
	panics := func(s *session) { declareIgnored(s); s.Refuses(-32601, "no").Ends(trace.Process{Panic: "undeclared"}) }
	unasked := func(s *session) { s.Marks(trace.MarkHandlerEnded, "") }
	calls := func(call func(*session)) steps {
		return func(s *session) { declareIgnored(s); call(s); s.Refuses(-32601, "no").PassesBarrier() }
	}
	for _, r := range refusals {
		run := func(check string, tests ...declareTest) {
			for i := range tests {
				tests[i].Declares = r.declares
			}
			declareJudges(t, check, r.caseID, tests...)
		}
		refused := r.caseID + "-refused"
		run(refused,
			legacy(passes("an error", refuses(-32601), "code -32601")),
			legacy(warns("an error without a code", refuses(0), ", which the client does not declare, found 0")),
			legacy(warns("an error of an SDK", refuses(-31001), "-31001")),
			legacy(passes("the user's refusal", refuses(-1))),
			modern(passes("silence", silent)),
			legacy(fails("silence in place of an error", silent,
				"request for "+r.needed+", which the client does not declare, found no response")),
			fails("a result", forced(withTools, seine),
				"request for "+r.needed+", which the client does not declare, found a result"),
			modern(unsupported("silence at the end", declareIgnored, "no later sampling request was answered")),
			modern(unobserved("death", dies, "it exited with status 2")),
			unobserved("no forbidden request", unasked, "forbidden request"),
		)
		stubborn := unsupported("a client that declares it nevertheless", unasked,
			"asked to declare "+r.declares+", but declares "+r.needed)
		stubborn.HarnessDeclares = r.declares
		fixed := inapplicable("one that always declares the same", func(s *session) {
			s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.FixedCapabilities}})
			unasked(s)
		}, "the client declares "+r.needed+" in every session")
		declareJudges(t, refused, r.caseID, stubborn, fixed)
		run("no-model-call",
			legacy(passes("no call", refuses(-32601))),
			fails("a call", calls(func(s *session) { s.Prompts(withTools) })),
			passes("a call that the provider refuses", calls(func(s *session) {
				s.Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "empty"})
			})),
			unobserved("a call without a mark", calls(func(s *session) {
				s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 1, Dialect: dialect.Native, Method: "POST",
					Path: "/native", Body: trace.Bytes(`{}`)}})
			})),
		)
		run("alive",
			passes("the client continues", silent),
			fails("the client panics", panics, "it panicked: undeclared"),
		)
	}
}

func TestAClientThatDeclaresNoSamplingNeedNotAnswer(t *testing.T) {
	for _, r := range refusals {
		s := tracetest.BeginDeclaring(t, declareCatalogue, server.V20260728, dialect.Native, "declare/"+r.caseID, r.declares)
		s.Trace.Header.Declare = []byte(r.declares)
		want := report.NotApplicable
		if strings.Contains(r.declares, "sampling") {
			want = report.Fail // it had to answer other requests, and answered none
		}
		require.Equal(t, want, s.Asks(withTools).OnPurpose().Result("client/sampled").Verdict, r.caseID)
	}
}
