package basic

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

var responsesRule = []string{"2025-03-26/basic/responses", "2025-06-18/basic/responses", "2025-11-25/basic/05"}

// errorRule is what an error has to be; before 2025-11-25 it stands among the rules of responses.
var errorRule = []string{"2025-03-26/basic/responses", "2025-06-18/basic/responses", "2025-11-25/basic/09", "2025-11-25/basic/10"}

var Answered = check.Check{
	ID: "answered", Rule: "a sampling request is answered with a result", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: plainly,
	Cause: "the handler is not registered, waits for something that never comes, or turns a failure of its own into an error",
	Fix:   "answer sampling/createMessage with what the model says",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if r.Result() == nil {
				return check.Fail("the client did not answer a sampling request with a result%s", e.WhyNoResult(r.N)).Show(r.Asked, "%s", evidence.Compact(r.Raw))
			}
		}
		return check.Pass("every sampling request was answered with a result").Show(e.Rounds[0].Result().Place, "")
	},
}

var answersOnce = check.Check{
	ID: "answers-once", Rule: "there is exactly one response for each request", Levels: check.InLegacy(report.Must), Requests: 1,
	Cases: []string{"question", "truncated", "ids", "failing"}, Statements: append(responsesRule, "2025-11-25/basic/01"),
	Cause: "the response is posted again by a retry that does not look whether the first one was taken",
	Fix:   "send one response for each request id, and none once it was sent",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if len(r.Answers) > 1 {
				return check.Fail("%d responses came for one request", len(r.Answers)).
					Show(r.Answers[0].Place, "the first").Show(r.Answers[1].Place, "one more for id %s", r.Answers[1].ID)
			}
		}
		for _, r := range e.Rounds {
			if len(r.Answers) == 0 {
				return check.NotObserved("no response came for request %d (see basic/answered)", r.N).Show(r.Asked, "")
			}
		}
		return check.Pass("one response came for each request")
	},
}

var idEchoed = check.Check{
	ID: "id-echoed", Rule: "a response has the id of its request, type and value", Levels: check.InLegacy(report.Must), Requests: 1,
	Cases: []string{"question", "truncated", "ids"}, Statements: append(responsesRule, "2025-11-25/basic/08"),
	Cause: "ids are kept in a variable of one type: a number becomes a string, or a float64 that rounds it",
	Fix:   "keep the id as the JSON it came as",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			for _, a := range r.Answers {
				if !evidence.SameID(r.RawID, a.ID) {
					return check.Fail("the response to request %s has the id %s", r.RawID, a.ID).
						Show(evidence.Place{Ref: a.Ref, Path: "id", Label: a.Label}, "%s, where the request had %s", a.ID, r.RawID)
				}
			}
		}
		for _, r := range e.Rounds {
			if len(r.Answers) > 0 {
				continue
			}
			if strays := e.Session.UnmatchedResponses; len(strays) > 0 {
				id := check.OrMissing(strays[0].ID)
				return check.Fail("no response came for request %s, and one came with an id that no request has: %s", r.RawID, id).
					Show(r.Asked, "").Show(strays[0].At("id"), "%s", id)
			}
			return check.NotObserved("no response came for request %d (see basic/answered)", r.N).Show(r.Asked, "")
		}
		for _, stray := range e.Session.UnmatchedResponses {
			if stray.ID != nil && string(stray.ID) != "null" { // which is what answers a message whose id could not be read
				return check.Fail("beside the responses that were due, one came with an id that no request has: %s", stray.ID).Show(stray.At("id"), "%s", stray.ID)
			}
		}
		return check.Pass("ids came back as they were")
	},
}

var jsonRPC = check.Check{
	ID: "json-rpc", Rule: `every message of the client says that it is JSON-RPC 2.0`, Levels: check.Everywhere(report.Must), Results: 1, Cases: []string{"question"},
	Statements: []string{"2025-03-26/basic/messages", "2025-06-18/basic/messages", "2025-11-25/basic/01", "2026-07-28/basic/01"},
	Cause:      "messages are put together by hand, and jsonrpc is left out, is a number, or has another version",
	Fix:        `begin every request, notification and response with "jsonrpc": "2.0"`,
	Judge: func(e *evidence.Case) check.Verdict {
		wrong := e.Session.Unversioned
		if len(wrong) == 0 {
			return check.Pass(`every message has "jsonrpc": "2.0"`)
		}
		first := e.Session.Trace.Find(wrong[0].Ref)
		return check.Fail(`%d of the client's messages do not say "jsonrpc": "2.0"`, len(wrong)).Show(wrong[0], "%s in %s", check.OrMissing(e.Session.Message(first).Version), evidence.Compact(json.RawMessage(first.Frame.Raw)))
	},
}

var hasContent = check.Check{
	ID: "has-content", Rule: "a result has content: a block, or an array of blocks", Levels: check.Everywhere(report.Must), Results: 1, Cases: plainly,
	Statements: check.ResultSchema,
	Cause:      "an empty completion becomes null, or a value without content goes out as it is",
	Fix:        "send a content block, if need be a text block with an empty text",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachAnswer(e, "every result has content", func(a *evidence.Answer) check.Verdict {
			content := a.Member("content")
			if content == nil || content[0] != '{' && content[0] != '[' {
				return check.Fail("the result has no content that is a block or an array of blocks").Show(a.At("content"), "%s", check.OrMissing(content))
			}
			return check.Verdict{}
		})
	},
}

var hasModel = check.Check{
	ID: "has-model", Rule: "a result names the model, as a string", Levels: check.Everywhere(report.Must), Results: 1, Cases: plainly,
	Statements: check.ResultSchema,
	Cause:      "the name is left out because the client knows only one model",
	Fix:        "set model to the name of the model that answered",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachAnswer(e, "every result names its model", func(a *evidence.Answer) check.Verdict {
			if _, ok := a.Text("model"); !ok {
				return check.Fail("the result does not name the model").Show(a.At("model"), "%s, where a string is due", check.OrMissing(a.Member("model")))
			}
			return check.Verdict{}
		})
	},
}

var roleAssistant = check.Check{
	ID: "role-assistant", Rule: "a result has the role assistant", Levels: check.Everywhere(report.Robust), Results: 1, Cases: plainly,
	Cause: "the role of the request's last message is copied into the result",
	Fix:   `set role to "assistant"`,
	Judge: func(e *evidence.Case) check.Verdict {
		return eachAnswer(e, "every result has the role assistant", func(a *evidence.Answer) check.Verdict {
			if role, _ := a.Text("role"); role != "assistant" {
				return check.Fail("the result's role is not assistant").Show(a.At("role"), `%s, where "assistant" is due`, check.OrMissing(a.Member("role")))
			}
			return check.Verdict{}
		})
	},
}

var validResult = check.Check{
	ID: "valid-result", Rule: "a result is valid by the revision's schema", Levels: check.Everywhere(report.Must), Results: 1, Cases: plainly,
	Statements: append(check.ResultSchema, "2025-11-25/basic/06"),
	Cause:      "a provider's own block is passed on, or a field that the schema requires is left out",
	Fix:        "build the result from the revision's own types",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachAnswer(e, "every result is valid by the schema", func(a *evidence.Answer) check.Verdict {
			err := schema.Validate(string(e.Revision), schema.CreateMessageResult, a.Result)
			if err == nil {
				return check.Verdict{}
			}
			at, why := a.Place, err.Error()
			var invalid *schema.Error
			if errors.As(err, &invalid) {
				at, why = a.At(invalid.Path), invalid.Message
			}
			return check.Fail("the result is not a valid CreateMessageResult of %s", e.Revision).Show(at, "%s", why).Show(a.Place, "%s", evidence.Compact(a.Result))
		})
	},
}

var errorShape = check.Check{
	ID: "error-shape", Rule: "an error has an integer code and a message", Levels: check.InLegacy(report.Must), Requests: 1, Cases: []string{"failing"},
	Statements: errorRule,
	Cause:      "the error of a library is passed on as it is, with a code that is a string, or a text in the error's place",
	Fix:        `answer with {"code": -32603, "message": "…"}, or a code that says more`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if len(r.Answers) == 0 {
			return check.NotObserved("the client did not answer at all when the model had failed").Show(r.Asked, "")
		}
		a := r.Answers[0]
		if a.Err == nil {
			return check.NotApplicable("the client gave no error when the model had failed")
		}
		var o dialect.Object
		_ = json.Unmarshal(a.RawErr, &o) // no object: it has neither
		code, isNumber := evidence.Decoded(o["code"]).(json.Number)
		_, isText := evidence.Decoded(o["message"]).(string)
		switch {
		case !isNumber || !isInteger(code):
			return check.Fail("the error has no code that is an integer").Show(a.At("code"), "%s", evidence.Compact(a.RawErr))
		case !isText:
			return check.Fail("the error has no message that is a string").Show(a.At("message"), "%s", evidence.Compact(a.RawErr))
		}
		return check.Pass("the error has the code %s and a message", code).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	},
}

// isInteger reports whether a number is one by its value, however it is written.
func isInteger(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && f == math.Trunc(f)
}

var noArray = check.Check{
	ID: "no-array-before-a", Rule: "content is a single block in the revisions that have no arrays", Levels: check.BeforeTools(report.Must), Results: 1, Cases: plainly,
	Statements: check.ResultSchema,
	Cause:      "the result of a newer revision is sent whatever was agreed on",
	Fix:        "send content as one block up to 2025-06-18",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachAnswer(e, "content is a single block", func(a *evidence.Answer) check.Verdict {
			if content := a.Member("content"); content != nil && content[0] == '[' {
				return check.Fail("content is an array, which %s does not have", e.Revision).Show(a.At("content"), "%s", evidence.Compact(content))
			}
			return check.Verdict{}
		})
	},
}

var emptyAnswer = check.Check{
	ID: "empty-answer", Rule: "an empty completion becomes valid content, or an error", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"empty"},
	Cause: "no text at all becomes null, or a block without its text",
	Fix:   "answer with a text block whose text is empty, or with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		a := r.Result()
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client has nothing to answer, and says so: %s", how)
		}
		if a == nil {
			return check.NotObserved("the client did not answer when the model had nothing to say%s", e.WhyNoResult(1)).Show(r.Asked, "")
		}
		// The content alone: what else a result has to have is judged elsewhere.
		content := a.Member("content")
		if content == nil {
			return check.Fail("the model had nothing to say, and the result has no content").Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		whole := dialect.Marshal(story.Object{"role": "assistant", "model": "m", "content": content})
		if err := schema.Validate(string(e.Revision), schema.CreateMessageResult, whole); err != nil {
			return check.Fail("the model had nothing to say, and the result's content is not valid").Show(a.At("content"), "%s", evidence.Compact(content))
		}
		return check.Pass("the content is valid").Show(a.At("content"), "%s", evidence.Compact(content))
	},
}

var oneModelCall = check.Check{
	ID: "one-model-call", Rule: "one request costs one completed model call", Levels: check.Everywhere(report.Robust), Results: 1, Cases: plainly,
	Cause: "the client continues truncated answers by itself, or asks a second model to check the first",
	Fix:   "make one model call for each sampling request; what follows is the server's to ask for",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if _, missing := check.ModelRequest(r); missing != nil && missing.Kind == report.NotObserved {
				return *missing
			}
			// One that the client hung up on counts where there is no other: some stop reading before the very end of a stream.
			completed := r.CompletedCalls()
			if len(completed) > 1 {
				v := check.Fail("one sampling request cost %d completed model calls", len(completed)).Show(r.Asked, "")
				for _, x := range completed {
					v = v.Show(x.Place, "%s", evidence.Compact(x.Request.Body))
				}
				return v
			}
		}
		return check.Pass("each request cost one model call")
	},
}

// eachAnswer passes when judge finds nothing wrong, a zero verdict, with any first answer.
func eachAnswer(e *evidence.Case, well string, judge func(*evidence.Answer) check.Verdict) check.Verdict {
	for _, r := range e.Rounds {
		if a := r.Result(); a != nil {
			if v := judge(a); v.Kind != "" {
				return v
			}
		}
	}
	return check.Pass("%s", well)
}
