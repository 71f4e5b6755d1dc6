package basic

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const block = `{"type":"text","text":"hello"}`

func TestResultsHaveContent(t *testing.T) {
	judges(t, "has-content", "question",
		passes("a block", tracetest.Right),
		passes("an array", answers("content", "["+block+"]")),
		fails("no content", answers("content", ""), "found nothing"),
		fails("null", answers("content", "null"), "found null"),
		fails("a string", answers("content", `"hello"`), `found "hello"`),
		fails("a null result", tracetest.AnswersWith("null"), "found nothing"),
	)
}

func TestResultsNameTheModel(t *testing.T) {
	judges(t, "has-model", "question",
		passes("a name", tracetest.Right),
		fails("no name", answers("model", ""), "found nothing"),
		fails("null", answers("model", "null"), "found null"),
		fails("a number", answers("model", "4"), "found 4"),
	)
}

func TestResultsHaveTheRoleAssistant(t *testing.T) {
	judges(t, "role-assistant", "question",
		passes("assistant", tracetest.Right),
		fails("user", answers("role", `"user"`), `expected the role "assistant" in the result, found "user"`),
		fails("no role", answers("role", ""), "found nothing"),
	)
}

func TestResultsAreValid(t *testing.T) {
	in := func(revision server.Revision, t test) test {
		t.In, t.Message = []server.Revision{revision}, "CreateMessageResult of "+string(revision)
		return t
	}
	judges(t, "valid-result", "question",
		passes("a valid result", tracetest.Right),
		passes("no stop reason", answers("stopReason", "")),
		passes("an unknown field", answers("usage", `{"tokens":3}`)),
		passes("an unknown stop reason", answers("stopReason", `"content_filter"`)),
		passes("an array of one block", answers("content", "["+block+"]")),
		in(server.V20250618, fails("an array before arrays", answers("content", "["+block+"]"))),
		in(server.V20260728, fails("a block without a type", answers("content", `{"text":"hello"}`))),
		in(server.V20251125, fails("a null stop reason", answers("stopReason", "null"))),
	)
}

func TestContentIsASingleBlockBeforeArrays(t *testing.T) {
	for _, revision := range tracetest.InOld {
		content := func(content string, verdict report.Verdict, message string) test {
			one := row(content, answers("content", content), verdict, message)
			one.In = []server.Revision{revision}
			return one
		}
		judges(t, "no-array-before-a", "question",
			content(block, report.Pass, ""), content("null", report.Pass, ""),
			content("["+block+"]", report.Fail, "found ["), content("[]", report.Fail, "found []"))
	}
}

func TestResultsNameTheModelThatWasCalled(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict report.Verdict
	}{
		{"gpt-4o", report.Pass}, {"gpt-4o-2024-08-06", report.Pass}, {"openai/gpt-4o", report.Pass}, {"GPT-4o", report.Pass},
		{"GPT 4o (latest)", report.Pass}, {"", report.Warn}, {"-", report.Warn}, {"my-client", report.Warn},
		{"claude-sonnet-4-5", report.Warn},
	} {
		message := ""
		if c.verdict == report.Warn {
			message = fmt.Sprintf(`expected the model "gpt-4o" in the result, found %q`, c.name)
		}
		name := fmt.Sprintf("%q", c.name)
		judges(t, "model-named", "question", openAI(row(c.name, answers("model", name), c.verdict, message)))
	}
	judges(t, "model-named", "question", unobserved("no name", answers("model", ""), "basic/has-model"))
}
