package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Judge judges the traces of one run, in the order of the catalogue. What no trace has the cases of is not judged, and of a trace that is
// not whole nothing is said but what it shows. Its error says that there is nothing to judge.
func Judge(traces ...*trace.Trace) (*report.Results, error) {
	return judge(traces, nil)
}

// judge is Judge for a selection; nil selects everything.
func judge(traces []*trace.Trace, chosen *selection) (*report.Results, error) {
	return judgeTraces(withMade(Scenarios(), traces), traces, chosen.check)
}

// judgeTraces judges the traces of one run by the checks that are wanted; nil wants all.
func judgeTraces(scenarios Catalogue, traces []*trace.Trace, wanted func(*Scenario, *Check) bool) (*report.Results, error) {
	rs := &report.Results{Results: []report.Result{}}
	var revisions []server.Revision
	sessions := map[server.Revision][]*Session{}
	for i, s := range decodeAll(traces) {
		t := traces[i]
		if !slices.Contains(revisions, s.Revision) {
			revisions = append(revisions, s.Revision)
		}
		sessions[s.Revision] = append(sessions[s.Revision], s)
		rs.Tool, rs.Client, rs.Seed = t.Header.Tool, t.Header.Client, t.Header.Seed
	}
	slices.Sort(revisions)
	for _, revision := range revisions {
		if begun := slices.DeleteFunc(slices.Clone(sessions[revision]), func(s *Session) bool { return s.GivenUp }); len(begun) > 0 {
			begun = usual(begun)
			rs.Results = append(rs.Results, judgeClient(revision, begun)...)
			if allForeign(begun) {
				speakAnother(sessions[revision], begun[0].Tried)
			}
		}
		for i := range scenarios {
			rs.Results = append(rs.Results, judgeScenario(&scenarios[i], revision, sessions[revision], wanted)...)
		}
	}
	if len(rs.Results) == 0 {
		return nil, errors.New("there is nothing to judge: no trace holds a session")
	}
	requireSomeRevision(rs)
	rs.Count()
	return rs, nil
}

// decodeAll decodes traces side by side: of some that hold the longest requests it takes as long as all else.
func decodeAll(traces []*trace.Trace) []*Session {
	sessions := make([]*Session, len(traces))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, t := range traces {
		slots <- struct{}{}
		running.Go(func() {
			sessions[i] = Decode(t)
			<-slots
		})
	}
	running.Wait()
	return sessions
}

// usual are the sessions in which the server spoke the revision of the run; where there are none, all.
func usual(sessions []*Session) []*Session {
	if those := slices.DeleteFunc(slices.Clone(sessions), func(s *Session) bool { return len(s.Trace.Header.Speaks) > 0 }); len(those) > 0 {
		return those
	}
	return sessions
}

// speakAnother notes of sessions that were given up that their client would have spoken another revision in them, too.
func speakAnother(sessions []*Session, tried string) {
	for _, s := range sessions {
		if s.GivenUp {
			s.Foreign, s.Tried = true, tried
		}
	}
}

// judgeScenario judges one scenario in one revision.
func judgeScenario(scenario *Scenario, revision server.Revision, sessions []*Session, wanted func(*Scenario, *Check) bool) []report.Result {
	var results []report.Result
	for i := range scenario.Checks {
		check := &scenario.Checks[i]
		level, exists := check.Levels[revision]
		if !exists || !slices.Contains(scenario.Revisions, revision) || wanted != nil && !wanted(scenario, check) {
			continue
		}
		var verdicts []caseVerdict
		for _, c := range scenario.Cases {
			if !check.shownBy(c.ID) {
				continue
			}
			for _, s := range sessions {
				if ev := s.Case(c.ID); ev != nil && !superseded(ev, sessions) {
					verdicts = append(verdicts, caseVerdict{ev, decide(check, ev)})
				}
			}
		}
		if len(verdicts) > 0 {
			results = append(results, fold(scenario.ID, check, level, revision, verdicts))
		}
	}
	return results
}

// superseded reports whether a case was played again, because its session came to no good end: then that counts, and only that.
func superseded(ev *Evidence, sessions []*Session) bool {
	return ev.Case.Replayed && slices.ContainsFunc(sessions, func(s *Session) bool {
		again := s.Case(ev.Case.ID)
		return again != nil && !again.Case.Replayed
	})
}

// decide judges one case, once there is enough to judge. What keeps a case from being judged is said in its place, so that
// a check finds only evidence that it can read.
func decide(check *Check, ev *Evidence) Verdict {
	v := judgeCase(check, ev)
	why := ev.unrecorded()
	if judged := v.kind != report.NotApplicable && v.kind != report.HarnessError && v.kind != report.Unsupported; judged && why != "" && !ev.ofTheQuestion(v) {
		return Unsupported("no recording answers what this client asks of the model, so judge it by the scripts: %s", why)
	}
	return v
}

// ofTheQuestion reports whether a verdict is of what the client asked the model: that stands, whatever the model had to say to it.
func (ev *Evidence) ofTheQuestion(v Verdict) bool {
	return v.kind != report.NotObserved && slices.ContainsFunc(v.evidence, func(f report.Evidence) bool {
		return slices.ContainsFunc(ev.Rounds, func(r *Round) bool {
			return slices.ContainsFunc(r.Model, func(x *Exchange) bool { return x.Ref.Case == f.Case && x.Ref.Seq == f.Seq })
		})
	})
}

// unrecorded says why the recordings had no answer for the client; "" where they had one, or the scripts answered.
func (ev *Evidence) unrecorded() string {
	if ev.Session.Trace.Header.Replayed {
		for _, r := range ev.Rounds {
			if why := r.missed(); why != "" {
				return clip(why)
			}
		}
	}
	return ""
}

func judgeCase(check *Check, ev *Evidence) Verdict {
	s := ev.Session
	answered := 0
	for _, r := range ev.Rounds {
		if r.Result() == nil {
			break
		}
		answered++
	}
	switch {
	case len(ev.HarnessErrors) > 0:
		return verdict(report.HarnessError, "the harness broke the protocol itself: %s", []any{strings.Join(ev.HarnessErrors, "; ")})
	case s.spokeAnother():
		return NotApplicable("the client does not speak %s: it tried %s", s.Revision, s.Tried)
	case ev.NotPlayed != "":
		return NotObserved("the case was not played: %s", ev.NotPlayed)
	case check.Whole && s.Trace.Whole && !s.interrupted():
		return check.Judge(ev)
	case s.interrupted() && !ev.Over:
		return NotObserved("the run was interrupted before this was over")
	case !s.Connected:
		return NotObserved("the client never got as far as using the server (see client/connects)")
	case !s.Trace.Whole:
		return NotObserved("the trace is not whole: %d events were over the recorder's limit, so nothing is said of this", s.Trace.Dropped)
	case !ev.Called && ev.Case.Carrier != "" && ev.died() == "":
		return Unsupported("the client never made the %s: it takes one that heeds the prompts and resources in MCP_CONFORMANCE_CONTEXT (Env.Prompts, Env.Resources)", ev.Case.Carrier)
	case !ev.Called:
		return NotObserved("the client never called the tool %s%s", ev.Case.Tool, ev.died())
	case ev.Withheld != "":
		return NotApplicable("the client does not declare %s, so the server must not ask for it", ev.Withheld)
	case len(ev.Rounds) == 0 && !ev.wished() && ev.TurnedDown != "":
		return NotObserved("the server turned the call down with %s", ev.TurnedDown).See(ev.TurnedDownAt, "%s", compact(s.Trace.Find(ev.TurnedDownAt.Ref).Frame.Raw))
	case ev.takesNoPlain() && !ev.asksForTask():
		return NotApplicable("the client takes samples as tasks alone, as it may, and refused a plain one")
	case len(ev.Rounds) < max(check.Asked, check.Answered):
		return NotObserved("the play did not get as far as sampling request %d%s", len(ev.Rounds)+1, cmp.Or(ev.why(len(ev.Rounds)), ev.died()))
	case answered < check.Answered:
		return NotObserved("sampling request %d was not answered with a result%s", answered+1, ev.why(answered+1))
	}
	return check.Judge(ev)
}

// why says what became of the n-th round.
func (ev *Evidence) why(n int) string {
	if n < 1 || n > len(ev.Rounds) {
		return ""
	}
	r := ev.Rounds[n-1]
	why := fmt.Sprintf(": the answer to request %d could not be gone on from", n)
	if len(r.Answers) == 0 {
		why = fmt.Sprintf(": no answer came for request %d%s", n, ev.died())
	} else if a := r.Answers[0]; a.Err != nil {
		why = fmt.Sprintf(": request %d was answered by the error %q (code %d)", n, clip(a.Err.Message), a.Err.Code)
	}
	if x := r.LastModel(); x != nil && x.End.Refused+x.End.Miss != "" {
		why += fmt.Sprintf("; the model had refused what it was asked: %s", clip(x.End.Refused+x.End.Miss))
	}
	return why
}

// died says that the client came to a bad end before the case was over; "" where it did not. A client that hung is still waiting for
// something, which is what the verdict is about.
func (ev *Evidence) died() string {
	s := ev.Session
	if ev.Over || s.Ended == nil || s.Ended.Clean() || s.Ended.Deadline || s.Ended.Leak != "" {
		return ""
	}
	return "; " + s.ending()
}

// caseVerdict is a check's verdict on one case.
type caseVerdict struct {
	on *Evidence
	Verdict
}

// fold makes one result of the verdicts on a check's cases: the worst, with its message and frames.
func fold(scenario string, check *Check, level report.Level, revision server.Revision, verdicts []caseVerdict) report.Result {
	r := report.Result{Scenario: scenario, Revision: string(revision), Check: check.ID, Level: level,
		Requirement: check.Requirement(revision), Evidence: []report.Evidence{}}
	var kinds []report.Verdict
	for i := range verdicts {
		v := &verdicts[i]
		v.kind = settle(v.kind, level)
		kinds = append(kinds, v.kind)
		r.Cases = append(r.Cases, report.CaseResult{Case: v.on.Case.ID, Verdict: v.kind, Message: v.message})
		r.DurationMS = max(r.DurationMS, v.on.Took.Milliseconds())
		for _, d := range v.on.dialects() {
			if !slices.Contains(r.Dialects, d) {
				r.Dialects = append(r.Dialects, d)
			}
		}
	}
	r.Verdict = report.Worst(kinds...)
	worst := verdicts[slices.Index(kinds, r.Verdict)]
	r.Message = worst.message
	r.Evidence = append(r.Evidence, worst.evidence...)
	if r.Verdict == report.Info {
		r.Message = allTold(verdicts)
	}
	if others := count(kinds, r.Verdict) - 1; others > 0 && (r.Verdict == report.Fail || r.Verdict == report.Warn) {
		r.Message += fmt.Sprintf(" (the same verdict in %d more of its %d cases)", others, len(kinds))
	}
	switch r.Verdict {
	case report.Fail, report.Warn:
		r.Cause, r.Fix = check.Cause, check.Fix
		r.Around = worst.on.Session.around(r.Evidence)
	case report.NotObserved:
		r.Around = worst.on.Session.around(r.Evidence)
	}
	return r
}

// allTold are the messages of the cases that only tell something, each once.
func allTold(verdicts []caseVerdict) string {
	var messages []string
	for _, v := range verdicts {
		if v.kind == report.Info && !slices.Contains(messages, v.message) {
			messages = append(messages, v.message)
		}
	}
	return strings.Join(messages, "; ")
}

func count(kinds []report.Verdict, want report.Verdict) int {
	n := 0
	for _, k := range kinds {
		if k == want {
			n++
		}
	}
	return n
}

// settle gives a broken rule the verdict of its level.
func settle(kind report.Verdict, level report.Level) report.Verdict {
	switch {
	case kind != broken:
		return kind
	case level.Fails():
		return report.Fail
	case level == report.May:
		return report.Info
	}
	return report.Warn
}

// dialects are the wire formats in which the model was asked.
func (ev *Evidence) dialects() []string {
	var names []string
	for _, r := range ev.Rounds {
		for _, x := range r.Model {
			if x.Request != nil && !slices.Contains(names, x.Request.Dialect) {
				names = append(names, x.Request.Dialect)
			}
		}
	}
	return names
}
