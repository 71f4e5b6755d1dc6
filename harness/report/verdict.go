package report

import "slices"

// Level is how binding a check is.
type Level string

// MUST, SHOULD and MAY are the specification's words. Robust is our own rule about what every user expects although no
// sentence says it. Advice is ours, too, and only warns.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
	Robust Level = "ROBUST"
	Advice Level = "ADVICE"
)

// Levels returns all levels.
func Levels() []Level { return []Level{Must, Should, May, Robust, Advice} }

// Fails reports whether breaking a rule of the level fails the run. If not, it warns.
func (l Level) Fails() bool { return l == Must || l == Robust }

// Verdict is the outcome of a check.
type Verdict string

// The verdicts, worst first.
const (
	// Fail: the client breaks a MUST or ROBUST.
	Fail Verdict = "fail"
	// HarnessError: the harness is at fault, and the client is not judged.
	HarnessError Verdict = "harness_error"
	// NotObserved: an expected event is missing. It counts as a failure or a warning, by level.
	NotObserved Verdict = "not_observed"
	// Warn: the client does not follow a SHOULD or ADVICE.
	Warn Verdict = "warn"
	// Info: what the client does about a MAY.
	Info Verdict = "info"
	// Pass: there is positive evidence.
	Pass Verdict = "pass"
	// Unsupported: the driver cannot bring about the precondition.
	Unsupported Verdict = "unsupported"
	// NotApplicable: the client does not declare the feature, or does not speak the revision.
	NotApplicable Verdict = "not_applicable"
)

// Verdicts returns all verdicts, worst first. The last two come after Pass: a case that does not apply does not lower
// the verdict of one that passes.
func Verdicts() []Verdict {
	return []Verdict{Fail, HarnessError, NotObserved, Warn, Info, Pass, Unsupported, NotApplicable}
}

// Worst returns the worst of the verdicts; NotObserved for none, and for unknown ones.
func Worst(verdicts ...Verdict) Verdict {
	for _, v := range Verdicts() {
		if slices.Contains(verdicts, v) {
			return v
		}
	}
	return NotObserved
}
