package declare

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestSamplingIsDeclared(t *testing.T) {
	right, undeclared := tracetest.Asked(plain, seine), forced(plain, seine)
	silent := func(s *tracetest.Story) { s.Asks(plain) }
	refuses := func(s *tracetest.Story) { s.Asks(plain).OnPurpose().Refuses(-32601, "no") }
	judges(t, "sampling-declared", "sampling",
		legacy(row("and supported", right, report.Pass, "declares and supports")),
		modern(row("in every request", right, report.Pass, "every request")),
		row("and not supported", silent, report.Pass, ""),
		legacy(declares(`{"sampling":true}`, row("as true", right, report.Pass, ""))),
		declares(nothing, row("nowhere, but supported", undeclared, report.Fail, "")),
		declares(`{"sampling":null}`, row("as null, but supported", undeclared, report.Fail, "")),
		declares(nothing, row("nowhere, and refused", refuses, report.NotApplicable, "")),
		modern(row("not in the retry", func(s *tracetest.Story) {
			s.Asks(plain).Prompts(plain)
			s.Declares = nothing
			s.Answers(seine)
		}, report.Fail, "tools/call")),
		modern(declares(nothing, row("not in tools/list", func(s *tracetest.Story) {
			s.Trace.Events = s.Trace.Events[:len(s.Trace.Events)-1] // without the call
			s.Declares, s.Call, s.Seq[s.CaseID] = tracetest.Everything, 0, 0
			s.Calls()
			right(s)
		}, report.Warn, "tools/list"))),
	)
}

func TestToolsAreDeclared(t *testing.T) {
	const samplingOnly = tracetest.SamplingOnly
	judges(t, "tools-declared", "tools",
		row("and used", tracetest.Asked(withTools, toolUse), report.Pass, ""),
		declares(samplingOnly, row("nowhere, but used", forced(withTools, toolUse), report.Fail, "sampling.tools")),
		declares(samplingOnly, row("nowhere, and dropped", forced(withTools, seine), report.NotApplicable, "tool use")),
		declares(nothing, row("nowhere, nor sampling", forced(withTools, toolUse),
			report.NotApplicable, "sampling-declared")),
	)
}

func TestWhatIsDeclaredIsSupported(t *testing.T) {
	judges(t, "over-declared", "sampling",
		row("a result", tracetest.Asked(plain, seine), report.Pass, "supports sampling"),
		row("silence", func(s *tracetest.Story) { s.Asks(plain) },
			report.Fail, "request for sampling, which the client declares"),
	)
	refuses := func(s *tracetest.Story) { s.Asks(withTools).Refuses(-32603, "no tools") }
	judges(t, "over-declared", "tools",
		row("tool use", tracetest.Asked(withTools, toolUse), report.Pass, "supports sampling.tools"),
		row("a text", tracetest.Asked(withTools, seine), report.Pass, "supports sampling.tools"),
		legacy(row("an error", refuses, report.Fail, `"no tools" (code -32603)`)),
		declares(tracetest.SamplingOnly, row("undeclared", ignored, report.NotApplicable, "sampling.tools")),
	)
}
