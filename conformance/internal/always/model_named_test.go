package always_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestResultsNameTheModelThatWasCalled(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict report.Verdict
	}{
		{"gpt-4o", report.Pass}, {"gpt-4o-2024-08-06", report.Pass}, {"openai/gpt-4o", report.Pass}, {"GPT-4o", report.Pass},
		{"GPT 4o (latest)", report.Pass}, {"gpt4o", report.Pass}, {"", report.Warn}, {"-", report.Warn},
		{"my-client", report.Warn}, {"claude-sonnet-4-5", report.Warn}, {"gpt-4ox", report.Warn}, {"pt-4o", report.Warn},
		{"gpt", report.Warn}, {"gpt-4o-mini", report.Warn}, {"gpt-4o-2024", report.Pass},
		{"openai/gpt-4o:free", report.Pass}, {"gpt-4o (OpenAI)", report.Pass}, {"openai:gpt-4o", report.Pass},
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
	judges(t, "model-named", "basic/question", openAI(warns("the model of another request", func(s *session) {
		other := strings.NewReplacer("gpt-4o", "o3")
		s.Asks(asked).Prompts(asked).Answers(tracetest.With(answer, "model", `"gpt-4o"`))
		s.Asks(asked).Prompt(other.Replace(string(story.JSON(tracetest.AsChat(asked)))), trace.ModelEnd{Status: 200})
		s.Answers(tracetest.With(answer, "model", `"gpt-4o"`))
	}, `expected the model "o3"`)))
	judges(t, "model-named", "basic/question", inapplicable("no call", func(s *session) { s.Asks(asked).Answers(answer) }))
}
