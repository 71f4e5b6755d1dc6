package declare

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// refusals are the cases with a forbidden request, with what the client declares.
var refusals = []struct{ caseID, declares, needed string }{
	{"undeclared-sampling", nothing, "sampling"},
	{"undeclared-tools", tracetest.SamplingOnly, "sampling.tools"},
	{"undeclared-toolchoice", tracetest.SamplingOnly, "sampling.tools"},
}

func TestWhatIsNotDeclaredIsRefused(t *testing.T) {
	refuses := func(code int) steps {
		return func(s *tracetest.Story) { ignored(s); s.Refuses(code, "no").PassesBarrier() }
	}
	silent := func(s *tracetest.Story) { ignored(s); s.PassesBarrier() }
	dies := func(s *tracetest.Story) { ignored(s); s.Ends(trace.Process{ExitCode: 2}) }
	panics := func(s *tracetest.Story) { ignored(s); s.Refuses(-32601, "no").Ends(trace.Process{Panic: "undeclared"}) }
	unasked := func(s *tracetest.Story) { s.Marks(trace.MarkHandlerEnded, "") }
	calls := func(call func(*tracetest.Story)) steps {
		return func(s *tracetest.Story) { ignored(s); call(s); s.Refuses(-32601, "no").PassesBarrier() }
	}
	for _, r := range refusals {
		run := func(check string, tests ...test) {
			for i := range tests {
				tests[i].Declares = r.declares
			}
			judges(t, check, r.caseID, tests...)
		}
		refused := r.caseID + "-refused"
		run(refused,
			legacy(row("an error", refuses(-32601), report.Pass, "code -32601")),
			legacy(row("an error without a code", refuses(0), report.Pass, "code 0")),
			modern(row("silence", silent, report.Pass, "")),
			legacy(row("silence in place of an error", silent,
				report.Fail, "request for "+r.needed+", which the client does not declare, found no response")),
			row("a result", forced(withTools, seine),
				report.Fail, "request for "+r.needed+", which the client does not declare, found a result"),
			modern(row("silence at the end", ignored, report.Unsupported, "no later sampling request was answered")),
			modern(row("death", dies, report.NotObserved, "it exited with status 2")),
			row("no forbidden request", unasked, report.NotObserved, "forbidden request"),
		)
		stubborn := row("a client that declares it nevertheless", unasked, report.Unsupported,
			"asked to declare "+r.declares+", but declares "+r.needed)
		stubborn.HarnessDeclares = r.declares
		judges(t, refused, r.caseID, stubborn)
		run("no-model-call",
			legacy(row("no call", refuses(-32601), report.Pass, "")),
			row("a call", calls(func(s *tracetest.Story) { s.Prompts(withTools) }), report.Fail, ""),
			row("a call that the provider refuses", calls(func(s *tracetest.Story) {
				s.Prompt(`{}`, trace.ModelEnd{Status: 400, Refused: "empty"})
			}), report.Pass, ""),
			row("a call without a mark", calls(func(s *tracetest.Story) {
				s.Add("", trace.Event{Request: &trace.ModelRequest{Exchange: 1, Dialect: dialect.Native, Method: "POST",
					Path: "/native", Body: trace.Bytes(`{}`)}})
			}), report.NotObserved, ""),
		)
		run("alive",
			row("the client continues", silent, report.Pass, ""),
			row("the client panics", panics, report.Fail, "it panicked: undeclared"),
		)
	}
}

func TestAClientThatDeclaresNoSamplingNeedNotAnswer(t *testing.T) {
	for _, r := range refusals {
		s := tracetest.BeginDeclaring(t, catalogue, server.V20260728, dialect.Native, "declare/"+r.caseID, r.declares)
		s.Trace.Header.Declare = []byte(r.declares)
		want := report.NotApplicable
		if strings.Contains(r.declares, "sampling") {
			want = report.Fail // it had to answer other requests, and answered none
		}
		require.Equal(t, want, s.Asks(withTools).OnPurpose().Result("client/sampled").Verdict, r.caseID)
	}
}
