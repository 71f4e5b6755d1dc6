package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestOneRequestCostsOneModelCall(t *testing.T) {
	called := func(ends ...trace.ModelEnd) steps {
		return func(s *tracetest.Story) {
			var body any = asked
			if s.Dialect != dialect.Native {
				body = tracetest.AsChat(asked)
			}
			s.Asks(asked)
			for _, end := range ends {
				s.Prompt(string(story.JSON(body)), end)
			}
			s.Answers(whole)
		}
	}
	ok, hungUp := trace.ModelEnd{Status: 200}, trace.ModelEnd{Status: 200, HungUp: true}
	judges(t, "one-model-call", "question",
		row("one call", called(ok), report.Pass, ""),
		row("retries after failures", called(trace.ModelEnd{Status: 429}, trace.ModelEnd{Status: 529}, ok), report.Pass, ""),
		row("one call again after the client hung up", called(hungUp, ok), report.Pass, ""),
		row("one call that the client did not read to its end", called(hungUp), report.Pass, ""),
		row("two calls", called(ok, ok), report.Fail, "found 2"),
		row("no call", called(), report.NotObserved, neverAsked),
	)
}

func TestStandardStopReasonsAreTrue(t *testing.T) {
	for _, c := range []struct {
		reason         string
		whole, cut     report.Verdict
		ofWhole, ofCut string
	}{
		{`"endTurn"`, report.Pass, report.Fail, "endTurn", "expected stopReason maxTokens, found endTurn"},
		{`"maxTokens"`, report.Fail, report.Pass, "expected stopReason endTurn, found maxTokens", "maxTokens"},
		{`"stopSequence"`, report.Fail, report.Fail, "found stopSequence", "found stopSequence"},
		{`"toolUse"`, report.Fail, report.Fail, "found toolUse", "found toolUse"},
		{`"length"`, report.Pass, report.Pass, `"length"`, `"length"`},
		{"", report.Pass, report.Pass, "allowed", "allowed"},
	} {
		result := tracetest.With(whole, "stopReason", c.reason)
		judges(t, "stop-reason-true", "question", row("whole "+c.reason, tracetest.AnswersWith(result), c.whole, c.ofWhole))
		judges(t, "stop-reason-true", "truncated", row("cut "+c.reason, tracetest.TruncatedWith(result), c.cut, c.ofCut))
	}
}

func TestStopReasonsAreReported(t *testing.T) {
	cut := tracetest.TruncatedWith(tracetest.With(whole, "stopReason", `"length"`))
	judges(t, "stop-reason", "question",
		row("no stop reason", answers("stopReason", ""), report.Info, "endTurn of the model becomes no stopReason"))
	judges(t, "stop-reason", "truncated",
		row("an unknown one", cut, report.Info, `maxTokens of the model becomes stopReason "length"`))
	judges(t, "stop-reason", "tuned",
		row("a stop sequence", answers("stopReason", `"stopSequence"`),
			report.Info, `stopSequence of the model becomes stopReason "stopSequence"`))
}

func TestEmptyCompletionsBecomeValidContent(t *testing.T) {
	content := func(content string) steps { return answers("content", content) }
	old := row("an empty array before arrays", content(`[]`), report.Fail, "found []")
	old.In = tracetest.InOld
	judges(t, "empty-answer", "empty",
		row("an empty text", content(`{"type":"text","text":""}`), report.Pass, ""),
		row("a text of the client's own", content(`{"type":"text","text":"(nothing)"}`), report.Pass, ""),
		row("an empty array", content(`[]`), report.Pass, ""),
		old,
		row("null", content(`null`), report.Fail, "found null"),
		row("a null text", content(`{"type":"text","text":null}`), report.Fail, `"text":null`),
		row("a block without text", content(`{"type":"text"}`), report.Fail, `found {"type":"text"}`),
		row("no content", content(``), report.Fail, "found nothing"),
		row("no model, which another check judges", answers("model", ""), report.Pass, ""),
		legacy(row("an error", func(s *tracetest.Story) { refusing(s); s.PassesBarrier() }, report.Pass, `"no" (code -1)`)),
		legacy(row("silence", silent, report.NotObserved, "no response to request 1")),
	)
}

func TestErrorsHaveACodeAndAMessage(t *testing.T) {
	for _, c := range []struct {
		err     string
		verdict report.Verdict
		message string
	}{
		{`{"code":-32603,"message":"failed"}`, report.Pass, "code -32603"},
		{`{"code":0,"message":""}`, report.Pass, "code 0"},
		{`{"code":-1.0,"message":"no","data":[1]}`, report.Pass, "code -1.0"},
		{`{"message":"failed"}`, report.Fail, "expected an integer code, found nothing"},
		{`{"code":"E_FAIL","message":"failed"}`, report.Fail, `code, found "E_FAIL"`},
		{`{"code":1.5,"message":"failed"}`, report.Fail, "code, found 1.5"},
		{`{"code":1e999999999,"message":"failed"}`, report.Fail, "code, found 1e999999999"},
		{`{"code":null,"message":"failed"}`, report.Fail, "code, found null"},
		{`"failed"`, report.Fail, "code, found nothing"},
		{`{"code":-32603}`, report.Fail, "expected a string message, found nothing"},
		{`{"code":-32603,"message":{"text":"failed"}}`, report.Fail, `message, found {"text":"failed"}`},
	} {
		judges(t, "error-shape", "failing", legacy(row(c.err, responds("", `"error":`+c.err), c.verdict, c.message)))
	}
	judges(t, "error-shape", "failing",
		legacy(row("a result", tracetest.Right, report.NotApplicable, "")), legacy(row("silence", silent,
			report.NotObserved, "")))
}
