package basic

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// The model reaches the token limit in the middle of a sentence.
var truncated = harness.Case{
	ID: "basic/truncated",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Tell me a long story.")
		ask.MaxTokens = 16 // the least that every provider accepts
		return s.Sample(ask)
	},
	Script: func(string) []*llm.Rule {
		return llm.Script(llm.When().Reply(llm.Text("Once upon a time there")).StopReason(llm.StopMaxTokens))
	},
	Expect:  expected{stop: llm.StopMaxTokens, prompt: 1},
	Barrier: true,
}

var oneModelCall = check.Check{
	ID: "one-model-call", Cases: plain,
	Rule:   "One sampling request costs one completed model call",
	Levels: check.Robust, Results: 1,
	Cause: "the client continues a truncated answer by itself, or asks a second model to check the first",
	Fix:   "Call the model once for each sampling request. Leave it to the server to ask for more.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if _, missing := check.ModelRequest(r); missing != nil && missing.Kind == report.NotObserved {
				return *missing
			}
			// A call that the client hung up on counts only if it is the only one: some clients do not read a stream to its end.
			if completed := r.CompletedCalls(); len(completed) > 1 {
				v := check.Fail("expected 1 completed model call, found %d", len(completed)).At(r.Asked)
				for _, x := range completed {
					v = v.ShowJSON(x.Place, x.Request.Body)
				}
				return v
			}
		}
		return check.Pass("each sampling request cost one model call")
	},
}

var stopReasonTrue = check.Check{
	ID: "stop-reason-true", Cases: plain,
	Rule:   "A standard stop reason in the result is the model's own",
	Levels: check.Robust, Results: 1,
	Cause: "stopReason is a constant, or everything that the provider reports becomes endTurn",
	Fix:   "Map the provider's finish reason, above all length to maxTokens. Omit stopReason if the reason is unknown.",
	Judge: func(e *evidence.Case) check.Verdict {
		want := string(check.Expected[expected](e).stop)
		a := e.Rounds[0].Result()
		got, given := a.Text("stopReason")
		switch {
		case !given:
			return check.Pass("the result has no stopReason, which is allowed")
		case got == want:
			return check.Pass("the stopReason is %s", want).Show(a.At("stopReason"), "%q", got)
		case slices.Contains(evidence.StandardStopReasons, got):
			return check.Fail("expected stopReason %s, found %s", want, got).Show(a.At("stopReason"), "%q", got)
		}
		return check.Pass("the stopReason is %q, which is not a standard one", got).Show(a.At("stopReason"), "%q", got)
	},
}

var stopReason = check.Check{
	ID: "stop-reason", Cases: []string{"question", "truncated", "tuned"},
	Rule:   "Reports which stopReason the result has",
	Levels: check.May, Results: 1,
	Cause: "the client may choose its own stop reasons beside the standard ones",
	Fix:   nothingToFix,
	Judge: func(e *evidence.Case) check.Verdict {
		reason, a := check.Expected[expected](e).stop, e.Rounds[0].Result()
		if got, given := a.Text("stopReason"); given {
			return check.Info("%s of the model becomes stopReason %q", reason, got).Show(a.At("stopReason"), "%q", got)
		}
		return check.Info("%s of the model becomes no stopReason", reason)
	},
}

// The model answers with nothing.
var empty = harness.Case{
	ID:      "basic/empty",
	Handler: asks("Say nothing at all."),
	Script:  func(string) []*llm.Rule { return llm.Script(llm.When().Reply()) },
	Barrier: true,
}

var emptyAnswer = check.Check{
	ID: "empty-answer", Cases: []string{"empty"},
	Rule:   "An empty completion becomes valid content, or an error",
	Levels: check.Robust, Requests: 1,
	Cause: "an empty completion becomes null, or a block without text",
	Fix:   "Return a text block with an empty text, or an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses to return an empty completion: %s", how)
		}
		a := r.Result()
		if a == nil {
			return check.NotObserved("an empty completion got no response%s", e.WhyNoResult(1)).At(r.Asked)
		}
		content := a.Member("content")
		if content == nil {
			return check.Fail("expected content for an empty completion, found nothing").
				ShowResult(a)
		}
		// Other checks judge the rest of the result.
		alone := dialect.Marshal(story.Object{"role": "assistant", "model": "m", "content": content})
		if err := schema.Validate(string(e.Revision), schema.CreateMessageResult, alone); err != nil {
			return check.Fail("expected valid content for an empty completion, found %s", evidence.Compact(content)).
				ShowJSON(a.At("content"), content)
		}
		return check.Pass("the content is valid").ShowJSON(a.At("content"), content)
	},
}

// The model fails.
var failing = harness.Case{
	ID:      "basic/failing",
	Handler: asks("What is the answer?"),
	Script: func(string) []*llm.Rule {
		return llm.Script(llm.When().Fail(&llm.Error{Status: 400, Message: "the scripted model refuses this conversation"}))
	},
	Barrier: true,
}

var errorShape = check.Check{
	ID: "error-shape", Cases: []string{"failing"},
	Rule:   "An error MUST have an integer code and a message",
	Levels: check.InLegacy(report.Must), Requests: 1,
	// Before 2025-11-25, this is among the rules of responses.
	Statements: []string{
		"2025-03-26/basic/responses", "2025-06-18/basic/responses", "2025-11-25/basic/09", "2025-11-25/basic/10",
	},
	Cause: "the error of a library is passed on, with a string as code, or as a string in place of the error object",
	Fix:   `Return {"code": -32603, "message": "…"}, or a more specific code.`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if len(r.Answers) == 0 {
			return check.NotObserved("the client did not respond after the model failed").At(r.Asked)
		}
		a := r.Answers[0]
		if a.Err == nil {
			return check.NotApplicable("the client returned a result after the model failed")
		}
		raw := evidence.Compact(a.RawErr)
		var o dialect.Object
		_ = json.Unmarshal(a.RawErr, &o) // a value of another type has no code and no message
		code, isNumber := evidence.DecodeJSON(o["code"]).(json.Number)
		_, isText := evidence.DecodeJSON(o["message"]).(string)
		switch {
		case !isNumber || !isInteger(code):
			return check.Fail("expected an integer code, found %s", found(o["code"])).Show(a.At("code"), "%s", raw)
		case !isText:
			return check.Fail("expected a string message, found %s", found(o["message"])).Show(a.At("message"), "%s", raw)
		}
		return check.Pass("the error has the code %s and a message", code).Show(a.Place, "%s", raw)
	},
}

// isInteger reports whether a number is an integer by its value, such as 1.0 or 1e3.
func isInteger(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f)
}
