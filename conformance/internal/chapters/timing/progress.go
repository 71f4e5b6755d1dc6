package timing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strconv"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var aliveWhileSampling = check.Check{
	ID: "alive-while-sampling", Rule: "a ping is answered while a sampling request waits for the model", Levels: check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/ping/01"}, Cases: []string{"ping"}, Requests: 1,
	Cause: "requests of the server are answered one after the other, on the goroutine or in the callback that reads the stream",
	Fix:   "answer a ping as it comes, whatever else is in progress, under its id and with the result {}",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		ping, pong := ping(e)
		switch {
		case ping == nil:
			return check.NotObserved("the server did not get as far as a ping%s", e.WhyNoResult(1))
		case pong == nil:
			if v := check.UnsettledAfter(e.Session, *ping, "that the ping stays without an answer cannot be said"); v != nil {
				return *v
			}
			return check.Fail("a ping was not answered while a sampling request waited").Show(r.Asked, "").Show(*ping, "")
		case pong.Err != nil:
			return check.Fail("a ping was answered with the error %q (code %d)", evidence.Clip(pong.Err.Message), pong.Err.Code).Show(*ping, "").Show(pong.Place, "%s", evidence.Compact(pong.RawErr))
		case len(r.Answers) > 0 && e.Session.Order[r.Answers[0].Ref] < e.Session.Order[ping.Ref]:
			return check.Unsupported("the sampling request was answered before the server could ping: it takes a client that asks the model, and calls each tool once").Show(r.Answers[0].Place, "").Show(*ping, "")
		case len(r.Answers) > 0 && e.Session.Order[r.Answers[0].Ref] < e.Session.Order[pong.Ref]:
			return check.Fail("a ping was answered only after the sampling request that came before it").Show(r.Asked, "").Show(*ping, "").Show(r.Answers[0].Place, "").Show(pong.Place, "")
		}
		if v := empty(e, ping, pong); v != nil {
			return *v
		}
		return check.Pass("a ping was answered while a sampling request waited").Show(*ping, "").Show(pong.Place, "")
	},
}

// empty is the verdict on an answer to a ping that is not empty, or not the ping's; nil for one that is as it has to be. A result may hold more
// than its kind says, so that what is there beside _meta is no fault by the schema (2025-11-25, schema#emptyresult).
func empty(ev *evidence.Case, ping *evidence.Place, pong *evidence.Answer) *check.Verdict {
	asked := ev.Session.Message(ev.Session.Trace.Find(ping.Ref))
	var result map[string]json.RawMessage
	err := json.Unmarshal(pong.Result, &result)
	delete(result, "_meta")
	var v check.Verdict
	switch {
	case bytes.HasPrefix(asked.ID, []byte(`"`)) != bytes.HasPrefix(pong.ID, []byte(`"`)): // a number that is written in another way is of basic/id-echoed
		v = check.Fail("the answer to a ping has not the id that the ping has").Show(ping.At("id"), "%s", asked.ID).Show(pong.At("id"), "%s", pong.ID)
	case err != nil || result == nil:
		v = check.Fail("a ping was answered, and the result is no object").Show(*ping, "").Show(pong.At("result"), "%s", evidence.Compact(pong.Result))
	case len(result) > 0:
		v = check.Warn("a ping was answered with a result that is not empty").Show(*ping, "").Show(pong.At("result"), "%s", evidence.Compact(pong.Result))
	default:
		return nil
	}
	return &v
}

// ping is the server's first ping of the case, and what the client answered; nil where there is none.
func ping(ev *evidence.Case) (ping *evidence.Place, pong *evidence.Answer) {
	id := ""
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Frame == nil || e.Case != ev.Case.ID || e.Frame.Lost {
			continue
		}
		m := ev.Session.Message(e)
		switch {
		case ping == nil && e.Frame.Dir == trace.ToClient && m.Method == "ping":
			ping, id = &evidence.Place{Ref: e.Ref(), Label: "ping"}, evidence.IDText(m.ID)
		case ping != nil && e.Frame.Dir == trace.FromClient && m.IsResponse() && evidence.IDText(m.ID) == id:
			return ping, &evidence.Answer{Place: evidence.Place{Ref: e.Ref(), Label: "answer to the ping"}, ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr}
		}
	}
	return ping, nil
}

var progressToken = check.Check{
	ID: "progress-token", Rule: "progress is reported under the token of a request that asked for it, in its type", Levels: check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/progress/07"}, Cases: []string{"progress"}, Requests: 1,
	Cause: "the request's id is taken for the token, or a token that is a number is written as a text",
	Fix:   "keep the token of _meta as it was written, and give it back so",
	Judge: func(e *evidence.Case) check.Verdict {
		notes := e.Session.Progress()
		if len(notes) == 0 {
			return check.NoProgress()
		}
		for _, note := range notes {
			if note.Token == nil {
				return check.Fail("progress is reported without a token").Show(note.At("params"), "%s", evidence.Compact(note.Raw))
			}
			if tokenOf(e, note) == nil {
				return check.Fail("progress is reported under %s, which is the token of no request", evidence.Compact(note.Token)).
					ShowAs("server sent", e.Rounds[0].Asked.At("_meta.progressToken"), "%s", check.OrMissing(e.Rounds[0].Token())).Show(note.At("params.progressToken"), "%s", evidence.Compact(note.Token))
			}
		}
		return check.Pass("progress is reported under the tokens of the requests that asked for it").Show(e.Rounds[0].Asked, "")
	},
}

var progressRises = check.Check{
	ID: "progress-rises", Rule: "the progress of a request rises from one report to the next", Levels: check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/progress/04"}, Cases: []string{"progress"}, Requests: 1,
	Cause: "each report says the same, or a new attempt begins to count anew",
	Fix:   "count on, also where the total is not known or the model is asked again",
	Judge: func(e *evidence.Case) check.Verdict {
		notes := e.Session.Progress()
		if len(notes) == 0 {
			return check.NoProgress()
		}
		byToken := map[string][]evidence.ProgressNote{}
		for _, note := range notes {
			byToken[string(note.Token)] = append(byToken[string(note.Token)], note)
		}
		for _, r := range allRounds(e) {
			if r.Token() == nil {
				continue // what is reported without a token is of no request
			}
			if v := rising(byToken[string(r.Token())], e.Session.OverStdio()); v != nil {
				return *v
			}
		}
		return check.Pass("progress rises").Show(e.Rounds[0].Asked, "")
	},
}

// rising is the verdict on reports under one token that do not rise; nil for those that do. Over HTTP each is a POST of its own, and two may
// overtake one another on their way: that the same progress comes twice is then proof, and that it falls is not.
func rising(notes []evidence.ProgressNote, inOrder bool) *check.Verdict {
	for i, note := range notes {
		if math.IsNaN(note.Value) {
			v := check.Fail("a report's progress is no number").Show(note.At("params.progress"), "%s", check.OrMissing(note.Written))
			return &v
		}
		for _, before := range notes[:i] {
			see := func(v check.Verdict) *check.Verdict {
				v = v.Show(before.At("params.progress"), "%s", before.Written).Show(note.At("params.progress"), "%s", note.Written)
				return &v
			}
			switch {
			case note.Value == before.Value:
				return see(check.Fail("two reports of one request say the same progress"))
			case note.Value < before.Value && inOrder:
				return see(check.Fail("the progress of a request falls"))
			case note.Value < before.Value:
				return see(check.Warn("the progress of a request falls, unless the reports overtook one another on their way"))
			}
		}
	}
	return nil
}

var progressEnds = check.Check{
	ID: "progress-ends", Rule: "no progress is reported on a request that was answered", Levels: check.InLegacy(report.Must),
	Statements: []string{"2025-11-25/progress/14"}, Cases: []string{"progress"}, Requests: 1,
	Cause: "a ticker reports for as long as the session is open, whatever has become of the request",
	Fix:   "stop reporting before the answer is sent",
	Judge: func(e *evidence.Case) check.Verdict {
		notes := e.Session.Progress()
		if len(notes) == 0 {
			return check.NoProgress()
		}
		last := e.Rounds[0].Asked
		for _, note := range notes {
			r := tokenOf(e, note)
			if r == nil || len(r.Answers) == 0 {
				continue
			}
			if last = r.Answers[0].Place; longBefore(e, last, note.Place) {
				return check.Fail("progress was reported on a request that had been answered").Show(last, "").Show(note.Place, "%s", evidence.Compact(note.Raw))
			}
		}
		if v := check.UnsettledAfter(e.Session, last, "that no more progress is reported cannot be said"); v != nil {
			return *v
		}
		return check.Pass("no progress is reported after the answer").Show(e.Rounds[0].Asked, "")
	},
}

// longBefore reports whether an answer came before a report beyond all doubt. Over HTTP the two are POSTs that may overtake one another, so
// that the proof is another sample that was asked after the former and answered before the latter.
func longBefore(ev *evidence.Case, answer, note evidence.Place) bool {
	s := ev.Session
	if s.OverStdio() {
		return s.Order[answer.Ref] < s.Order[note.Ref]
	}
	for _, r := range allRounds(ev) {
		if s.Order[r.Asked.Ref] > s.Order[answer.Ref] && len(r.Answers) > 0 && s.Order[r.Answers[0].Ref] < s.Order[note.Ref] {
			return true
		}
	}
	return false
}

// allRounds are the samples of every call of the case's tool.
func allRounds(ev *evidence.Case) []*evidence.Round {
	var rounds []*evidence.Round
	for _, call := range ev.Session.Calls[ev.Case.ID] {
		rounds = append(rounds, call.Rounds...)
	}
	return rounds
}

// tokenOf is the sample of the case that a report is about; nil where there is none.
func tokenOf(ev *evidence.Case, note evidence.ProgressNote) *evidence.Round {
	for _, r := range allRounds(ev) {
		if token := r.Token(); token != nil && evidence.SameID(token, note.Token) && ev.Session.Order[r.Asked.Ref] < ev.Session.Order[note.Ref] {
			return r
		}
	}
	return nil
}

var tokenShape = check.Check{
	ID: "token-shape", Rule: "the client's own progress tokens are strings or integers", Levels: check.Everywhere(report.Must), Whole: true, Cases: []string{"progress"},
	Statements: []string{"2025-11-25/progress/01", "2026-07-28/progress/02"},
	Cause:      "a random number or an object is taken for the token",
	Fix:        "take a string or an integer, such as the id of the request",
	Judge: func(e *evidence.Case) check.Verdict {
		tokens := tokens(e.Session)
		for _, t := range tokens {
			if !isToken(t.token) {
				return check.Fail("a progress token is neither a string nor an integer").Show(t.Place, "%s", evidence.Compact(t.token))
			}
		}
		if len(tokens) == 0 {
			return check.NotApplicable("the client asks for no progress")
		}
		return check.Pass("the client's progress tokens are strings or integers").Show(tokens[0].Place, "%s", evidence.Compact(tokens[0].token))
	},
}

var tokenUnique = check.Check{
	ID: "token-unique", Rule: "no two of the client's requests that are in progress have one progress token", Levels: check.Everywhere(report.Must), Whole: true, Cases: []string{"progress"},
	Statements: []string{"2025-11-25/progress/02", "2026-07-28/progress/03"},
	Cause:      "the token is a constant, or counts anew for each kind of request",
	Fix:        "take a token that no other request has, such as the id of the request",
	Judge: func(e *evidence.Case) check.Verdict {
		var atOnce *clientToken
		var shared *check.Verdict
		tokens := tokens(e.Session)
		for i := range tokens {
			for j := range tokens[:i] {
				a, b := &tokens[j], &tokens[i]
				if a.until < b.from || a.session != b.session {
					continue
				}
				if string(a.id) == string(b.id) {
					return check.NotApplicable("several clients are at work at once, in no sessions by which their requests could be told apart")
				}
				if evidence.SameID(a.token, b.token) {
					v := check.Fail("two requests that are in progress have one progress token").Show(a.Place, "%s", evidence.Compact(a.token)).Show(b.Place, "%s", evidence.Compact(b.token))
					shared = cmp.Or(shared, &v)
				}
				atOnce = b
			}
		}
		switch {
		case len(tokens) == 0:
			return check.NotApplicable("the client asks for no progress")
		case shared != nil:
			return *shared
		case atOnce == nil:
			return check.NotApplicable("the client's requests with a progress token are never in progress together")
		}
		return check.Pass("requests that are in progress together have tokens of their own").Show(atOnce.Place, "%s", evidence.Compact(atOnce.token))
	},
}

// isToken reports whether JSON is a string or an integer.
func isToken(raw json.RawMessage) bool {
	var text string
	if string(raw) == "null" {
		return false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return json.Unmarshal(raw, &text) == nil || err == nil && f == math.Trunc(f)
}

// clientToken is the progress token of a request of the client's, and the places between which that was in progress.
type clientToken struct {
	evidence.Place
	token       json.RawMessage
	from, until int
	session     string
	id          json.RawMessage
}

// tokens are the progress tokens of the client's requests, in order. For how long one was in progress that the client has cancelled, or hung up on,
// is not to be seen: its next request may be here before the word of that, and none of those that come after it is held against it.
func tokens(s *evidence.Session) []clientToken {
	var tokens []clientToken
	pending := map[string]int{} // by session and id, the place among the tokens
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Frame == nil || len(pending) == 0 && (e.Frame.Dir == trace.ToClient || e.Frame.Raw.IsZero()) {
			continue
		}
		m := s.Message(e)
		ends := func(id json.RawMessage, answered bool) {
			key := e.Frame.Session + " " + string(id)
			at, ok := pending[key]
			if !ok {
				return
			}
			delete(pending, key)
			if tokens[at].until = i; !answered {
				tokens[at].until = tokens[at].from
			}
		}
		token := evidence.TokenIn(m.Params)
		cancelled, isCancel := evidence.CancelOf(m)
		switch ours := e.Frame.Dir == trace.ToClient; {
		case ours && m.IsResponse():
			ends(m.ID, true)
		case ours:
		case isCancel:
			ends(cancelled, false)
		case e.Frame.Closed && e.Case != "": // the stream of a call
			for _, at := range pending {
				if of := &s.Trace.Events[tokens[at].from]; of.Case == e.Case && of.Call == e.Call && tokens[at].session == e.Frame.Session {
					ends(tokens[at].id, false)
				}
			}
		case m.Method != "" && m.ID != nil && token != nil:
			pending[e.Frame.Session+" "+string(m.ID)] = len(tokens)
			tokens = append(tokens, clientToken{evidence.Place{Ref: e.Ref(), Path: "params._meta.progressToken", Label: m.Method}, token, i, len(s.Trace.Events), e.Frame.Session, m.ID})
		}
	}
	return tokens
}
