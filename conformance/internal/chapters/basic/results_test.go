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
		row("a block", tracetest.Right, report.Pass, ""),
		row("an array", answers("content", "["+block+"]"), report.Pass, ""),
		row("no content", answers("content", ""), report.Fail, "found nothing"),
		row("null", answers("content", "null"), report.Fail, "found null"),
		row("a string", answers("content", `"hello"`), report.Fail, `found "hello"`),
		row("a null result", tracetest.AnswersWith("null"), report.Fail, "found nothing"),
	)
}

func TestResultsNameTheModel(t *testing.T) {
	judges(t, "has-model", "question",
		row("a name", tracetest.Right, report.Pass, ""),
		row("no name", answers("model", ""), report.Fail, "found nothing"),
		row("null", answers("model", "null"), report.Fail, "found null"),
		row("a number", answers("model", "4"), report.Fail, "found 4"),
	)
}

func TestResultsHaveTheRoleAssistant(t *testing.T) {
	judges(t, "role-assistant", "question",
		row("assistant", tracetest.Right, report.Pass, ""),
		row("user", answers("role", `"user"`), report.Fail, `expected the role "assistant" in the result, found "user"`),
		row("no role", answers("role", ""), report.Fail, "found nothing"),
	)
}

func TestResultsAreValid(t *testing.T) {
	in := func(revision server.Revision, t test) test {
		t.In, t.Message = []server.Revision{revision}, "CreateMessageResult of "+string(revision)
		return t
	}
	judges(t, "valid-result", "question",
		row("a valid result", tracetest.Right, report.Pass, ""),
		row("no stop reason", answers("stopReason", ""), report.Pass, ""),
		row("an unknown field", answers("usage", `{"tokens":3}`), report.Pass, ""),
		row("an unknown stop reason", answers("stopReason", `"content_filter"`), report.Pass, ""),
		row("an array of one block", answers("content", "["+block+"]"), report.Pass, ""),
		in(server.V20250618, row("an array before arrays", answers("content", "["+block+"]"), report.Fail, "")),
		in(server.V20260728, row("a block without a type", answers("content", `{"text":"hello"}`), report.Fail, "")),
		in(server.V20251125, row("a null stop reason", answers("stopReason", "null"), report.Fail, "")),
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
	judges(t, "model-named", "question", row("no name", answers("model", ""), report.NotObserved, "basic/has-model"))
}
