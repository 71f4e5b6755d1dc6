package cancel

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// runningAsText stands for the id of the request that runs beside the cancel, as a string in place of a number.
const runningAsText = `"the running request"`

// The server cancels requests that it never sent. One has the number of the running request as its text.
var unknownRequest = gated("cancel/unknown-request", cancelUseless(func(json.RawMessage) []string {
	return []string{
		`{"requestId":987654321,"reason":"not needed"}`,
		`{"requestId":"no-such-request","reason":"not needed"}`,
		`{"requestId":` + runningAsText + `,"reason":"not needed"}`,
	}
}))

// The server cancels its first request, which the client has responded to.
var finishedRequest = gated("cancel/finished-request", cancelUseless(func(first json.RawMessage) []string {
	return []string{fmt.Sprintf(`{"requestId":%s,"reason":"not needed"}`, first)}
}))

// The server sends cancels with invalid params, the last one without any.
var notWellFormed = story.Gated(harness.Case{ID: "cancel/not-well-formed", Revisions: legacy, Hostile: true},
	cancelUseless(func(json.RawMessage) []string {
		return []string{
			`null`, `{}`, `{"requestId":null}`, `{"requestId":{"id":1}}`, `{"requestId":[]}`, `{"requestId":true}`,
			`[]`, `"all"`, ``,
		}
	}))

// cancelUseless sends cancels that name no running request. Params returns their params; they may name the first
// request, which the client has responded to.
func cancelUseless(params func(first json.RawMessage) []string) func(*story.Gate) server.Handler {
	return func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			first, err := s.Start(s.Ask("Name a bird."))
			if err != nil {
				return nil, err
			}
			if _, err := first.Wait(); err != nil {
				return nil, err
			}
			serial := false
			for i, p := range params(first.ID()) {
				ask, word := story.HeldQuestion(s, gate, i+1)
				if serial {
					gate.Open(word)
				}
				running, err := story.StartHeld(s, gate, ask, word)
				if err == nil {
					var waited bool
					p = strings.Replace(p, runningAsText, `"`+string(running.ID())+`"`, 1)
					waited, err = cancelBeside(s, p, func() { gate.Open(word) })
					serial = serial || waited
				}
				gate.Open(word)
				if err != nil || !story.WaitFor(story.Reaction, running.Done(), nil) { // the cancel ended it
					return "done", err
				}
			}
			return "done", nil
		}
	}
}

// cancelBeside sends a cancel, while the model thinks about a request that it does not name, and then another request.
// Release lets the model answer, because clients wait only so long for it. cancelBeside reports whether the client had
// to wait for that: then it handles one request at a time.
func cancelBeside(s *server.Session, params string, release func()) (waited bool, err error) {
	if params != "" {
		params = `,"params":` + params
	}
	frame := `{"jsonrpc":"2.0","method":"notifications/cancelled"` + params + `}`
	if err := s.Transport().Send([]byte(frame)); err != nil {
		return false, err
	}
	later, err := s.Start(s.Ask("Are you still there?"))
	if err != nil {
		return false, err
	}
	if waited = !story.WaitFor(story.SerialAfter, later.Done(), nil); waited {
		release()
	}
	_, err = later.Wait()
	return waited, err
}

var unknownID = ignoring(check.Check{
	ID: "unknown-id", Cases: []string{"unknown-request"},
	Rule:  "The client SHOULD ignore a cancel of a request that it never received",
	Cause: "the client treats a request that it does not find as an error; or every cancel ends everything that runs",
	Fix:   "Look up the request by its id. Ignore an id that you do not know.",
})

var finishedID = ignoring(check.Check{
	ID: "finished-id", Cases: []string{"finished-request"},
	Statements: []string{"cancellation/16"},
	Rule:       "The client SHOULD ignore a cancel of a request that it has responded to",
	Cause:      "the client keeps requests after it has responded, and responds again when they are cancelled",
	Fix:        "Forget a request when its response is sent. Ignore a cancel that comes later.",
})

var malformedCancel = ignoring(check.Check{
	ID: "malformed-cancel", Cases: []string{"not-well-formed"},
	Rule:  "The client SHOULD ignore a cancel with invalid params",
	Cause: "the client reads the params without checking their types, and the exception ends the connection or what runs",
	Fix:   "Check that requestId is a string or a number. Ignore any other cancel.",
})

// ignoring completes a check that the client ignores the cancels of its case.
func ignoring(c check.Check) check.Check {
	c.Levels = check.InLegacy(report.Should)
	c.Statements = append([]string{"cancellation/19"}, c.Statements...)
	c.Results, c.Needs, c.Judge = 1, []check.Need{uselessCancelSent}, ignoresCancel
	return c
}

// manyRequests are as many requests of a call as each client serves. It may limit how many more.
const manyRequests = 10

// uselessCancelSent needs a cancel that names no running request, and the request after it.
func uselessCancelSent(e *evidence.Case) *check.Verdict {
	_, later := roundsOfCancel(e, 0)
	return check.Unless(len(e.UselessCancels()) > 0 && later != nil, cancelNotSent(e))
}

func cancelNotSent(e *evidence.Case) check.Verdict {
	return check.NotObserved("the case ended before the cancel%s", e.WhyNoResult(len(e.Rounds)))
}

// ignoresCancel judges that a cancel does not end the request that is running beside it, and that the request after it
// gets a result.
func ignoresCancel(e *evidence.Case) check.Verdict {
	cancels := e.UselessCancels()
	show := func(v check.Verdict, n int) check.Verdict {
		return v.Show(cancels[n], "%s", e.Session.Trace.Find(cancels[n].Ref).Frame.Raw)
	}
	for n := range cancels {
		running, later := roundsOfCancel(e, n)
		if later == nil {
			break // the client did not continue, which is judged below
		}
		if later.Result() == nil {
			if later.CassetteMiss() != "" {
				return noResult(e, later)
			}
			if how := check.RefusedBeside(e, later); how != "" {
				return oneAtATime(how)
			}
			if how := check.HowRefused(e, later); how != "" && later.N > manyRequests && len(later.Model) == 0 {
				return check.Unsupported("the client may limit the requests of a call: it refused the %dth with %s", later.N, how).
					At(later.Asked)
			}
			v := check.Fail("expected a result for the request after a cancel, found none%s", e.WhyNoResult(later.N))
			return show(v, n).At(later.Asked).ShowOutput(e.Session)
		}
		if running.Result() == nil {
			if v := mayHaveEnded(e, running); v != nil {
				return *v
			}
			return show(check.Fail("expected a cancel to leave another request running, found that it ended%s",
				e.WhyNoResult(running.N)), n).At(running.Asked)
		}
	}
	last := e.Rounds[len(e.Rounds)-1].Asked
	if v := check.Survived(e, last, "the client did not continue after a cancel that names no running request"); v != nil {
		return show(*v, len(cancels)-1)
	}
	return show(check.Pass("the client ignored the cancel and continued"), 0)
}

// roundsOfCancel returns the rounds that [cancelUseless] asks for its nth cancel, from 0: the request that is running
// when the cancel is sent, and the later one that is sent after it. Both are nil if the server did not send both.
func roundsOfCancel(e *evidence.Case, n int) (running, later *evidence.Round) {
	const first, perCancel = 1, 2 // The first request finishes before all cancels; then each cancel has a pair.
	at := first + n*perCancel
	if len(e.Rounds) < at+perCancel {
		return nil, nil
	}
	return e.Rounds[at], e.Rounds[at+1]
}

// mayHaveEnded returns the verdict if a request without a result may have ended for another reason than the cancel,
// else nil.
func mayHaveEnded(e *evidence.Case, r *evidence.Round) *check.Verdict {
	if r.CassetteMiss() != "" {
		v := noResult(e, r)
		return &v
	}
	if len(r.Answers) == 0 {
		if v := check.UnsettledSince(e, r.Asked); v != nil {
			return v
		}
	}
	for _, x := range r.Model {
		if v := check.ByItsLimit(e, r, x); v != nil {
			return v
		}
	}
	return nil
}

// oneAtATime is the verdict for a client that refuses the request after a cancel because of another one.
func oneAtATime(how string) check.Verdict {
	return check.NotApplicable("the client refuses a request while another one is open: %s", how)
}

func noResult(e *evidence.Case, r *evidence.Round) check.Verdict {
	return check.NotObserved("sampling request %d has no result%s", r.N, e.WhyNoResult(r.N))
}

var cancelNotAnswered = check.Check{
	ID: "cancel-not-answered", Cases: []string{"unknown-request", "finished-request", "not-well-formed"},
	Rule:       "The client MUST NOT respond to a cancel, because it is a notification",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"basic/notifications", "basic/21"},
	Results:    1,
	Cause:      "the client sends an error for what it does not understand; or a cancelled request gets a second response",
	Fix:        "Respond only to requests. Send nothing, not even an error, for a message without an id.",
	Judge: func(e *evidence.Case) check.Verdict {
		cancels := e.UselessCancels()
		if len(cancels) == 0 {
			return cancelNotSent(e)
		}
		if a := responseTo(e, cancels); a != nil {
			raw := func(p evidence.Place) []byte { return e.Session.Trace.Find(p.Ref).Frame.Raw }
			return check.Fail("expected no response to a cancel, found %s", a.Outcome()).
				Show(cancels[0], "%s", raw(cancels[0])).Show(a.Place, "%s", raw(a.Place))
		}
		return settled(e, cancels[len(cancels)-1], "no response came")
	},
}

// responseTo returns the first response to one of the cancels: a second one to the finished request, or one that has
// the cancelled id or no id; nil without one.
func responseTo(e *evidence.Case, cancels []evidence.Place) *evidence.Answer {
	s := e.Session
	for i, a := range e.Rounds[0].Answers {
		if s.Order[a.Ref] > s.Order[cancels[0].Ref] {
			return &e.Rounds[0].Answers[i]
		}
	}
	for i, a := range s.UnmatchedResponses {
		for _, c := range cancels {
			id, _ := evidence.CancelOf(s.Message(s.Trace.Find(c.Ref)))
			noID := len(a.ID) == 0 || string(a.ID) == "null"
			if s.Order[a.Ref] > s.Order[c.Ref] && (noID || evidence.SameID(id, a.ID)) {
				return &s.UnmatchedResponses[i]
			}
		}
	}
	return nil
}
