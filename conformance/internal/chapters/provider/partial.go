package provider

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Answer is the model's whole answer. The cuts lose its end.
const Answer = "The bridge opens at six in the morning for carts, at seven for coaches, " +
	"and at eight for everybody else."

// Answers that end too early.
var cuts = []harness.Case{
	cut("reset-midway", "a connection reset in the middle of the answer", llm.ResetAfter(6)),
	cut("truncated-stream", "a truncated answer", llm.TruncateAfter(6)),
	cut("truncated-json", "an answer truncated inside its JSON", llm.TruncateInside(6)),
	cut("error-midway", "an error in the middle of the answer", llm.ErrorAfter(6,
		&llm.Error{Status: http.StatusInternalServerError, Message: "The model was interrupted."})),
}

func cut(id, name string, f llm.Fault) harness.Case {
	return failing(id, failure{name: name}, llm.When().Reply(llm.Text(Answer)).Fault(f))
}

var partialNotWhole = check.Check{
	ID: "partial-not-whole", Cases: names(cuts),
	Rule:   "An answer that ends too early becomes an error, or its stop reason says that it is incomplete",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{resultDespiteFailure},
	Cause: "the client takes the end of the stream for the end of the answer; some SDKs of providers do not report it",
	Fix:   "Wait for the provider's last event or its finish reason. Return an error if the stream ends before it.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if r.AnsweredWhole() {
			return succeeded(e)
		}
		a, x := r.Result(), r.LastExchange()
		if x.End.Status != http.StatusOK || evidence.IsNoAnswer(a) {
			return invented(e)
		}
		reason, given := a.Text("stopReason")
		ownReason := given && !slices.Contains(evidence.StandardStopReasons, reason)
		var v check.Verdict
		switch {
		case ownReason && fromModel(a):
			return check.Pass("the stop reason says that the answer is incomplete: %s", reason).
				Show(a.At("stopReason"), "%q", reason)
		case ownReason:
			v = check.Fail("expected an error or what the model said before %s, found another text", f)
		case given && reason == string(dialect.StopMaxTokens):
			v = check.Warn("expected an error after %s, found the stop reason of a token limit: %s", f, reason)
		default:
			found := "its first part"
			if isEmpty(a) {
				found = "an empty text"
			}
			v = check.Fail("expected an error after %s, found %s returned as a complete answer", f, found)
		}
		return v.Show(x.Place, "%s", ending(x)).ShowMembers(a, "stopReason", "content")
	},
}

// fromModel reports whether a result has no text, or the first word of the model's answer: it may be short.
func fromModel(a *evidence.Answer) bool {
	first, _, _ := strings.Cut(Answer, " ")
	text := strings.TrimSpace(dialect.PlainText(a.Blocks()))
	return text == "" || strings.Contains(text, first)
}
