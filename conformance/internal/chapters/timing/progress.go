package timing

import (
	"encoding/json"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server asks for progress under a token of each type, and then sends two requests without a token. A client may
// call the tool several times at once, so each call has tokens of its own. In 2026-07-28 a sampling request has no
// token.
var progress = harness.Case{ID: "time/progress", Barrier: true, Make: func(harness.Limits) harness.Stage {
	var calls atomic.Int64
	handler := func(s *server.Session) (any, error) {
		n := calls.Add(1)
		for _, token := range []string{fmt.Sprintf(`"a-long-way-%d"`, n), fmt.Sprint(6 + n), "", ""} {
			var ask any = s.Ask("How is it going?")
			if token != "" && !s.Revision().Modern() {
				ask = withToken(ask, token)
			}
			if _, err := s.Sample(ask); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}
	return harness.Stage{Handler: handler, Rules: llm.Script(llm.When().Reply(llm.Text("Getting on with it.")))}
}}

// withToken adds a progress token to the params of a request.
func withToken(ask any, token string) any {
	o := evidence.ObjectOf(dialect.Marshal(ask))
	o["_meta"] = json.RawMessage(`{"progressToken":` + token + `}`)
	return o
}

// reportsProgress needs a progress notification of the client.
func reportsProgress(e *evidence.Case) *check.Verdict {
	return check.Unless(len(e.Session.Progress()) > 0, check.NoProgress())
}

var progressToken = check.Check{
	ID: "progress-token", Cases: []string{"progress"},
	Rule:       "The client MUST report progress only under the token of a request, in the token's type",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/progress/07"}, Requests: 1, Needs: []check.Need{reportsProgress},
	Cause: "the client uses the id of the request as the token, or writes a token that is a number as a string",
	Fix:   "Keep the token of _meta as it was written, and return it unchanged.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, note := range e.Session.Progress() {
			if note.Token == nil {
				return check.Fail("expected a token in a progress notification, found none").
					ShowJSON(note.At("params"), note.Raw)
			}
			if requestOf(e, note) == nil {
				sent := e.Rounds[0].Asked.At("_meta.progressToken")
				return check.Fail("expected the token of a request in a progress notification, found %s",
					evidence.Compact(note.Token)).ShowAs("server sent", sent, "%s", check.OrMissing(e.Rounds[0].Token())).
					ShowJSON(note.At("params.progressToken"), note.Token)
			}
		}
		return check.Pass("the client reports progress under the tokens of requests").At(e.Rounds[0].Asked)
	},
}

var progressRises = check.Check{
	ID: "progress-rises", Cases: []string{"progress"},
	Rule:       "The client MUST increase the progress of a request with each notification",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/progress/04"}, Requests: 1, Needs: []check.Need{reportsProgress},
	Cause: "each notification has the same progress, or a new attempt starts to count again",
	Fix:   "Count on, even if the total is unknown or the client asks the model again.",
	Judge: func(e *evidence.Case) check.Verdict {
		byToken := map[string][]evidence.ProgressNote{}
		for _, note := range e.Session.Progress() {
			byToken[string(note.Token)] = append(byToken[string(note.Token)], note)
		}
		for _, r := range roundsOfAllCalls(e) {
			if r.Token() == nil {
				continue // a notification without a token belongs to no request
			}
			if v := falls(byToken[string(r.Token())], e.Session.OverStdio()); v != nil {
				return *v
			}
		}
		return check.Pass("progress increases").At(e.Rounds[0].Asked)
	},
}

// falls returns nil if the notifications under one token increase, and otherwise the verdict. Over HTTP each is a POST
// of its own, and two may overtake one another: the same progress twice is still a proof, but lower progress is not.
func falls(notes []evidence.ProgressNote, inOrder bool) *check.Verdict {
	for i, note := range notes {
		show := func(v check.Verdict) *check.Verdict {
			v = v.ShowJSON(note.At("params.progress"), note.Written)
			return &v
		}
		if math.IsNaN(note.Value) {
			return show(check.Fail("expected a number as progress, found %s", check.OrMissing(note.Written)))
		}
		for _, before := range notes[:i] {
			verdict := check.Fail
			switch {
			case note.Value > before.Value:
				continue
			case note.Value < before.Value && !inOrder:
				verdict = check.Warn // unless they overtook one another
			}
			return show(verdict("expected progress above %s, found %s", before.Written, note.Written).
				Show(before.At("params.progress"), "%s", before.Written))
		}
	}
	return nil
}

var progressEnds = check.Check{
	ID: "progress-ends", Cases: []string{"progress"},
	Rule:       "The client MUST NOT report progress of a request after its response",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/progress/14"}, Requests: 1, Needs: []check.Need{reportsProgress},
	Cause: "a ticker reports progress as long as the session is open",
	Fix:   "Stop reporting before the response is sent.",
	Judge: func(e *evidence.Case) check.Verdict {
		last := e.Rounds[0].Asked
		for _, note := range e.Session.Progress() {
			r := requestOf(e, note)
			if r == nil || len(r.Answers) == 0 {
				continue
			}
			if last = r.Answers[0].Place; longBefore(e, last, note.Place) {
				return check.Fail("expected no progress of a request after its response, found a notification").
					At(last).ShowJSON(note.Place, note.Raw)
			}
		}
		return check.UnsettledAfter(e.Session, last, "whether more progress follows is unknown").
			Or(check.Pass("the client reports no progress after the response").At(e.Rounds[0].Asked))
	},
}

// longBefore reports whether a response certainly came before a notification. Over HTTP two POSTs may overtake one
// another, so the proof is another sampling request, sent after the former and answered before the latter.
func longBefore(e *evidence.Case, response, note evidence.Place) bool {
	s := e.Session
	if s.OverStdio() {
		return s.Order[response.Ref] < s.Order[note.Ref]
	}
	for _, r := range roundsOfAllCalls(e) {
		if s.Order[r.Asked.Ref] > s.Order[response.Ref] && s.AnsweredAt(r) < s.Order[note.Ref] {
			return true
		}
	}
	return false
}

// roundsOfAllCalls returns the sampling requests of every call of the case's tool.
func roundsOfAllCalls(e *evidence.Case) []*evidence.Round {
	var rounds []*evidence.Round
	for _, call := range e.Session.Calls[e.Case.ID] {
		rounds = append(rounds, call.Rounds...)
	}
	return rounds
}

// requestOf returns the sampling request of the case whose token a notification has and that precedes it; nil for none.
func requestOf(e *evidence.Case, note evidence.ProgressNote) *evidence.Round {
	for _, r := range roundsOfAllCalls(e) {
		token, earlier := r.Token(), e.Session.Order[r.Asked.Ref] < e.Session.Order[note.Ref]
		if token != nil && earlier && evidence.SameID(token, note.Token) {
			return r
		}
	}
	return nil
}
