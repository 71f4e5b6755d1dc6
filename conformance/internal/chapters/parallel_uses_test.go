package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestStreamedToolUsesAreAccepted(t *testing.T) {
	parallelJudges(t, "streamed-uses", "two-cities",
		openAI(passes("a result", streaming(two))),
		openAI(passes("fewer tool uses, which another rule judges", streaming(tracetest.Saying("Let me see.")))),
		legacy(openAI(fails("a refusal", func(s *session) {
			streaming("")(s)
			s.Refuses(-32603, "invalid arguments").Calls().Asks(parallelAsked).Answers(two)
		}, "invalid arguments"))),
		openAI(unobserved("no content", streaming(tracetest.Without(two, "content")), tracetest.NoContent)),
		inapplicable("the client asks for no stream", tracetest.Wants(two)))
}

func TestALateFragmentReachesTheServer(t *testing.T) {
	parallelJudges(t, "late-delta", "late-fragment",
		openAI(passes("all arguments", streaming(two))),
		openAI(fails("the late arguments are lost",
			streaming(tracetest.Wanting(paris, [3]string{"call_b", "get_weather", "{}"})), "late arguments")),
		openAI(fails("no result", streaming(""), "no response to request 1")),
		openAI(unobserved("the model had no stream",
			streams("", trace.ModelEnd{Status: 404, Unmatched: "no rule matches"}), "no rule matches")),
		parallelTest{Name: "no model request", Verdict: report.Unsupported,
			Steps: func(s *session) { s.Asks(parallelAsked).Answers(two) }},
		inapplicable("the client asks for no stream", tracetest.Wants(two)),
		parallelTest{Name: "the dialect allows no late fragment", Dialects: []string{dialect.Anthropic},
			Verdict: report.NotApplicable, Message: "anthropic", Steps: func(s *session) {
				const body = `{"stream":true,"messages":[{"role":"user","content":"What is the weather like there?"}]}`
				s.Asks(parallelAsked).Prompt(body, trace.ModelEnd{Status: 200}).Answers(two)
			}},
		openAI(unobserved("no content", streaming(tracetest.Without(two, "content")), tracetest.NoContent)))
}
