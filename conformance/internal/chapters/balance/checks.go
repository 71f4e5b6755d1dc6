package balance

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// kind is a check that the client refuses histories, and these histories.
type kind struct {
	id, rule   string
	level      report.Level
	statements []string
	cause, fix string
	histories  []history
}

// cases are the names of the kind's histories.
func (k kind) cases() []string {
	var names []string
	for _, h := range k.histories {
		names = append(names, h.name)
	}
	return names
}

// refusals are the checks of [forbidden].
func refusals() []check.Check {
	var checks []check.Check
	for _, k := range forbidden {
		named := k.statements[0] == codeNamed
		checks = append(checks, check.Check{
			ID: k.id, Cases: k.cases(), Rule: k.rule,
			Levels: check.Everywhere(k.level), Statements: k.statements, Requests: 1, Cause: k.cause, Fix: k.fix,
			Judge: func(e *evidence.Case) check.Verdict { return judgeRefusal(e, named) },
		})
	}
	return checks
}

// judgeRefusal judges whether the client refused the history. An error code other than -32602 breaks the rule if the
// specification names the code, and is a flaw otherwise.
func judgeRefusal(e *evidence.Case, codeNamed bool) check.Verdict {
	r, h := e.Rounds[0], check.Expected[history](e)
	switch {
	case r.CassetteMiss() != "":
		return check.NotObserved("the model had no answer for sampling request 1")
	case r.Result() != nil:
		return show(check.Fail("expected a refusal of a history in which %s, found a result", h.wrong), r, h).
			ShowResult(r.Result())
	case len(r.Answers) == 0 && !e.Revision.Modern():
		return show(check.Fail("expected an error for a history in which %s, found no response%s", h.wrong,
			e.WhySilent(r.Asked.Ref)).For(evidence.NoResponse), r, h)
	case !e.Session.AnswersAny():
		return check.AnswersNothing(e, 1)
	case len(r.Answers) > 0:
		return judgeCode(r, h, codeNamed)
	}
	return check.Unsettled(e, r).
		Or(check.Pass("the client did not fulfil a request in which %s", h.wrong).At(r.Asked.At(h.path())))
}

// judgeCode judges the error with which the client refused the history.
func judgeCode(r *evidence.Round, h history, codeNamed bool) check.Verdict {
	a := r.Answers[0]
	if a.Err.Code == evidence.CodeInvalidParams {
		return check.Pass("the client refused it with the code %d", evidence.CodeInvalidParams).ShowJSON(a.Place, a.RawErr)
	}
	found := fmt.Sprint(a.Err.Code)
	if x := r.LastExchange(); x != nil && x.End.Refused != "" {
		found += ", after the model refused it"
	}
	verdict := check.Warn
	if codeNamed {
		verdict = check.Fail
	}
	v := verdict("expected the code %d for a history in which %s, found %s", evidence.CodeInvalidParams, h.wrong, found)
	return show(v, r, h).ShowJSON(a.Place, a.RawErr)
}

// show adds the wrong part of the history, and the blocks that the model received.
func show(v check.Verdict, r *evidence.Round, h history) check.Verdict {
	var sent struct {
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(r.Raw, &sent) // our own server sent it
	if h.at < len(sent.Messages) {
		v = v.ShowAs("server sent", r.Asked.At(h.path()), "%s", evidence.Compact(sent.Messages[h.at].Content))
	}
	x := r.LastExchange()
	if x == nil || x.Request == nil {
		return v
	}
	var blocks []dialect.Block
	for _, m := range x.Request.Messages {
		blocks = append(blocks, m.Content...)
	}
	received := evidence.Describe(blocks)
	if x.End.Refused != "" {
		received += "\nthe model refused it: " + x.End.Refused
	}
	return v.ShowAs("model received", x.At("messages"), "%s", received)
}

var notDropped = check.Check{
	ID: "not-dropped", Cases: []string{"result-for-nothing", "user-calls", "assistant-answers"},
	Rule:   "A tool use or result out of place is refused or reaches the model; the client does not drop it",
	Levels: check.Robust, Requests: 1,
	Cause: "the converter skips tool uses and results that it does not expect: under another role, or without the other",
	Fix:   "Return an error (-32602) for a block that has no place in the provider's format.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, h := e.Rounds[0], check.Expected[history](e)
		if len(r.Answers) == 0 && e.Revision.Modern() {
			if v := check.Unsettled(e, r); v != nil {
				return *v
			}
		}
		dropped := func(found string) check.Verdict {
			return show(check.Fail("expected %q in the model request or a refusal, found %s: %s", h.marker, found, h.wrong),
				r, h)
		}
		if x := r.LastExchange(); x != nil && x.Request != nil && x.End.Refused != "" && !x.Says(h.marker) {
			return dropped("a request without it, which the model refused")
		}
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses it: %s", how)
		}
		if r.Result() == nil {
			return check.NoResult(e, e.Rounds[0])
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if !x.Says(h.marker) {
			return dropped("neither").ShowResult(r.Result())
		}
		return check.Pass("it reached the model").At(x.Place)
	},
}

var noModelCall = check.Check{
	ID:     "no-model-call",
	Rule:   "A forbidden history costs no model call",
	Levels: check.Advice, Requests: 1,
	Cause: "the history is passed on without validation, or validated after the model answered",
	Fix:   "Validate the history before you call the model.",
	Judge: func(e *evidence.Case) check.Verdict {
		wrong := check.Expected[history](e).wrong
		return check.NoModelCall(e, e.Rounds[0], "expected no model call for a history in which "+wrong+", found one")
	},
}

var alive = check.Check{
	ID:     "alive",
	Rule:   "The session continues after a forbidden history",
	Levels: check.Robust, Requests: 1,
	Cause: "an exception about an unexpected history ends the connection, or the client",
	Fix:   "Turn the exception into an error for that one request, and continue.",
	Judge: func(e *evidence.Case) check.Verdict {
		wrong := check.Expected[history](e).wrong
		return check.Alive(e, e.Rounds[0], "expected the client to continue after a history in which "+wrong)
	},
}
