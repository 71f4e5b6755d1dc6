package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Verdict is a check's verdict on one case: made by [Pass], [Fail] and their like, with evidence added by
// [Verdict.Show].
type Verdict struct {
	Kind     report.Verdict
	Message  string
	Evidence []report.Evidence
	// Reason says for programs why. It comes from an [evidence.Why] among the arguments of the message.
	Reason  evidence.Reason
	details *Details // never changed; nil for none
}

// Details are what few verdicts have.
type Details struct {
	// Case is the ID of the case to reproduce a verdict on a session or a run; "" if it takes more than one.
	Case string
	// Together are the cases that show it only in one session; nil for others.
	Together []string
	// See is the check that explains the verdict, "" for none. It comes from an [evidence.Why], too, or from
	// [Verdict.Repeats].
	See string
	// Also are verdicts on the same case about other kinds of difference.
	Also []Verdict

	unasked bool    // there is nothing to judge because the model was not asked
	advice  *advice // nil for that of the check
	shownBy string  // the case that shows it in each run; "" for every case
}

// advice replaces what the check says about a failure, if the evidence tells more.
type advice struct {
	cause, fix string
	kind       string // of difference; "" for none
	// differs is true for a difference between the two wires. It has statements of its own; nil if the specification has
	// none.
	differs    bool
	statements []string
}

// Details returns the details, empty for a verdict without.
func (v *Verdict) Details() Details {
	if v.details == nil {
		return Details{}
	}
	return *v.details
}

// with returns the verdict with other details.
func (v Verdict) with(change func(*Details)) Verdict {
	d := v.Details()
	change(&d)
	v.details = &d
	return v
}

// Failed stands for fail, warn or info until the level of the check is known (see [Settle]).
const Failed report.Verdict = "failed"

// NewVerdict returns a verdict of any kind.
func NewVerdict(kind report.Verdict, format string, args []any) Verdict {
	v := Verdict{Kind: kind, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if why, ok := arg.(evidence.Why); ok {
			v.Reason |= why.Reason
			if why.See != "" && v.Details().See == "" {
				v = v.with(func(d *Details) { d.See = why.See })
			}
		}
	}
	return v
}

// Pass is for positive evidence that the client follows the rule. The message names the evidence.
func Pass(format string, args ...any) Verdict { return NewVerdict(report.Pass, format, args) }

// Fail is for a client that breaks the rule. The level of the check decides whether that fails or warns. The message
// says what was expected, then what was found.
func Fail(format string, args ...any) Verdict { return NewVerdict(Failed, format, args) }

// Missing is [Fail] for what the server waited for, such as a response or a retry.
func Missing(format string, args ...any) Verdict { return Fail(format, args...).For(evidence.NoResult) }

// For adds a reason.
func (v Verdict) For(reason evidence.Reason) Verdict {
	v.Reason |= reason
	return v
}

// Warn is for a flaw that breaks no rule of the check's level.
func Warn(format string, args ...any) Verdict { return NewVerdict(report.Warn, format, args) }

// Info reports a choice of the client.
func Info(format string, args ...any) Verdict { return NewVerdict(report.Info, format, args) }

// NotApplicable says why the rule does not apply to the client.
func NotApplicable(format string, args ...any) Verdict {
	return NewVerdict(report.NotApplicable, format, args)
}

// Unsupported says what the client's driver would have to do so that the rule can be judged.
func Unsupported(format string, args ...any) Verdict {
	return NewVerdict(report.Unsupported, format, args)
}

// NotObserved is for a rule whose subject was expected and never came.
func NotObserved(format string, args ...any) Verdict {
	return NewVerdict(report.NotObserved, format, args)
}

// Unasked is [NotObserved] for what a request to the model would have led to. The check does not apply to a client that
// answers each request of the case, and in the whole run never asks the model.
func Unasked(format string, args ...any) Verdict {
	return NotObserved(format, args...).with(func(d *Details) { d.unasked = true })
}

// NotSent is the verdict for a case whose handler did not come to its nth sampling request. If the one before got a
// result, it had not what the handler needs.
func NotSent(ev *evidence.Case, n int) Verdict {
	why := cmp.Or(ev.WhyNoResult(len(ev.Rounds)), ev.WhySilent(ev.FirstCall))
	return Unasked("the server did not send sampling request %d%s", n, why)
}

// Show adds evidence: a place in the trace, and the text found or missed there.
func (v Verdict) Show(p evidence.Place, format string, args ...any) Verdict {
	v.Evidence = append(slices.Clip(v.Evidence), report.Evidence{Label: p.Label, Case: p.Ref.Case, Seq: p.Ref.Seq,
		Path: p.Path, Text: evidence.Clip(fmt.Sprintf(format, args...))})
	return v
}

// At adds places in the trace, without text.
func (v Verdict) At(places ...evidence.Place) Verdict {
	for _, p := range places {
		v = v.Show(p, "")
	}
	return v
}

// ShowJSON adds a place in the trace and the JSON there, compact. A nil value is shown as missing.
func (v Verdict) ShowJSON(p evidence.Place, raw []byte) Verdict {
	return v.Show(p, "%s", OrMissing(raw))
}

// ShowResult adds a result.
func (v Verdict) ShowResult(a *evidence.Answer) Verdict {
	return v.Show(a.Place, "%s", OrMissing(a.Result))
}

// ShowMembers adds members of a result.
func (v Verdict) ShowMembers(a *evidence.Answer, names ...string) Verdict {
	for _, name := range names {
		v = v.ShowJSON(a.At(name), a.Member(name))
	}
	return v
}

// ShowUses adds the tool uses of a result.
func (v Verdict) ShowUses(a *evidence.Answer) Verdict {
	return v.Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
}

// ShowAs is Show with a label that says what the evidence means, such as "server sent" or "model received".
func (v Verdict) ShowAs(label string, p evidence.Place, format string, args ...any) Verdict {
	v = v.Show(p, format, args...)
	last := &v.Evidence[len(v.Evidence)-1]
	last.Label, last.Event = label, p.Label
	return v
}

// Because replaces the cause and the fix of the check.
func (v Verdict) Because(cause, fix string) Verdict {
	return v.with(func(d *Details) { d.advice = &advice{cause: cause, fix: fix} })
}

// Differs is Because for a kind of difference between the two wires. It also replaces the statements of the check.
func (v Verdict) Differs(kind, cause, fix string, statements []string) Verdict {
	told := &advice{kind: kind, cause: cause, fix: fix, differs: true, statements: statements}
	return v.with(func(d *Details) { d.advice = told })
}

// In names the case that reproduces a verdict on a session or a run.
func (v Verdict) In(caseID string) Verdict { return v.with(func(d *Details) { d.Case = caseID }) }

// Repeats names the check whose rule a verdict is about.
func (v Verdict) Repeats(id string) Verdict { return v.with(func(d *Details) { d.See = id }) }

// ShownBy names the case that shows it in each run. In others, it depends on chance.
func (v Verdict) ShownBy(caseID string) Verdict {
	return v.with(func(d *Details) { d.shownBy = caseID })
}

// Together names the cases that show it only in one session.
func (v Verdict) Together(cases ...string) Verdict {
	return v.with(func(d *Details) { d.Together = cases })
}

// Also adds verdicts on the same case about other kinds of difference.
func (v Verdict) Also(others []Verdict) Verdict { return v.with(func(d *Details) { d.Also = others }) }

// Advise returns the likely cause of a failure and the fix: those of the verdict, else those of its reason, else those
// of the check.
func (v *Verdict) Advise(c *Check) (cause, fix string) {
	switch {
	case v.Details().advice != nil:
		return v.details.advice.cause, v.details.advice.fix
	case v.Reason.Has(evidence.ServerRefused):
		return "a message of the client breaks the protocol, so the server did not take it",
			"Correct the message that the server refused, as its error says."
	case v.Reason.Has(evidence.ModelRefused):
		return "the client's request to the model is invalid for the provider",
			"Correct the request to the model, as the provider's error says."
	}
	return c.Cause, c.Fix
}

func (v *Verdict) difference() string {
	if told := v.Details().advice; told != nil {
		return told.kind
	}
	return ""
}

// Settle turns Failed into the verdict of the level. Other verdicts stay.
func Settle(kind report.Verdict, level report.Level) report.Verdict {
	switch {
	case kind != Failed:
		return kind
	case level.Fails():
		return report.Fail
	case level == report.May:
		return report.Info
	}
	return report.Warn
}

// Or returns the verdict, or the other one if it is nil.
func (v *Verdict) Or(other Verdict) Verdict {
	if v != nil {
		return *v
	}
	return other
}

// Instead returns the verdict of a precondition that does not hold.
func Instead(v Verdict) *Verdict { return &v }
