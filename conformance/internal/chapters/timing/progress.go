package timing

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The server asks for progress under a token of each type, and then sends two requests without a token. A client may
// call the tool several times at once, so each call has tokens of its own. In 2026-07-28 a sampling request has no
// token.
var progress = harness.Case{ID: "time/progress", Barrier: true, Make: func(harness.Limits) harness.Stage {
	var calls atomic.Int64
	handler := func(s *server.Session) (any, error) {
		n := calls.Add(1) + perTool*int64(len(s.Call().Tool)-len("time-progress"))
		for _, token := range []string{fmt.Sprintf(`"a-long-way-%d"`, n), fmt.Sprint(6 + n), "", ""} {
			var ask any = s.Ask("How is it going?")
			if token != "" && !s.Revision().Modern() {
				ask = WithToken(ask, token)
			}
			if _, err := s.Sample(ask); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}
	return harness.Stage{Handler: handler, Rules: []*llm.Rule{llm.When().Reply(llm.Text("Getting on with it."))}}
}}

// perTool is more calls than a client makes of one tool: the cases with this story have tokens of their own.
const perTool = 100

// WithToken adds a progress token to the params of a request.
func WithToken(ask any, token string) any {
	o := evidence.ObjectOf(jsonvalue.Marshal(ask))
	o["_meta"] = json.RawMessage(`{"progressToken":` + token + `}`)
	return o
}

func reportsProgress(e *evidence.Case) *check.Verdict {
	return check.Unless(len(e.Session.Progress()) > 0, check.NoProgress())
}

var progressEnds = check.Check{
	ID: "progress-ends", Cases: []string{"progress"},
	Rule:       "The client MUST NOT report progress of a request after its response",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"progress/12"}, Requests: 1, Needs: []check.Need{reportsProgress},
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
