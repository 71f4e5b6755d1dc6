package malformed

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// validatesContent are the statements that require a client to refuse malformed content.
var validatesContent = []string{"sampling/22", "sampling/13"}

const fixByValidation = "Validate the params against the schema before you call the model. Return -32602. " +
	"In 2026-07-28, do not fulfil the input request."

var errorDue = check.Check{
	ID: "error-due", Cases: casesOf(due),
	Rule:   "The client refuses a request that lacks a required field, or has one that it cannot read",
	Levels: check.Should, Statements: validatesContent, Results: 1, Requests: 2,
	Cause: "the params are passed on as they came, or the client invents missing ones: a limit, a role, a message",
	Fix:   fixByValidation,
	Judge: judgeRefusal,
}

var wrongTypes = check.Check{
	ID: "wrong-types", Cases: casesOf(wrongType),
	Rule:   "The client refuses a required field of a wrong type",
	Levels: check.Should, Statements: validatesContent, Results: 1, Requests: 2,
	Cause: "the value is converted, or passed on as it came",
	Fix:   fixByValidation,
	Judge: judgeRefusal,
}

var badSchema = check.Check{
	ID: "bad-schema", Cases: casesOf(invalidSchema),
	Rule:   "The client refuses a tool with an invalid input schema",
	Levels: check.SinceTools(report.Advice), Results: 1, Requests: 2,
	Cause: "schemas are passed on to the model without validation, or tools with an unreadable one are dropped",
	Fix:   "Compile the input schemas of the tools. Return -32602 if one is invalid.",
	Judge: judgeRefusal,
}

// judgeRefusal judges whether the client refused the wrong request.
func judgeRefusal(e *evidence.Case) check.Verdict {
	r := wrongRequest(e)
	if a := r.Result(); a != nil {
		v := check.Fail("%s: expected a refusal of %s, found a result", caseName(e), request(e))
		if e.Revision.Modern() && a.Member("content") == nil {
			v = check.Fail("%s: expected an unfulfilled input request for %s, found a response that is not a result",
				caseName(e), request(e))
		}
		return show(v, e).ShowResult(a)
	}
	if len(r.Answers) > 0 {
		a := r.Answers[0]
		return check.Pass("the client refused %s with the code %d", request(e), a.Err.Code).ShowJSON(a.Place, a.RawErr)
	}
	return neitherFulfilledNorRefused(e).Or(check.Pass("the client did not fulfil %s", request(e)).At(r.Asked))
}

// caseName returns the name of the case, without its scenario.
func caseName(e *evidence.Case) string {
	_, name, _ := strings.Cut(e.Case.ID, "/")
	return name
}

// neitherFulfilledNorRefused returns the verdict for a request without a response that is not, or may not be, a
// refusal. It returns nil for an unfulfilled input request of 2026-07-28, which is a refusal.
func neitherFulfilledNorRefused(e *evidence.Case) *check.Verdict {
	if v := perished(e); v != nil {
		return v
	}
	r := wrongRequest(e)
	if !e.Revision.Modern() {
		return check.Instead(check.NotObserved("the request got no response %s", evidence.See("malformed/answered")).At(r.Asked))
	}
	return check.Unsettled(e, r)
}

var errorCode = check.Check{
	ID: "error-code", Cases: casesOf(due, wrongType),
	Rule:   "The error for a malformed request has the code -32602 or -32600",
	Levels: check.InLegacy(report.Advice), Results: 1, Requests: 2,
	Cause: "every failure has one code, such as -32603, or the request fails on its way to the model",
	Fix:   "Return -32602 (invalid params) or -32600 (invalid request).",
	Judge: func(e *evidence.Case) check.Verdict {
		r := wrongRequest(e)
		if v := perished(e); v != nil && len(r.Answers) == 0 {
			return *v
		}
		if len(r.Answers) == 0 || r.Answers[0].Err == nil {
			return check.NotApplicable("the client did not refuse the request (see malformed/error-due, malformed/wrong-types)")
		}
		a := r.Answers[0]
		if code := a.Err.Code; code == evidence.CodeInvalidParams || code == evidence.CodeInvalidRequest {
			return check.Pass("the client refused %s with the code %d", request(e), code).Show(a.At("code"), "%d", code)
		}
		v := check.Fail("%s: expected the code %d or %d for %s, found %d", caseName(e),
			evidence.CodeInvalidParams, evidence.CodeInvalidRequest, request(e), a.Err.Code)
		return show(v, e).ShowJSON(a.Place, a.RawErr)
	},
}

var noModelCall = check.Check{
	ID: "no-model-call", Cases: casesOf(due, wrongType),
	Rule:   "A malformed request costs no model call",
	Levels: check.Advice, Results: 1, Requests: 2,
	Cause: "the client calls the model first, and validates the request later or never",
	Fix:   "Validate the params against the schema before you call the model.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, s := wrongRequest(e), e.Session
		if completed := r.CompletedCalls(); len(completed) > 0 {
			x := completed[0]
			v := show(check.Fail("expected no model call for %s, found one that was completed", request(e)), e)
			if x.Request == nil {
				return v.At(x.Place)
			}
			return v.ShowJSON(x.Place, x.Request.Body)
		}
		if v := perished(e); v != nil {
			return *v
		}
		if v := check.Unmarked(e, r); v != nil {
			return *v
		}
		if why := s.Unsettled(r.Asked); why != "" {
			return check.NotObserved("a model call could still have come: %s", why).At(r.Asked)
		}
		if len(r.Model) > 0 {
			return check.Pass("the model refused the client's request").At(r.Model[0].Place)
		}
		return check.Pass("no call of the model was completed")
	},
}

var tolerated = check.Check{
	ID: "tolerated", Cases: casesOf(ignorable, valid),
	Rule:   "Reports how the client treats valid requests that make no sense, and optional fields of a wrong type",
	Levels: check.May, Results: 1, Requests: 2,
	Cause: "nothing is wrong: the client may answer, correct or refuse such requests",
	Fix:   "Nothing to fix.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := wrongRequest(e)
		name := caseName(e)
		if a := r.Result(); a != nil {
			how := "answered"
			x := r.LastExchange()
			if malformationOf(e).at == "maxTokens" && x != nil && x.Request != nil && x.Request.MaxTokens != nil {
				how += fmt.Sprintf(", with a limit of %d tokens", *x.Request.MaxTokens)
			}
			return check.Info("%s: %s", name, how).At(a.Place)
		}
		if len(r.Answers) > 0 {
			return check.Info("%s: refused", name).At(r.Answers[0].Place)
		}
		return neitherFulfilledNorRefused(e).Or(check.Info("%s: not fulfilled", name).At(r.Asked))
	},
}
