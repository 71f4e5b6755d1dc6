package always_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func TestEveryModelRequestAllowsAtMostMaxTokens(t *testing.T) {
	tokens := func(rounds ...int) steps {
		return func(s *session) {
			for _, n := range rounds {
				changed := *asked
				changed.MaxTokens = n
				s.Asks(asked).Prompts(&changed).Answers(answer)
			}
		}
	}
	calls := func(body string) steps {
		return func(s *session) { s.Asks(asked).Prompt(body, trace.ModelEnd{Status: 200}).Answers(answer) }
	}
	asks := func(n int) steps {
		return func(s *session) {
			changed := *asked
			changed.MaxTokens = n
			s.Asks(&changed).Prompts(asked).Answers(answer)
		}
	}
	unlimited := tracetest.Without(string(jsonvalue.Marshal(tracetest.AsChat(asked))), "max_tokens")
	judges(t, "max-tokens", "basic/question",
		passes("as many", tokens(1000)),
		passes("fewer", tokens(16)),
		fails("more", tokens(4096), "expected at most 1000 tokens in the model request, found 4096"),
		fails("more in the second round", tokens(1000, 4096), "found 4096"),
		openAI(passes("under the newer name", calls(tracetest.With(unlimited, "max_completion_tokens", "1000")))),
		openAI(fails("no limit", calls(unlimited), "found no limit")),
		inapplicable("a limit that is not valid", asks(0)),
		inapplicable("no call", func(s *session) { s.Asks(asked).Answers(answer) }),
	)
}
