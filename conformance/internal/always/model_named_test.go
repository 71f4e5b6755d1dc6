package always_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestResultsNameTheModelThatWasCalled(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict report.Verdict
	}{
		{"gpt-4o", report.Pass}, {"gpt-4o-2024-08-06", report.Pass}, {"openai/gpt-4o", report.Pass}, {"GPT-4o", report.Pass},
		{"GPT 4o (latest)", report.Pass}, {"gpt4o", report.Pass}, {"", report.Warn}, {"-", report.Warn},
		{"my-client", report.Warn}, {"claude-sonnet-4-5", report.Warn}, {"gpt-4ox", report.Warn}, {"pt-4o", report.Warn},
	} {
		message := ""
		if c.verdict == report.Warn {
			message = fmt.Sprintf(`expected the model "gpt-4o" in the result, found %q`, c.name)
		}
		answers := func(s *session) {
			s.Asks(asked).Prompts(asked).Answers(tracetest.With(answer, "model", fmt.Sprintf("%q", c.name)))
		}
		judges(t, "model-named", "basic/question",
			openAI(test{Name: c.name, Verdict: c.verdict, Message: message, Steps: answers}))
	}
	judges(t, "model-named", "basic/question", inapplicable("no call", func(s *session) { s.Asks(asked).Answers(answer) }))
}
