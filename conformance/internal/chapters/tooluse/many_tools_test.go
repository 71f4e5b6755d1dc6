package tooluse

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestManyToolsReachTheModelOrAreRefused(t *testing.T) {
	asks := func(n int) *server.CreateMessageParams { return tracetest.Asking("Use the last tool.", numbered(n)...) }
	last := func(n int) string { return tracetest.Wanting([3]string{"call_1", fmt.Sprintf("tool_%d", n), "{}"}) }
	offering := func(n, offered int, result string) steps {
		return func(s *tracetest.Story) { s.Asks(asks(n)).Prompts(asks(offered)).Answers(result) }
	}
	refusing := func(n int) steps { // and answering another request
		return func(s *tracetest.Story) {
			s.Asks(asks(n)).Refuses(-32603, "refused").Calls().Asks(asks(1)).Answers(tracetest.Saying("Fine."))
		}
	}
	const beside = `[{"type":"text","text":"So many!"},{"type":"tool_use","id":"a","name":"tool_65","input":{"value":1}}]`
	judges(t, "many-tools", "sixty-four-tools", append(refused(report.Fail, refusing(64)),
		passes("all tools", offering(64, 64, last(64))),
		passes("in reverse order", func(s *tracetest.Story) {
			reversed := asks(64)
			slices.Reverse(reversed.Tools)
			s.Asks(asks(64)).Prompts(reversed).Answers(last(64))
		}),
		unobserved("the client refuses everything",
			func(s *tracetest.Story) { s.Asks(asks(64)).Refuses(-32603, "no") }, noModelRequest),
		fails("40 of 64", offering(64, 40, tracetest.Saying("Which?")), "expected 64 tools in the model request, found 40: tool_41"),
		fails("the tool use is lost", offering(64, 64, tracetest.Saying("Which?")), "tool_64, the last of 64 tools"),
		unobserved("no result", func(s *tracetest.Story) { s.Asks(asks(64)).Prompts(asks(64)) }, tracetest.NoAnswer))...)
	judges(t, "many-tools", "sixty-five-tools", append(refused(report.Pass, refusing(65)),
		passes("all tools", offering(65, 65, last(65))),
		passes("a text beside the use", offering(65, 65, tracetest.With(last(65), "content", beside))),
		fails("64 of 65", offering(65, 64, last(65)), "tool_65 is missing"))...)
}
