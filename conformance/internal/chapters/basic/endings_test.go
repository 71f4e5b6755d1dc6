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
		return func(s *session) {
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
		passes("one call", called(ok)),
		passes("retries after failures", called(trace.ModelEnd{Status: 429}, trace.ModelEnd{Status: 529}, ok)),
		passes("one call again after the client hung up", called(hungUp, ok)),
		passes("one call that the client did not read to its end", called(hungUp)),
		fails("two calls", called(ok, ok), "found 2"),
		unobserved("no call", called(), neverAsked),
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
		informs("no stop reason", answers("stopReason", ""), "endTurn of the model becomes no stopReason"))
	judges(t, "stop-reason", "truncated",
		informs("an unknown one", cut, `maxTokens of the model becomes stopReason "length"`))
	judges(t, "stop-reason", "tuned",
		informs("a stop sequence", answers("stopReason", `"stopSequence"`),
			`stopSequence of the model becomes stopReason "stopSequence"`))
}

func TestEmptyCompletionsBecomeValidContent(t *testing.T) {
	content := func(content string) steps { return answers("content", content) }
	old := fails("an empty array before arrays", content(`[]`), "found []")
	old.In = tracetest.InOld
	judges(t, "empty-answer", "empty",
		passes("an empty text", content(`{"type":"text","text":""}`)),
		passes("a text of the client's own", content(`{"type":"text","text":"(nothing)"}`)),
		passes("an empty array", content(`[]`)),
		old,
		fails("null", content(`null`), "found null"),
		fails("a null text", content(`{"type":"text","text":null}`), `"text":null`),
		fails("a block without text", content(`{"type":"text"}`), `found {"type":"text"}`),
		fails("no content", content(``), "found nothing"),
		passes("no model, which another check judges", answers("model", "")),
		legacy(passes("an error", func(s *session) { refusing(s); s.PassesBarrier() }, `"no" (code -1)`)),
		legacy(unobserved("silence", silent, "no response to request 1")),
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
		legacy(inapplicable("a result", tracetest.Right)), legacy(unobserved("silence", silent)))
}
