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
	"Since 2026-07-28, do not fulfil the input request."

var errorDue = check.Check{
	ID: "error-due", Cases: casesOf(due),
	Rule:   "The client refuses a request that lacks a required field, or has one that it cannot read",
	Levels: check.Should, Statements: validatesContent, Results: 1, Requests: 2,
	Cause: "the params are passed on as they came, or the client invents missing ones: a limit, a role, a message",
	Fix:   fixByValidation,
	Judge: ifAlive(check.Refused),
}

var wrongTypes = check.Check{
	ID: "wrong-types", Cases: casesOf(wrongType),
	Rule:   "The client refuses a required field of a wrong type",
	Levels: check.Should, Statements: validatesContent, Results: 1, Requests: 2,
	Cause: "the value is converted, or passed on as it came",
	Fix:   fixByValidation,
	Judge: ifAlive(check.Refused),
}

var badSchema = check.Check{
	ID: "bad-schema", Cases: casesOf(invalidSchema),
	Rule:   "The client refuses a tool with an invalid input schema",
	Levels: check.SinceTools(report.Advice), Results: 1, Requests: 2,
	Cause: "schemas are passed on to the model without validation, or tools with an unreadable one are dropped",
	Fix:   "Compile the input schemas of the tools. Return -32602 if one is invalid.",
	Judge: ifAlive(check.Refused),
}

var errorCode = check.Check{
	ID: "error-code", Cases: casesOf(due, wrongType),
	Rule:   "The error for a malformed request has the code -32602 or -32600",
	Levels: check.InLegacy(report.Advice), Results: 1, Requests: 2,
	Cause: "every failure has one code, such as -32603, or the request fails on its way to the model",
	Fix:   "Return -32602 (invalid params) or -32600 (invalid request).",
	Judge: ifAlive(check.HasCode),
}

var noModelCall = check.Check{
	ID: "no-model-call", Cases: casesOf(due, wrongType),
	Rule:   "A malformed request costs no model call",
	Levels: check.Advice, Results: 1, Requests: 2,
	Cause: "the client calls the model first, and validates the request later or never",
	Fix:   "Validate the params against the schema before you call the model.",
	Judge: func(e *evidence.Case) check.Verdict {
		v := check.CostsNoModelCall(e)
		switch died := perished(e); {
		case died != nil && v.Kind != check.Failed:
			return *died
		case v.Kind == report.Unsupported && check.Unmarked(e, wrongRequest(e)) == nil: // malformed/alive says so
			v.Kind = report.NotObserved
		}
		return v
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
		_, name, _ := strings.Cut(e.Case.ID, "/")
		if a := r.Result(); a != nil {
			how := "answered"
			x := r.LastExchange()
			if expected(e).Path == "maxTokens" && x != nil && x.Request != nil && x.Request.MaxTokens != nil {
				how += fmt.Sprintf(", with a limit of %d tokens", *x.Request.MaxTokens)
			}
			return check.Info("%s: %s", name, how).At(a.Place)
		}
		if len(r.Answers) > 0 {
			return check.Info("%s: refused", name).At(r.Answers[0].Place)
		}
		v := ifAlive(check.Refused)(e)
		if v.Kind == report.Pass {
			v = check.Info("%s: not fulfilled", name).At(r.Asked)
		}
		return v
	},
}
