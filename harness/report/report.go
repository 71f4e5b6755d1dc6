// Package report is the outcome of a run, and its encodings: results in, bytes out. Encoders are pure functions: the
// same results give the same bytes.
package report

import "slices"

// Level is how binding a check is.
type Level string

// The levels. MUST, SHOULD and MAY are those of the specification's text. Robust is our own bar for what no sentence
// spells out and every user expects; Advice is ours too, and only warns.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
	Robust Level = "ROBUST"
	Advice Level = "ADVICE"
)

// Levels returns all levels.
func Levels() []Level { return []Level{Must, Should, May, Robust, Advice} }

// Fails reports whether breaking a rule of the level fails the run; if not, it warns.
func (l Level) Fails() bool { return l == Must || l == Robust }

// Verdict is what a check came to.
type Verdict string

// The verdicts, worst first.
const (
	// Fail: a MUST or ROBUST is broken.
	Fail Verdict = "fail"
	// HarnessError: the fault is ours, and nothing is said of the client.
	HarnessError Verdict = "harness_error"
	// NotObserved: what should have been seen was not. It counts as a failure or a warning, as the level has it.
	NotObserved Verdict = "not_observed"
	// Warn: a SHOULD or ADVICE is not followed.
	Warn Verdict = "warn"
	// Info: what a MAY looks like here.
	Info Verdict = "info"
	// Pass: there is positive evidence.
	Pass Verdict = "pass"
	// Unsupported: the driver cannot bring about what the check needs.
	Unsupported Verdict = "unsupported"
	// NotApplicable: the client does not declare the feature, or does not speak the revision.
	NotApplicable Verdict = "not_applicable"
)

// Verdicts returns all verdicts, worst first. The last two come after pass: a case that does not apply takes
// nothing from one that does.
func Verdicts() []Verdict {
	return []Verdict{Fail, HarnessError, NotObserved, Warn, Info, Pass, Unsupported, NotApplicable}
}

// Results is the outcome of a run.
type Results struct {
	// Tool is the version of the program.
	Tool string `json:"tool"`
	// Client is the client under test, as it was given.
	Client string `json:"client"`
	Seed   int64  `json:"seed"`
	// Summary counts the results by verdict; every verdict is there, also with 0.
	Summary map[Verdict]int `json:"summary"`
	// Interrupted is true when the run was given up before its end: what is here is what was judged until then.
	Interrupted bool     `json:"interrupted,omitempty"`
	Results     []Result `json:"results"`
}

// Result is the outcome of one check in one revision: the worst over the check's cases.
type Result struct {
	Scenario string  `json:"scenario"`
	Revision string  `json:"revision"`
	Check    string  `json:"check"`
	Level    Level   `json:"level"`
	Verdict  Verdict `json:"verdict"`
	Message  string  `json:"message"`
	// Requirement is nil for a rule that no sentence of the specification spells out.
	Requirement *Requirement `json:"requirement"`
	// Dialects are the model wire formats in which the evidence came.
	Dialects []string `json:"dialects,omitempty"`
	// Frames are the events that the verdict rests on.
	Evidence []Evidence `json:"evidence"`
	// Around are the steps of the exchange just before and after the evidence, in order; empty where all is well.
	Around []Step `json:"around,omitempty"`
	// Usual says how clients usually come to break the check; empty where it was not broken.
	Cause string `json:"cause,omitempty"`
	// Mend says what to do about it; empty like Usual.
	Fix string `json:"fix,omitempty"`
	// Again is the command that reproduces just this.
	Reproduce string `json:"reproduce,omitempty"`
	// DurationMS is how long the check's plays took, in milliseconds.
	DurationMS int64 `json:"duration_ms"`
	// Cases are the verdicts case by case.
	Cases []CaseResult `json:"cases,omitempty"`
}

// ID is scenario and check.
func (r *Result) ID() string { return r.Scenario + "/" + r.Check }

// CaseResult is a check's verdict on one case.
type CaseResult struct {
	Case    string  `json:"case"`
	Verdict Verdict `json:"verdict"`
	Message string  `json:"message"`
}

// Requirement is what a check enforces: a sentence of the specification in our own words, and where it stands.
type Requirement struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
}

// Frame is a piece of evidence: an event of the trace and the place in it that matters.
type Evidence struct {
	// Label says what the evidence is, such as "model was given"; Event names the event in the story, such as
	// "model request 2", where the label does not.
	Label string `json:"label"`
	Event string `json:"event,omitempty"`
	// Case and Seq name the event in the trace; Seq is 0 for a note that rests on no single event.
	Case string `json:"case,omitempty"`
	Seq  int64  `json:"seq,omitempty"`
	// Path is the JSON path of what matters, such as messages[3].
	Path string `json:"path,omitempty"`
	// Text is what stands there, or what does not.
	Text string `json:"text,omitempty"`
}

// Step is one message or turn of events near the evidence.
type Step struct {
	// Case and Seq name the event in the trace.
	Case string `json:"case,omitempty"`
	Seq  int64  `json:"seq"`
	// From and To are server, client or model; To is empty for what nobody was told.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// Says is the step in a few words.
	Says string `json:"says"`
	// Marked is true for a step that the verdict rests on.
	Marked bool `json:"marked,omitempty"`
	// Excerpts show the places in its JSON that matter.
	Excerpts []Excerpt `json:"excerpts,omitempty"`
}

// Excerpt is a line of JSON around a place in it.
type Excerpt struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// Start and Length say where in the text the place is, in characters.
	Start  int `json:"start"`
	Length int `json:"length"`
	// Missing is true where nothing stands at the path: the place is then the end of what it is missing from.
	Missing bool `json:"missing,omitempty"`
}

// Failed reports whether the result fails a run.
func (r *Result) Failed(strict bool) bool {
	switch r.Verdict {
	case Fail:
		return true
	case NotObserved:
		return r.Level.Fails() || strict && r.Level != May
	case Warn:
		return strict
	}
	return false
}

// Warned reports whether the result is one to look at although it fails nothing.
func (r *Result) Warned() bool {
	return r.Verdict == Warn || r.Verdict == NotObserved && !r.Level.Fails()
}

// Failed reports whether any result fails the run. A run without a single result has failed: nothing was shown.
func (rs *Results) Failed(strict bool) bool {
	return len(rs.Results) == 0 || slices.ContainsFunc(rs.Results, func(r Result) bool { return r.Failed(strict) })
}

// Has reports whether any result has the verdict.
func (rs *Results) Has(v Verdict) bool {
	return slices.ContainsFunc(rs.Results, func(r Result) bool { return r.Verdict == v })
}

// Count sets the summary.
func (rs *Results) Count() {
	rs.Summary = map[Verdict]int{}
	for _, v := range Verdicts() {
		rs.Summary[v] = 0
	}
	for _, r := range rs.Results {
		rs.Summary[r.Verdict]++
	}
}

// Worst returns the worst of the verdicts; NotObserved where there are none.
func Worst(verdicts ...Verdict) Verdict {
	for _, v := range Verdicts() {
		if slices.Contains(verdicts, v) {
			return v
		}
	}
	return NotObserved
}
