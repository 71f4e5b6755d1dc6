package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var aliveWhileSampling = Check{
	ID: "alive-while-sampling", Rule: "a ping is answered while a sampling request waits for the model", Levels: inLegacy(report.Must),
	Requirements: []string{"2025-11-25/ping/01"}, Cases: []string{"ping"}, Asked: 1,
	Cause: "requests of the server are answered one after the other, on the goroutine or in the callback that reads the stream",
	Fix:   "answer a ping as it comes, whatever else is in progress, under its id and with the result {}",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		ping, pong := e.ping()
		switch {
		case ping == nil:
			return NotObserved("the server did not get as far as a ping%s", e.why(1))
		case pong == nil:
			if v := e.Session.undecided(*ping, "that the ping stays without an answer cannot be said"); v != nil {
				return *v
			}
			return Broken("a ping was not answered while a sampling request waited").See(r.Asked, "").See(*ping, "")
		case pong.Err != nil:
			return Broken("a ping was answered with the error %q (code %d)", clip(pong.Err.Message), pong.Err.Code).See(*ping, "").See(pong.Place, "%s", compact(pong.RawErr))
		case len(r.Answers) > 0 && e.Session.order[r.Answers[0].Ref] < e.Session.order[ping.Ref]:
			return Unsupported("the sampling request was answered before the server could ping: it takes a client that asks the model, and calls each tool once").See(r.Answers[0].Place, "").See(*ping, "")
		case len(r.Answers) > 0 && e.Session.order[r.Answers[0].Ref] < e.Session.order[pong.Ref]:
			return Broken("a ping was answered only after the sampling request that came before it").See(r.Asked, "").See(*ping, "").See(r.Answers[0].Place, "").See(pong.Place, "")
		}
		if v := e.empty(ping, pong); v != nil {
			return *v
		}
		return Pass("a ping was answered while a sampling request waited").See(*ping, "").See(pong.Place, "")
	},
}

// empty is the verdict on an answer to a ping that is not empty, or not the ping's; nil for one that is as it has to be. A result may hold more
// than its kind says, so that what is there beside _meta is no fault by the schema (2025-11-25, schema#emptyresult).
func (ev *Evidence) empty(ping *Place, pong *Answer) *Verdict {
	asked := ev.Session.message(ev.Session.Trace.Find(ping.Ref))
	var result map[string]json.RawMessage
	err := json.Unmarshal(pong.Result, &result)
	delete(result, "_meta")
	var v Verdict
	switch {
	case bytes.HasPrefix(asked.id, []byte(`"`)) != bytes.HasPrefix(pong.ID, []byte(`"`)): // a number that is written in another way is of basic/id-echoed
		v = Broken("the answer to a ping has not the id that the ping has").See(ping.At("id"), "%s", asked.id).See(pong.At("id"), "%s", pong.ID)
	case err != nil || result == nil:
		v = Broken("a ping was answered, and the result is no object").See(*ping, "").See(pong.At("result"), "%s", compact(pong.Result))
	case len(result) > 0:
		v = Warn("a ping was answered with a result that is not empty").See(*ping, "").See(pong.At("result"), "%s", compact(pong.Result))
	default:
		return nil
	}
	return &v
}

// ping is the server's first ping of the case, and what the client answered; nil where there is none.
func (ev *Evidence) ping() (ping *Place, pong *Answer) {
	id := ""
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Frame == nil || e.Case != ev.Case.ID || e.Frame.Lost {
			continue
		}
		m := ev.Session.message(e)
		switch {
		case ping == nil && e.Frame.Dir == trace.ToClient && m.method == "ping":
			ping, id = &Place{e.Ref(), "", "ping"}, idText(m.id)
		case ping != nil && e.Frame.Dir == trace.FromClient && m.isResponse() && idText(m.id) == id:
			return ping, &Answer{Place: Place{e.Ref(), "", "answer to the ping"}, ID: m.id, Result: m.result, Err: m.err, RawErr: m.rawErr}
		}
	}
	return ping, nil
}

// noProgress is the verdict where a client reports none.
func noProgress() Verdict {
	return NotApplicable("the client reports no progress, which is its choice")
}

var progressToken = Check{
	ID: "progress-token", Rule: "progress is reported under the token of a request that asked for it, in its type", Levels: inLegacy(report.Must),
	Requirements: []string{"2025-11-25/progress/07"}, Cases: []string{"progress"}, Asked: 1,
	Cause: "the request's id is taken for the token, or a token that is a number is written as a text",
	Fix:   "keep the token of _meta as it was written, and give it back so",
	Judge: func(e *Evidence) Verdict {
		notes := e.Session.progress()
		if len(notes) == 0 {
			return noProgress()
		}
		for _, note := range notes {
			if note.token == nil {
				return Broken("progress is reported without a token").See(note.At("params"), "%s", compact(note.raw))
			}
			if e.tokenOf(note) == nil {
				return Broken("progress is reported under %s, which is the token of no request", compact(note.token)).
					Saw("server sent", e.Rounds[0].Asked.At("_meta.progressToken"), "%s", orMissing(e.Rounds[0].token())).See(note.At("params.progressToken"), "%s", compact(note.token))
			}
		}
		return Pass("progress is reported under the tokens of the requests that asked for it").See(e.Rounds[0].Asked, "")
	},
}

var progressRises = Check{
	ID: "progress-rises", Rule: "the progress of a request rises from one report to the next", Levels: inLegacy(report.Must),
	Requirements: []string{"2025-11-25/progress/04"}, Cases: []string{"progress"}, Asked: 1,
	Cause: "each report says the same, or a new attempt begins to count anew",
	Fix:   "count on, also where the total is not known or the model is asked again",
	Judge: func(e *Evidence) Verdict {
		notes := e.Session.progress()
		if len(notes) == 0 {
			return noProgress()
		}
		byToken := map[string][]progressNote{}
		for _, note := range notes {
			byToken[string(note.token)] = append(byToken[string(note.token)], note)
		}
		for _, r := range e.allRounds() {
			if r.token() == nil {
				continue // what is reported without a token is of no request
			}
			if v := rising(byToken[string(r.token())], e.Session.overStdio()); v != nil {
				return *v
			}
		}
		return Pass("progress rises").See(e.Rounds[0].Asked, "")
	},
}

// rising is the verdict on reports under one token that do not rise; nil for those that do. Over HTTP each is a POST of its own, and two may
// overtake one another on their way: that the same progress comes twice is then proof, and that it falls is not.
func rising(notes []progressNote, inOrder bool) *Verdict {
	for i, note := range notes {
		if math.IsNaN(note.value) {
			v := Broken("a report's progress is no number").See(note.At("params.progress"), "%s", orMissing(note.written))
			return &v
		}
		for _, before := range notes[:i] {
			see := func(v Verdict) *Verdict {
				v = v.See(before.At("params.progress"), "%s", before.written).See(note.At("params.progress"), "%s", note.written)
				return &v
			}
			switch {
			case note.value == before.value:
				return see(Broken("two reports of one request say the same progress"))
			case note.value < before.value && inOrder:
				return see(Broken("the progress of a request falls"))
			case note.value < before.value:
				return see(Warn("the progress of a request falls, unless the reports overtook one another on their way"))
			}
		}
	}
	return nil
}

var progressEnds = Check{
	ID: "progress-ends", Rule: "no progress is reported on a request that was answered", Levels: inLegacy(report.Must),
	Requirements: []string{"2025-11-25/progress/14"}, Cases: []string{"progress"}, Asked: 1,
	Cause: "a ticker reports for as long as the session is open, whatever has become of the request",
	Fix:   "stop reporting before the answer is sent",
	Judge: func(e *Evidence) Verdict {
		notes := e.Session.progress()
		if len(notes) == 0 {
			return noProgress()
		}
		last := e.Rounds[0].Asked
		for _, note := range notes {
			r := e.tokenOf(note)
			if r == nil || len(r.Answers) == 0 {
				continue
			}
			if last = r.Answers[0].Place; e.longBefore(last, note.Place) {
				return Broken("progress was reported on a request that had been answered").See(last, "").See(note.Place, "%s", compact(note.raw))
			}
		}
		if v := e.Session.undecided(last, "that no more progress is reported cannot be said"); v != nil {
			return *v
		}
		return Pass("no progress is reported after the answer").See(e.Rounds[0].Asked, "")
	},
}

// longBefore reports whether an answer came before a report beyond all doubt. Over HTTP the two are POSTs that may overtake one another, so
// that the proof is another sample that was asked after the former and answered before the latter.
func (ev *Evidence) longBefore(answer, note Place) bool {
	s := ev.Session
	if s.overStdio() {
		return s.order[answer.Ref] < s.order[note.Ref]
	}
	for _, r := range ev.allRounds() {
		if s.order[r.Asked.Ref] > s.order[answer.Ref] && len(r.Answers) > 0 && s.order[r.Answers[0].Ref] < s.order[note.Ref] {
			return true
		}
	}
	return false
}

// progressNote is a report of progress that the client made.
type progressNote struct {
	Place
	raw            json.RawMessage
	token, written json.RawMessage // nil where they are missing
	value          float64         // what written says; NaN for no number
}

// progress are the reports of the session, in order.
func (s *Session) progress() []progressNote {
	var notes []progressNote
	for e, m := range s.fromClient() {
		if m.method != "notifications/progress" {
			continue
		}
		var params dialect.Object
		_ = dialect.ReadPart(m.params, &params) // what cannot be read has no token
		note := progressNote{Place: Place{e.Ref(), "", "progress"}, raw: json.RawMessage(e.Frame.Raw), token: params["progressToken"], written: params["progress"]}
		var err error
		if note.value, err = strconv.ParseFloat(string(note.written), 64); err != nil {
			note.value = math.NaN()
		}
		notes = append(notes, note)
	}
	return notes
}

// token is the progress token of a sampling request, as it was written; nil where it asks for no progress.
func (r *Round) token() json.RawMessage { return tokenIn(r.Raw) }

func tokenIn(params json.RawMessage) json.RawMessage {
	var o, meta dialect.Object
	_ = dialect.ReadPart(params, &o) // what cannot be read asks for nothing
	_ = o.Read("_meta", &meta)
	return meta["progressToken"]
}

// allRounds are the samples of every call of the case's tool.
func (ev *Evidence) allRounds() []*Round {
	var rounds []*Round
	for _, call := range ev.Session.calls[ev.Case.ID] {
		rounds = append(rounds, call.Rounds...)
	}
	return rounds
}

// tokenOf is the sample of the case that a report is about; nil where there is none.
func (ev *Evidence) tokenOf(note progressNote) *Round {
	for _, r := range ev.allRounds() {
		if token := r.token(); token != nil && sameID(token, note.token) && ev.Session.order[r.Asked.Ref] < ev.Session.order[note.Ref] {
			return r
		}
	}
	return nil
}

var tokenShape = Check{
	ID: "token-shape", Rule: "the client's own progress tokens are strings or integers", Levels: everywhere(report.Must), Whole: true, Cases: []string{"progress"},
	Requirements: []string{"2025-11-25/progress/01", "2026-07-28/progress/02"},
	Cause:        "a random number or an object is taken for the token",
	Fix:          "take a string or an integer, such as the id of the request",
	Judge: func(e *Evidence) Verdict {
		tokens := e.Session.tokens()
		for _, t := range tokens {
			if !isToken(t.token) {
				return Broken("a progress token is neither a string nor an integer").See(t.Place, "%s", compact(t.token))
			}
		}
		if len(tokens) == 0 {
			return NotApplicable("the client asks for no progress")
		}
		return Pass("the client's progress tokens are strings or integers").See(tokens[0].Place, "%s", compact(tokens[0].token))
	},
}

var tokenUnique = Check{
	ID: "token-unique", Rule: "no two of the client's requests that are in progress have one progress token", Levels: everywhere(report.Must), Whole: true, Cases: []string{"progress"},
	Requirements: []string{"2025-11-25/progress/02", "2026-07-28/progress/03"},
	Cause:        "the token is a constant, or counts anew for each kind of request",
	Fix:          "take a token that no other request has, such as the id of the request",
	Judge: func(e *Evidence) Verdict {
		var atOnce *clientToken
		var shared *Verdict
		tokens := e.Session.tokens()
		for i := range tokens {
			for j := range tokens[:i] {
				a, b := &tokens[j], &tokens[i]
				if a.until < b.from || a.session != b.session {
					continue
				}
				if string(a.id) == string(b.id) {
					return NotApplicable("several clients are at work at once, in no sessions by which their requests could be told apart")
				}
				if sameID(a.token, b.token) {
					v := Broken("two requests that are in progress have one progress token").See(a.Place, "%s", compact(a.token)).See(b.Place, "%s", compact(b.token))
					shared = cmp.Or(shared, &v)
				}
				atOnce = b
			}
		}
		switch {
		case len(tokens) == 0:
			return NotApplicable("the client asks for no progress")
		case shared != nil:
			return *shared
		case atOnce == nil:
			return NotApplicable("the client's requests with a progress token are never in progress together")
		}
		return Pass("requests that are in progress together have tokens of their own").See(atOnce.Place, "%s", compact(atOnce.token))
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
	Place
	token       json.RawMessage
	from, until int
	session     string
	id          json.RawMessage
}

// tokens are the progress tokens of the client's requests, in order. For how long one was in progress that the client has cancelled, or hung up on,
// is not to be seen: its next request may be here before the word of that, and none of those that come after it is held against it.
func (s *Session) tokens() []clientToken {
	var tokens []clientToken
	pending := map[string]int{} // by session and id, the place among the tokens
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Frame == nil || len(pending) == 0 && (e.Frame.Dir == trace.ToClient || e.Frame.Raw.IsZero()) {
			continue
		}
		m := s.message(e)
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
		token := tokenIn(m.params)
		cancelled, isCancel := cancelOf(m)
		switch ours := e.Frame.Dir == trace.ToClient; {
		case ours && m.isResponse():
			ends(m.id, true)
		case ours:
		case isCancel:
			ends(cancelled, false)
		case e.Frame.Closed && e.Case != "": // the stream of a call
			for _, at := range pending {
				if of := &s.Trace.Events[tokens[at].from]; of.Case == e.Case && of.Call == e.Call && tokens[at].session == e.Frame.Session {
					ends(tokens[at].id, false)
				}
			}
		case m.method != "" && m.id != nil && token != nil:
			pending[e.Frame.Session+" "+string(m.id)] = len(tokens)
			tokens = append(tokens, clientToken{Place{e.Ref(), "params._meta.progressToken", m.method}, token, i, len(s.Trace.Events), e.Frame.Session, m.id})
		}
	}
	return tokens
}
