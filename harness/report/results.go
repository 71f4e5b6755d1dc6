// Package report holds the results of a run and their encodings, text and JSON. Encoders are pure functions: equal
// results give equal bytes. Here belong the shape of a result and how a reader sees it, and no rule about clients.
package report

import (
	"cmp"
	"slices"
)

// Format is the version of the JSON format. It changes with each change that can break a reader.
const Format = 1

// Results is the outcome of a run.
type Results struct {
	// Format is the version of this format: [Format].
	Format int `json:"format"`
	// Tool is the version of the program.
	Tool string `json:"tool"`
	// Client names the client under test.
	Client string `json:"client"`
	Seed   int64  `json:"seed"`
	// Transport is how the client reached the server: http or stdio; "" if unknown.
	Transport string `json:"transport,omitempty"`
	// Flags are the flags and the command that decide the results, and not where they go; nil for a run that was not
	// started by the command.
	Flags []string `json:"flags,omitempty"`
	// Notes say what a reader should know about the run as a whole; nil for nothing.
	Notes []string `json:"notes,omitempty"`
	// Summary counts the results by verdict. It has every verdict, some with 0.
	Summary map[Verdict]int `json:"summary"`
	// Interrupted is true when the run was cancelled: the results are those until then.
	Interrupted bool `json:"interrupted,omitempty"`
	// Whole is true for a run of all checks in its revisions.
	Whole bool `json:"whole,omitempty"`
	// Played are the cases that a run of a selection played, by revision; nil if the run is Whole.
	Played map[string][]string `json:"played,omitempty"`
	// Baseline says what the baseline did; nil for a run without one.
	Baseline *Baseline `json:"baseline,omitempty"`
	Results  []Result  `json:"results"`
}

// Result is the outcome of one check in one revision: the worst over the check's cases.
type Result struct {
	Scenario string  `json:"scenario"`
	Revision string  `json:"revision"`
	Check    string  `json:"check"`
	Level    Level   `json:"level"`
	Verdict  Verdict `json:"verdict"`
	Message  string  `json:"message"`
	// Known is set for a failure or warning that the baseline covers. It does not fail the run.
	Known *Known `json:"known,omitempty"`
	// Requirement is nil for a rule of our own.
	Requirement *Requirement `json:"requirement"`
	// Difference is the kind of difference between the two wires that the message is about, such as "lost-result"; ""
	// for a result that is about none. Others are findings of the other kinds.
	Difference string    `json:"difference,omitempty"`
	Others     []Finding `json:"others,omitempty"`
	// Dialects are the model wire formats of the evidence.
	Dialects []string `json:"dialects,omitempty"`
	// Evidence holds the events that the verdict rests on.
	Evidence []Evidence `json:"evidence"`
	// Around are the steps just before and after the evidence, in order; empty for a check that passes.
	Around []Step `json:"around,omitempty"`
	// Cause is the likely cause, and Fix what to do about it; both are empty for a check that passes.
	Cause string `json:"cause,omitempty"`
	Fix   string `json:"fix,omitempty"`
	// Prerequisite is the check whose failure left nothing to judge; "" for none.
	Prerequisite string `json:"prerequisite,omitempty"`
	// SameAs is the finding with the same cause, such as "always/model-was-given (lost-result)"; "" for none.
	SameAs string `json:"same_as,omitempty"`
	// Case is the case of the message and the evidence: of those with the verdict, the one with the fewest sampling
	// requests; "" for a check of the client as a whole.
	Case string `json:"case,omitempty"`
	// Reproduce is the command that reproduces this result alone.
	Reproduce string `json:"reproduce,omitempty"`
	// DurationMS is how long the check's cases took, in milliseconds.
	DurationMS int64 `json:"duration_ms"`
	// Cases are the verdicts by case.
	Cases []CaseResult `json:"cases,omitempty"`
	// Together are the cases that show it only in one session; nil for Case alone.
	Together []string `json:"-"`

	also []string // what has the same cause
}

// ID is scenario and check, such as "parallel/late-delta".
func (r *Result) ID() string { return r.Scenario + "/" + r.Check }

// CaseResult is a check's verdict on one case.
type CaseResult struct {
	Case    string  `json:"case"`
	Verdict Verdict `json:"verdict"`
	Message string  `json:"message"`
	// Difference is the kind of difference; "" for none.
	Difference string `json:"difference,omitempty"`
	// Chance is true if chance decides whether this case shows the difference, as where a stream is cut does. Another case
	// always shows it.
	Chance bool `json:"chance,omitempty"`
}

// Finding is what a result says of one kind of difference. Its members are those of [Result].
type Finding struct {
	Difference string `json:"difference,omitempty"`
	// Verdict is warn for a warning beside a failure; "" for the verdict of the result.
	Verdict     Verdict      `json:"verdict,omitempty"`
	Message     string       `json:"message"`
	Case        string       `json:"case,omitempty"`
	Requirement *Requirement `json:"requirement"`
	Evidence    []Evidence   `json:"evidence"`
	Around      []Step       `json:"around,omitempty"`
	Cause       string       `json:"cause,omitempty"`
	Fix         string       `json:"fix,omitempty"`
	Reproduce   string       `json:"reproduce,omitempty"`
	Together    []string     `json:"-"`
}

// Findings returns the result once for each kind of difference, with the cases of that kind: the first one is that of
// the result itself.
func (r *Result) Findings() []*Result {
	first := *r
	first.Others = nil
	all := []*Result{&first}
	for _, f := range r.Others {
		one := first
		one.Difference, one.Message, one.Case, one.Requirement = f.Difference, f.Message, f.Case, f.Requirement
		one.Evidence, one.Around, one.Cause, one.Fix, one.Reproduce = f.Evidence, f.Around, f.Cause, f.Fix, f.Reproduce
		one.Together = f.Together
		one.Verdict = cmp.Or(f.Verdict, r.Verdict)
		all = append(all, &one)
	}
	for _, one := range all {
		one.Cases = nil
		for _, c := range r.Cases {
			if one.has(c) || !slices.ContainsFunc(all, func(other *Result) bool { return other.has(c) }) {
				one.Cases = append(one.Cases, c)
			}
		}
	}
	return all
}

// has reports whether a finding is about a case.
func (r *Result) has(c CaseResult) bool {
	return c.Verdict == r.Verdict && c.Difference == r.Difference
}

// Title is the ID, with the kind of difference.
func (r *Result) Title() string {
	if r.Difference == "" {
		return r.ID()
	}
	return r.ID() + " (" + r.Difference + ")"
}

// Known is what the baseline says of a failure.
type Known struct {
	Reason string `json:"reason"`
	Issue  string `json:"issue,omitempty"`
	Owner  string `json:"owner,omitempty"`
	// Until is the last day of the entry, such as 2027-01-31; "" for no limit.
	Until string `json:"until,omitempty"`
	Flaky bool   `json:"flaky,omitempty"`
}

// Baseline counts the entries of a baseline and the results that they cover.
type Baseline struct {
	Entries int `json:"entries"`
	Known   int `json:"known"`
	// Unpinned counts the entries of older files that do not name their cases.
	Unpinned int `json:"unpinned,omitempty"`
	// Problems fail the run.
	Problems []BaselineProblem `json:"problems,omitempty"`
}

// BaselineProblem is what is wrong with an entry of the baseline.
type BaselineProblem struct {
	// Kind is stale, unmatched, expired, ambiguous, changed, or too many.
	Kind string `json:"kind"`
	// Check is the check or pattern of the entry, and Place its file and line; "" for an entry without a file.
	Check   string `json:"check"`
	Place   string `json:"place,omitempty"`
	Message string `json:"message"`
}

// Requirement is the sentence of the specification that a check enforces, in our own words, and its address.
type Requirement struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
}

// Evidence is an event of the trace and the place in it that matters.
type Evidence struct {
	// Label says what the evidence is, such as "model received". Event names the event if the label does not, such as
	// "model request 2".
	Label string `json:"label"`
	Event string `json:"event,omitempty"`
	// Case and Seq name the event in the trace; Seq is 0 for a note about no single event.
	Case string `json:"case,omitempty"`
	Seq  int64  `json:"seq,omitempty"`
	// Path is the JSON path of the place, such as messages[3], and Text what was found there.
	Path string `json:"path,omitempty"`
	Text string `json:"text,omitempty"`
}

// Step is one message or turn of events near the evidence.
type Step struct {
	// Case and Seq name the event in the trace.
	Case string `json:"case,omitempty"`
	Seq  int64  `json:"seq"`
	// From and To are server, gateway, client or model; To is empty for an event that is not a message.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// Says is the step in a few words.
	Text string `json:"says"`
	// Marked is true for a step that the verdict rests on.
	Marked bool `json:"marked,omitempty"`
	// Excerpts show the places in its JSON that matter.
	Excerpts []Excerpt `json:"excerpts,omitempty"`
}

// Excerpt is a line of JSON around a place in it.
type Excerpt struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// Start and Length locate the place in Text, in characters.
	Start  int `json:"start"`
	Length int `json:"length"`
	// Missing is true when there is no value at Path: the place is then the end of the object that lacks it.
	Missing bool `json:"missing,omitempty"`
}

// Failed reports whether the result fails a run: a known failure does not. In a strict run, warnings fail, too.
func (r *Result) Failed(strict bool) bool {
	if r.Known != nil {
		return false
	}
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

// Warned reports whether the result is a warning, and not a known one.
func (r *Result) Warned() bool {
	return r.Known == nil && (r.Verdict == Warn || r.Verdict == NotObserved && !r.Level.Fails())
}

// Failed reports whether any result fails the run, or an entry of the baseline. A run without results has failed.
func (rs *Results) Failed(strict bool) bool {
	return len(rs.Results) == 0 || rs.Baseline != nil && len(rs.Baseline.Problems) > 0 ||
		slices.ContainsFunc(rs.Results, func(r Result) bool { return r.Failed(strict) })
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
