package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

func TestStopReasonsAreReported(t *testing.T) {
	saying := func(reply string) steps {
		return func(s *session) { s.Asks(basicAsked).Prompts(basicAsked).Says(reply).Answers(whole) }
	}
	basicJudges(t, "stop-reason", "question",
		informs("no stop reason", answers("stopReason", ""), "the result has no stopReason"),
		informs("the client's own", answers("stopReason", `"done"`), `the stopReason is "done"`),
		native(informs("the model's end", saying(tracetest.With(whole, "stopReason", `"maxTokens"`)),
			`the stopReason is "endTurn" for maxTokens of the model`)),
		informs("to no model", noModel, `the stopReason is "endTurn"`))
}

func TestEmptyCompletionsBecomeValidContent(t *testing.T) {
	content := func(content string) steps { return answers("content", content) }
	old := fails("an empty array before arrays", content(`[]`))
	old.In = tracetest.InOld
	rules(t, "valid-result", "basic/empty",
		passes("an empty text", content(`{"type":"text","text":""}`)),
		passes("a text of the client's own", content(`{"type":"text","text":"(nothing)"}`)),
		passes("an empty array", content(`[]`)),
		old,
		fails("null", content(`null`), "found null"),
		fails("a null text", content(`{"type":"text","text":null}`)),
		fails("a block without text", content(`{"type":"text"}`), "missing property 'text'"),
		fails("no content", content(``), "missing property 'content'"),
		legacy(passes("an error", func(s *session) { basicRefusing(s); s.PassesBarrier() })),
		legacy(inapplicable("silence", basicSilent, "no result")),
	)
}
