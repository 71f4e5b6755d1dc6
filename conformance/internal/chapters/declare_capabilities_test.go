package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

func TestSamplingIsDeclared(t *testing.T) {
	right, undeclared := tracetest.Asked(plain, seine), forced(plain, seine)
	silent := func(s *session) { s.Asks(plain) }
	refuses := func(s *session) { s.Asks(plain).OnPurpose().Refuses(-32601, "no") }
	declareJudges(t, "sampling-declared", "sampling",
		legacy(passes("and supported", right, "declares and supports")),
		modern(passes("in every request", right, "every request")),
		passes("and not supported", silent),
		legacy(declares(`{"sampling":true}`, passes("as true", right))),
		declares(declareNothing, fails("nowhere, but supported", undeclared)),
		declares(`{"sampling":null}`, fails("as null, but supported", undeclared)),
		declares(declareNothing, inapplicable("nowhere, and refused", refuses)),
		modern(fails("not in the retry", func(s *session) {
			s.Asks(plain).Prompts(plain)
			s.Declares = declareNothing
			s.Answers(seine)
		}, "tools/call")),
		modern(declares(declareNothing, warns("not in tools/list", func(s *session) {
			s.Trace.Events = s.Trace.Events[:len(s.Trace.Events)-1] // without the call
			s.Declares, s.Call, s.Seq[s.CaseID] = tracetest.Everything, 0, 0
			s.Calls()
			right(s)
		}, "tools/list"))),
	)
}

func TestToolsAreDeclared(t *testing.T) {
	const samplingOnly = tracetest.SamplingOnly
	declareJudges(t, "tools-declared", "tools",
		passes("and used", tracetest.Asked(withTools, toolUse)),
		declares(samplingOnly, fails("nowhere, but used", forced(withTools, toolUse), "sampling.tools")),
		declares(samplingOnly, inapplicable("nowhere, and dropped", forced(withTools, seine), "tool use")),
		declares(declareNothing, inapplicable("nowhere, nor sampling", forced(withTools, toolUse), "sampling-declared")),
	)
}

func TestWhatIsDeclaredIsSupported(t *testing.T) {
	declareJudges(t, "over-declared", "sampling",
		passes("a result", tracetest.Asked(plain, seine), "supports sampling"),
		fails("silence", func(s *session) { s.Asks(plain) }, "request for sampling, which the client declares"),
	)
	refuses := func(s *session) { s.Asks(withTools).Refuses(-32603, "no tools") }
	declareJudges(t, "over-declared", "tools",
		passes("tool use", tracetest.Asked(withTools, toolUse), "supports sampling.tools"),
		passes("a text", tracetest.Asked(withTools, seine), "supports sampling.tools"),
		legacy(fails("an error", refuses, `"no tools" (code -32603)`)),
		declares(tracetest.SamplingOnly, inapplicable("undeclared", declareIgnored, "sampling.tools")),
	)
}
