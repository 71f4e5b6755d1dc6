package declare

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var undeclaredSamplingRefused = check.Check{
	ID: "undeclared-sampling-refused", Rule: "a client that declares nothing does not sample", Levels: check.Everywhere(report.Must),
	Cases: []string{"undeclared-sampling"}, Statements: samplingRule,
	Cause: "the handler answers whoever asks, without a look at what was declared",
	Fix:   "where sampling is not declared, answer sampling/createMessage with an error (-32601), and fulfil no input request for it",
	Judge: func(e *evidence.Case) check.Verdict { return judgeForbidden(e, "sampling") },
}

var undeclaredToolsRefused = check.Check{
	ID: "undeclared-tools-refused", Rule: "a client that declares sampling without tools refuses requests with tools", Levels: check.SinceTools(report.Must),
	Cases: []string{"undeclared-tools"}, Statements: []string{"2025-11-25/schema/01", "2026-07-28/schema/01"},
	Cause: "the tools are dropped and the rest is answered, or they are handed on to the model all the same",
	Fix:   "answer a request that has tools with an error (-32602) where sampling.tools is not declared",
	Judge: func(e *evidence.Case) check.Verdict { return judgeForbidden(e, "sampling", "tools") },
}

var undeclaredToolChoiceRefused = check.Check{
	ID: "undeclared-toolchoice-refused", Rule: "a client that declares sampling without tools refuses requests with a tool choice, also one alone",
	Levels: check.SinceTools(report.Must), Cases: []string{"undeclared-toolchoice"}, Statements: []string{"2025-11-25/schema/02", "2026-07-28/schema/02"},
	Cause: "only tools are looked at",
	Fix:   "answer a request that has toolChoice with an error (-32602) where sampling.tools is not declared",
	Judge: func(e *evidence.Case) check.Verdict { return judgeForbidden(e, "sampling", "tools") },
}

// judgeForbidden judges what became of a request for a capability that the client was told not to declare.
func judgeForbidden(e *evidence.Case, capability ...string) check.Verdict {
	r, missing := forbiddenRound(e, capability...)
	if missing != nil {
		return *missing
	}
	name := strings.Join(capability, ".")
	if a := r.Result(); a != nil {
		return check.Fail("the client answered a request for %s, which it does not declare", name).
			ShowAs("server sent", r.Asked, "%s", evidence.Compact(r.Raw)).ShowAs("client declared", r.Declared.CapabilitiesAt(), "%s", check.OrMissing(r.Declared.Declared())).
			Show(a.Place, "%s", evidence.Compact(a.Result))
	}
	if len(r.Answers) > 0 {
		a := r.Answers[0]
		return check.Pass("the client refused what it does not declare, with the code %d", a.Err.Code).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	}
	if !e.Revision.Modern() {
		return check.Fail("the client neither refused nor answered a request for %s, which it does not declare: an error is due", name).Show(r.Asked, "%s", evidence.Compact(r.Raw))
	}
	if v := check.Unsettled(e, r); v != nil {
		return *v
	}
	return check.Pass("the client did not fulfil what it does not declare").Show(r.Asked, "")
}

// forbiddenRound returns the round of the forbidden request, or the verdict for there being none.
func forbiddenRound(e *evidence.Case, capability ...string) (*evidence.Round, *check.Verdict) {
	var v check.Verdict
	switch {
	case len(e.Rounds) > 0 && e.Rounds[0].Hostile:
		return e.Rounds[0], nil
	case e.Declared.Declares(capability...):
		v = check.Unsupported("the client was told to declare %s and declares %s all the same: it takes a client whose capabilities can be set (capabilities in MCP_CONFORMANCE_CONTEXT, Env.Declare)",
			evidence.Compact(e.Session.Trace.Header.Declare), strings.Join(capability, ".")).Show(e.Declared.CapabilitiesAt(), "%s", check.OrMissing(e.Declared.Declared()))
	default:
		v = check.NotObserved("the play did not get as far as the forbidden request")
	}
	return nil, &v
}

var undeclaredNoModelCall = check.Check{
	ID: "no-model-call", Rule: "what the client must refuse costs no model call", Levels: check.Everywhere(report.Robust),
	Cases: []string{"undeclared-sampling", "undeclared-tools", "undeclared-toolchoice"},
	Cause: "the model is asked first, and what was declared is looked at when its answer is there",
	Fix:   "look at what was declared before the model is asked",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := forbiddenRound(e, forbiddenCapability(e.Case.ID)...)
		if missing != nil {
			return *missing
		}
		return check.NoModelCall(e, r, "the model was asked for what the client must refuse")
	},
}

func forbiddenCapability(caseID string) []string {
	if strings.HasSuffix(caseID, "/undeclared-sampling") {
		return []string{"sampling"}
	}
	return []string{"sampling", "tools"}
}

var undeclaredAlive = check.Check{
	ID: "alive", Rule: "the session goes on after a request that the client must refuse", Levels: check.Everywhere(report.Robust),
	Cases: []string{"undeclared-sampling", "undeclared-tools", "undeclared-toolchoice"},
	Cause: "what the client throws at a request that it did not expect ends its connection, or itself",
	Fix:   "turn it into an error for that one request, and go on",
	Judge: func(e *evidence.Case) check.Verdict {
		r, missing := forbiddenRound(e, forbiddenCapability(e.Case.ID)...)
		if missing != nil {
			return *missing
		}
		return check.Alive(e, r, "the client did not go on after a request that it had to refuse")
	},
}
