package balance

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Rules of the specification about histories. The first era names the error, and its code, for a missing and for a mixed result.
var (
	missingRule = []string{"2025-11-25/sampling/13", "2025-11-25/sampling/08", "2026-07-28/sampling/09"}
	mixedRule   = []string{"2025-11-25/sampling/13", "2025-11-25/sampling/07", "2026-07-28/sampling/08"}
	orphanRule  = []string{"2025-11-25/schema/07", "2026-07-28/schema/07"}
	contentRule = []string{"2025-11-25/sampling/15", "2026-07-28/sampling/22"}
)

// refusal is a check that a client refuses a history. Where the specification names no code for it, another one than -32602 is no more than
// a matter of advice.
func refusal(id, says string, level report.Level, requirements []string, usual, mend string) check.Check {
	named := requirements[0] == "2025-11-25/sampling/13"
	return check.Check{
		ID: id, Rule: says, Levels: check.Everywhere(level), Requests: 1, Cases: casesOf(func(h *history) bool { return h.check == id }), Statements: requirements,
		Cause: usual, Fix: mend,
		Judge: func(e *evidence.Case) check.Verdict { return refusesHistory(e, historyOf(e.Case.ID), named) },
	}
}

// refusesHistory judges what became of a history that the server must not send.
func refusesHistory(ev *evidence.Case, h *history, named bool) check.Verdict {
	r := ev.Rounds[0]
	tell := func(v check.Verdict) check.Verdict {
		v = v.ShowAs("server sent", r.Asked.At(h.at), "%s", part(r, h.at))
		if x := r.LastExchange(); x != nil && x.Request != nil {
			given := describeTurns(x.Request.Messages)
			if x.End.Refused != "" {
				given += "\nthe model refused it: " + x.End.Refused
			}
			v = v.ShowAs("model was given", x.At("messages"), "%s", given)
		}
		return v
	}
	switch {
	case r.CassetteMiss() != "":
		return check.NotObserved("the model had no answer for sampling request 1")
	case r.Result() != nil:
		return tell(check.Fail("the client answered a history in which %s", h.wrong)).Show(r.Result().Place, "%s", evidence.Compact(r.Result().Result))
	case len(r.Answers) == 0 && !ev.Revision.Modern():
		return tell(check.Fail("the client neither refused nor answered a history in which %s: an error is due%s", h.wrong, ev.Died()))
	case !ev.Session.AnswersAny():
		return check.NotObserved("the client was not seen to answer anything, so that it cannot be said that it refuses this history%s", ev.WhyNoResult(1))
	case len(r.Answers) > 0:
		return withCode(ev, h, named, tell)
	}
	if v := check.Unsettled(ev, r); v != nil {
		return *v
	}
	return check.Pass("the client did not fulfil a request in which %s", h.wrong).Show(r.Asked.At(h.at), "")
}

// withCode judges the error with which a client refused a history.
func withCode(ev *evidence.Case, h *history, named bool, tell func(check.Verdict) check.Verdict) check.Verdict {
	a := ev.Rounds[0].Answers[0]
	if a.Err.Code == evidence.CodeInvalidParams {
		return check.Pass("the client refused it with the code %d", evidence.CodeInvalidParams).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	}
	whose := ""
	if x := ev.Rounds[0].LastExchange(); x != nil && x.End.Refused != "" {
		whose = ", when the model had refused it"
	}
	if !named {
		return tell(check.Warn("the client refused a history in which %s with the code %d%s: %d says that the request is wrong", h.wrong, a.Err.Code, whose, evidence.CodeInvalidParams)).Show(a.Place, "%s", evidence.Compact(a.RawErr))
	}
	return tell(check.Fail("the client refused a history in which %s with the code %d%s: %d is due", h.wrong, a.Err.Code, whose, evidence.CodeInvalidParams)).Show(a.Place, "%s", evidence.Compact(a.RawErr))
}

// describeTurns shows what a history holds, a line for each block.
func describeTurns(messages []dialect.Message) string {
	var blocks []dialect.Block
	for _, m := range messages {
		blocks = append(blocks, m.Content...)
	}
	return evidence.Describe(blocks)
}

const answersAnything = "the handler hands every history on to the model, as if its server could not be wrong"

var missingResult = refusal("missing-result", "a history in which one of several tool uses has no result is refused", report.Should, missingRule,
	"results are counted by message and not by tool use, or the missing one is made up",
	"look for a result under the id of each tool use in the very next message, and answer -32602 where one is missing")

var noResult = refusal("no-result", "a history in which plain text follows a tool use is refused", report.Should, missingRule,
	answersAnything,
	"answer -32602 where the message behind a tool use holds no results")

var lateResult = refusal("late-result", "a history in which another message stands between a tool use and its result is refused", report.Should, missingRule,
	"results are looked for anywhere behind their tool use",
	"look for results in the very next message, and answer -32602 where they are not there")

var trailingUse = refusal("trailing-use", "a history that ends with a tool use without a result is refused", report.Should, missingRule,
	"tool uses are looked at when the next message comes, and there is none",
	"answer -32602 where the last message of the history holds a tool use")

var mixedContent = refusal("mixed-content", "a message that holds other content beside tool results is refused", report.Should, mixedRule,
	"the message is taken apart into results and the rest, since the provider's wire has a place for both",
	"answer -32602 where a message with tool results holds anything else")

var orphanResult = refusal("orphan-result", "a tool result without a tool use is refused", report.Should, orphanRule,
	"the result is dropped, or handed on, and the provider finds out or the model wonders",
	"answer -32602 where a tool result has no tool use in the message before it")

var duplicateUseID = refusal("duplicate-use-id", "a message in which two tool uses have one id is refused", report.Should, contentRule,
	"tool uses are kept in a map, by their ids",
	"answer -32602 where an id comes twice")

var duplicateResult = refusal("duplicate-result", "a tool use with two results is refused", report.Advice, contentRule,
	"results are kept in a map, by the ids of their tool uses, so that one of them is lost",
	"answer -32602 where two results are for one tool use")

var useInUser = refusal("use-in-user", "a tool use under the role user is refused", report.Advice, contentRule,
	answersAnything,
	"answer -32602 where a message of the user holds a tool use")

var resultInAssistant = refusal("result-in-assistant", "a tool result under the role assistant is refused", report.Advice, contentRule,
	answersAnything,
	"answer -32602 where a message of the assistant holds a tool result")

var notDropped = check.Check{
	ID: "not-dropped", Rule: "a tool use or result under the wrong role is refused, or it reaches the model: it is not dropped silently", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: casesOf(func(h *history) bool { return h.marker != "" }),
	Cause: "the converter knows tool uses under one role and results under the other, and leaves out what it does not know",
	Fix:   "answer with an error (-32602) where there is no place for a block",
	Judge: func(e *evidence.Case) check.Verdict {
		r, h := e.Rounds[0], historyOf(e.Case.ID)
		if len(r.Answers) == 0 && e.Revision.Modern() {
			if v := check.Unsettled(e, r); v != nil {
				return *v
			}
		}
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses it: %s", how)
		}
		if r.Result() == nil {
			return check.NotObserved("no result for sampling request 1%s", e.WhyNoResult(1))
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if !x.Says(h.marker) {
			return check.Fail("the client answered a history in which %s, and dropped it", h.wrong).
				ShowAs("server sent", r.Asked.At(h.at), "%s", part(r, h.at)).ShowAs("model was given", x.At("messages"), "%s", describeTurns(x.Request.Messages)).
				Show(r.Result().Place, "%s", evidence.Compact(r.Result().Result))
		}
		return check.Pass("it reached the model").Show(x.Place, "")
	},
}

var balanceNoModelCall = check.Check{
	ID: "no-model-call", Rule: "a history that cannot be right costs no model call", Levels: check.Everywhere(report.Advice), Requests: 1,
	Cause: "the history is handed on, and the model answers, or the client looks at it when the answer is there",
	Fix:   "look at the history before the model is asked",
	Judge: func(e *evidence.Case) check.Verdict {
		return check.NoModelCall(e, e.Rounds[0], "the model was asked, and answered, for a history in which "+historyOf(e.Case.ID).wrong)
	},
}

var balanceAlive = check.Check{
	ID: "alive", Rule: "the session goes on after a history that cannot be right", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cause: "what the client throws at a history that it did not expect ends its connection, or itself",
	Fix:   "turn it into an error for that one request, and go on",
	Judge: func(e *evidence.Case) check.Verdict {
		return check.Alive(e, e.Rounds[0], "the client did not go on after a history in which "+historyOf(e.Case.ID).wrong)
	},
}
