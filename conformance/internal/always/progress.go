package always

import (
	"fmt"
	"math"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// progressTokens is the rule for notifications, which only clients of the first era send.
var progressTokens = check.Check{
	ID:     "progress-tokens",
	Rule:   "The client MUST report progress only under tokens of the server's requests",
	Levels: check.InNewestLegacy(report.Must), Statements: []string{"progress/08"},
	Cause: "the request's id is used as the token, or a token that is a number is written as a string",
	Fix: "Return the progressToken of the request unchanged, with its type: 7 is not \"7\". " +
		"Without one, report nothing.",
	JudgeSession: eachProgress("all progress has a token of the server",
		func(s *evidence.Session, note evidence.ProgressNote, _ []evidence.ProgressNote) *check.Verdict {
			return check.Unless(len(reportedOn(s, note)) > 0, check.Fail(
				"expected a progressToken of a request of the server, found %s", check.OrMissing(note.Token)).
				ShowJSON(note.At("params.progressToken"), note.Raw))
		}),
}

var progressRises = check.Check{
	ID:         "progress-rises",
	Rule:       "The client MUST increase the progress of a request with each notification",
	Levels:     check.InNewestLegacy(report.Must),
	Statements: []string{"progress/05"},
	Cause:      "each notification has the same progress, it is sent twice, or a new attempt starts to count again",
	Fix:        "Count on, even if the total is unknown or the client asks the model again.",
	JudgeSession: eachProgress("progress increases",
		func(s *evidence.Session, note evidence.ProgressNote, earlier []evidence.ProgressNote) *check.Verdict {
			if len(reportedOn(s, note)) != 1 { // progress-tokens judges a token of no request
				return nil
			}
			show := func(v check.Verdict) *check.Verdict {
				return check.Instead(v.ShowJSON(note.At("params.progress"), note.Written))
			}
			if math.IsNaN(note.Value) {
				return show(check.Fail("expected a number as progress, found %s", check.OrMissing(note.Written)))
			}
			for _, before := range earlier {
				// Over HTTP each is a POST of its own, and two may overtake one another: the same progress twice is still a
				// proof, but lower progress is not.
				verdict := check.Fail
				switch {
				case note.Value > before.Value || !evidence.SameID(note.Token, before.Token):
					continue
				case note.Value < before.Value && !s.OverStdio():
					verdict = check.Warn
				}
				return show(verdict("expected progress above %s under the token %s, found %s%s", before.Written, note.Token,
					note.Written, silentToken(s, note)).
					Show(before.At("params.progress"), "%s", before.Written))
			}
			return nil
		}),
}

// eachProgress returns a judge that passes, with the message, unless fault returns a verdict for one of the client's
// progress notifications and those before it.
func eachProgress(pass string, fault func(s *evidence.Session, note evidence.ProgressNote,
	earlier []evidence.ProgressNote) *check.Verdict,
) func(*evidence.Session) check.Verdict {
	return func(s *evidence.Session) check.Verdict {
		notes := s.Progress()
		for i, note := range notes {
			if v := fault(s, note, notes[:i]); v != nil {
				return *v
			}
		}
		if len(notes) == 0 {
			return check.NoProgress()
		}
		return check.Pass("%s", pass)
	}
}

// silentToken returns "; " and the first token of an open request under which the client reported nothing, if there is
// one: its progress may have the wrong token.
func silentToken(s *evidence.Session, note evidence.ProgressNote) string {
	for _, calls := range s.Calls {
		for _, call := range calls {
			for _, r := range call.Rounds {
				token, now := r.Token(), s.Order[note.Ref]
				if token != nil && s.Order[r.Asked.Ref] < now && now < s.AnsweredAt(r) &&
					!slices.ContainsFunc(s.Progress(), func(n evidence.ProgressNote) bool { return evidence.SameID(n.Token, token) }) {
					return fmt.Sprintf("; nothing came under the token %s of another open request", token)
				}
			}
		}
	}
	return ""
}

// reportedOn returns the earlier requests of the server that have the token of a notification.
func reportedOn(s *evidence.Session, note evidence.ProgressNote) []*evidence.Round {
	var all []*evidence.Round
	for _, calls := range s.Calls {
		for _, call := range calls {
			for _, r := range call.Rounds {
				if token := r.Token(); token != nil && s.Order[r.Asked.Ref] < s.Order[note.Ref] &&
					evidence.SameID(token, note.Token) {
					all = append(all, r)
				}
			}
		}
	}
	return all
}
