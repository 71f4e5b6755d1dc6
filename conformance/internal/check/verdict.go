package check

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Verdict is what a check says of one case. It is made by [Pass], [Broken] and their like, and told where to look by
// [Verdict.See]; each call returns a verdict of its own.
type Verdict struct {
	Kind     report.Verdict
	Message  string
	Evidence []report.Evidence
}

// broken stands for fail or warn until the level of the check is known.
const Failed report.Verdict = "broken"

func NewVerdict(kind report.Verdict, format string, args []any) Verdict {
	return Verdict{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Pass says that there is positive evidence that the rule is kept; the message says which.
func Pass(format string, args ...any) Verdict { return NewVerdict(report.Pass, format, args) }

// Broken says that the rule is broken; the level of the check makes it a failure or a warning. The message is a sentence about
// what was expected and did not come.
func Fail(format string, args ...any) Verdict { return NewVerdict(Failed, format, args) }

// Warn says that something is not as it should be and no rule of the check's level is broken.
func Warn(format string, args ...any) Verdict { return NewVerdict(report.Warn, format, args) }

// Info tells what something that is the client's choice looks like.
func Info(format string, args ...any) Verdict { return NewVerdict(report.Info, format, args) }

// NotApplicable says why the rule has no bearing on this client.
func NotApplicable(format string, args ...any) Verdict {
	return NewVerdict(report.NotApplicable, format, args)
}

// Unsupported says what the client's driver would have to do for the rule to be judged.
func Unsupported(format string, args ...any) Verdict {
	return NewVerdict(report.Unsupported, format, args)
}

// NotObserved says that what the rule is about should have been seen and was not.
func NotObserved(format string, args ...any) Verdict {
	return NewVerdict(report.NotObserved, format, args)
}

// See adds a piece of evidence: a place in the trace, and the text that stands there or does not.
func (v Verdict) Show(p evidence.Place, format string, args ...any) Verdict {
	v.Evidence = append(slices.Clip(v.Evidence), report.Evidence{Label: p.Label, Case: p.Ref.Case, Seq: p.Ref.Seq, Path: p.Path,
		Text: evidence.Clip(fmt.Sprintf(format, args...))})
	return v
}

// Saw is See with a label of its own, for evidence that is best named by what it shows: "server sent", "model was given".
func (v Verdict) ShowAs(label string, p evidence.Place, format string, args ...any) Verdict {
	v = v.Show(p, format, args...)
	last := &v.Evidence[len(v.Evidence)-1]
	last.Label, last.Event = label, p.Label
	return v
}
