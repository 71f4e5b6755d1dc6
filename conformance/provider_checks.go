package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var failureIsError = Check{
	ID: "is-error", Rule: "where the provider fails the client answers with an error, and does not make up an answer", Levels: everywhere(report.Robust), Asked: 1,
	Cases: idsOf(statuses, []failure{once429}),
	Cause: "what the provider says of its failure is put into a message, or the failure leaves a message behind that is empty",
	Fix:   "answer with an error where there is no answer of the model's; in 2026-07-28 do not fulfil the input request",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := e.withoutResult(r); v != nil {
			return *v
		}
		if r.wholly() {
			return Pass("after %s the client asked again, and got an answer", f.called)
		}
		return e.madeUp(r)
	},
}

// withoutResult returns the verdict where the client says that there was an error, where the model was not asked, or where the client says nothing
// of its failure; nil where there is a result to look at.
func (ev *Evidence) withoutResult(r *Round) *Verdict {
	if how := ev.declined(r); how != "" {
		v := Pass("%s is an error: %s", failureOf(ev).called, how)
		return &v
	}
	if _, missing := theModel(r); missing != nil {
		return missing
	}
	if r.Result() != nil {
		return nil
	}
	if v := ev.stillAsking(r); v != nil {
		return v
	}
	v := NotObserved("sampling request %d was not answered%s", r.N, ev.why(r.N))
	return &v
}

// stillAsking returns the verdict on a client that had not made up its mind when its time was up, as it may have meant to ask the model again; nil
// for any other.
func (ev *Evidence) stillAsking(r *Round) *Verdict {
	n := len(r.Model)
	if n == 0 || len(r.Answers) > 0 || ev.Session.Ended == nil || !ev.Session.Ended.Deadline {
		return nil
	}
	v := NotObserved("no answer came within the client's time, after %s of the model: an error is due, and one that comes later needs a longer time-out", requests(n)).
		See(r.Asked, "").See(r.Model[n-1].Place, "%s", r.Model[n-1].became())
	return &v
}

// unasked returns the verdict where the client never asked the model in the case, in none of its calls, or asked for what no recording has:
// nothing failed then; nil where it did.
// Which of several calls at once asked is not to be told where no answer came of it.
func (ev *Evidence) unasked() *Verdict {
	if why := ev.Rounds[0].missed(); why != "" {
		v := NotObserved("the model had nothing to say to what it was asked, neither an answer nor a failure: %s", clip(why))
		return &v
	}
	if len(ev.Session.exchanges[ev.Case.ID]) > 0 {
		return nil
	}
	v := NotObserved("the model was never asked: nothing reached the fake model under the case's mark")
	return &v
}

// unsaid returns the verdict where it cannot be said that nothing else followed a failure; nil where it can.
func (ev *Evidence) unsaid(what string) *Verdict {
	why := ev.Session.Unsettled(ev.Rounds[0].Asked)
	if why == "" {
		return nil
	}
	v := NotObserved("%s cannot be said: %s", what, why)
	if ev.Session.outOfOrder() {
		v = Unsupported("%s cannot be said: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: %s", what, why)
	}
	return &v
}

// outOfOrder reports whether a session ended well that had its barrier before something else.
func (s *Session) outOfOrder() bool {
	barrier := s.Case(harness.BarrierID)
	return s.Trace.Whole && s.Ended != nil && s.Ended.Clean() && barrier != nil && barrier.Called
}

// endsBehind reports whether the session's last tool, the barrier, was called behind a round.
func (s *Session) endsBehind(r *Round) bool {
	return s.order[s.Case(harness.BarrierID).calledAt] > s.order[r.Asked.Ref]
}

// requests counts requests, of very many only that they are.
func requests(n int) string {
	const most = 10
	switch {
	case n == 1:
		return "1 request"
	case n > most:
		return fmt.Sprintf("more than %d requests", most)
	}
	return fmt.Sprintf("%d requests", n)
}

// wholly reports whether the model answered one of the round's requests with all that it had to say.
func (r *Round) wholly() bool {
	return slices.ContainsFunc(r.completed(), func(x *Exchange) bool { return x.End.Fault == "" })
}

// madeUp is the verdict on a result for which the model said nothing.
func (ev *Evidence) madeUp(r *Round) Verdict {
	a, x, f := r.Result(), r.LastModel(), failureOf(ev)
	if isNone(a) {
		v := Broken("there was %s, and the client gave a result that holds no answer: an error is due", f.called)
		if ev.Revision.Modern() {
			v = Broken("there was %s, and the retry has %s where an answer belongs: an input response is a result, and there is none", f.called, noneText(a))
		}
		return v.See(x.Place, "%s", x.became()).See(a.Place, "%s", compact(a.Result))
	}
	v := Broken("there was %s, and the client made an answer of it", f.called).See(x.Place, "%s", x.became())
	for _, name := range []string{"role", "model", "content"} {
		v = v.See(a.At(name), "%s", orMissing(a.member(name)))
	}
	return v
}

// became says what became of a request to the model.
func (x *Exchange) became() string {
	switch {
	case x.End.Fault != "":
		return "the model's answer was cut on purpose: " + x.End.Fault
	case x.End.Status == 0:
		return "the model gave no answer"
	}
	return fmt.Sprintf("the model's answer was HTTP %d", x.End.Status)
}

var failedMRTR = Check{
	ID: "failed-mrtr", Rule: "a call is not sent again without the input for which the provider failed", Levels: inModern(report.Must), Asked: 1,
	Cases: idsOf(statuses, cuts), Requirements: []string{"2026-07-28/mrtr/22"},
	Cause: "the input requests that failed are left out, or null, and the call is sent again with the rest",
	Fix:   "send a call again only with an answer under every key that it was asked for; else end it, and tell the person or the model",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := e.sentWithout("after %s the call was sent again without what it was asked for", f.called); v != nil {
			return *v
		}
		if v := e.withoutResult(r); v != nil {
			return *v
		}
		return Pass("the retry has what it was asked for").See(r.Result().Place, "")
	},
}

var partialNotWhole = Check{
	ID: "partial-not-whole", Rule: "an answer that breaks off is an error, or says that it is not whole", Levels: everywhere(report.Robust), Asked: 1,
	Cases: idsOf(cuts),
	Cause: "a stream is taken for whole where it ends, whether or not its last event has come; some providers' SDKs say nothing of it",
	Fix:   "see to it that the provider's last event, or its finish reason, has come, and answer with an error where it has not",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := e.withoutResult(r); v != nil {
			return *v
		}
		a, x := r.Result(), r.LastModel()
		if r.wholly() {
			return Pass("after %s the client asked again, and got an answer", f.called)
		}
		if x.End.Status != 200 || isNone(a) {
			return e.madeUp(r)
		}
		reason, told := a.text("stopReason")
		at := a.At("stopReason")
		said := func(v Verdict) Verdict {
			return v.See(x.Place, "%s", x.became()).See(at, "%s", orMissing(a.member("stopReason"))).See(a.At("content"), "%s", compact(a.member("content")))
		}
		switch {
		case told && reason == string(dialect.StopMaxTokens):
			return said(Warn("an answer that broke off is said to have come to its limit"))
		case told && !slices.Contains(standardReasons, reason) && ofTheModel(a):
			return Pass("the answer says that it is not whole: %s", reason).See(at, "%q", reason)
		case told && !slices.Contains(standardReasons, reason):
			return said(Broken("there was %s, and the answer is not the model's", f.called))
		}
		return said(Broken("there was %s, and what had come of it is passed off as the whole", f.called))
	},
}

// ofTheModel reports whether an answer says nothing, or something of what the model had to say before it was cut off: its first word is enough.
func ofTheModel(a *Answer) bool {
	first, _, _ := strings.Cut(provided, " ")
	said := strings.TrimSpace(dialect.PlainText(a.blocks()))
	return said == "" || strings.Contains(said, first)
}

// standardReasons are the stop reasons that MCP has a word for.
var standardReasons = []string{string(dialect.EndTurn), string(dialect.StopForTool), string(dialect.StopMaxTokens), string(dialect.StopStopSequence)}

var refusalTold = Check{
	ID: "refusal-told", Rule: "an answer that was refused or filtered is an error, or says so", Levels: everywhere(report.Robust), Asked: 1,
	Cases: idsOf(unwillings),
	Cause: "stop reasons that the client does not know become endTurn, or a refusal that stands apart from the text is lost",
	Fix:   "hand on the provider's word for it as the stop reason, and what the model says in refusing as its text",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := e.withoutResult(r); v != nil {
			return *v
		}
		a, unread := e.readable(r)
		if unread != nil {
			return *unread
		}
		x := r.LastModel()
		reason, told := a.text("stopReason")
		at := a.At("stopReason")
		own := told && !slices.Contains(standardReasons, reason)
		switch ends := x.endsRefusal(); {
		case own:
			return Pass("the answer says why it is none: %s", reason).See(at, "%q", reason)
		case ends && f.id == "content-filter":
			return NotApplicable("the provider has no word for a content filter")
		case ends && holds(a.blocks(), declining):
			return Pass("the provider calls it an end, and what the model says in refusing is passed on").See(a.At("content"), "%q", declining)
		case ends:
			return Broken("what the model said in refusing is lost, and nothing says that it refused").Saw("model said", x.Place, "%q", declining).
				See(a.At("content"), "%s", compact(a.member("content"))).See(at, "%s", orMissing(a.member("stopReason")))
		case !told:
			return Warn("the provider says that there was %s, and the answer leaves its stop reason out", f.called).See(a.At("content"), "%s", compact(a.member("content")))
		}
		return Broken("there was %s, and the answer says %s", f.called, reason).See(at, "%q", reason).See(a.At("content"), "%s", compact(a.member("content")))
	},
}

// endsRefusal reports whether the provider's own word for why it stopped is that of any other end: OpenAI and those that are compatible with it
// tell a refusal by where it stands, if at all, and Ollama has one word for everything.
func (x *Exchange) endsRefusal() bool {
	for _, document := range documents(x.answer) {
		var o dialect.Object
		if json.Unmarshal(document, &o) != nil {
			continue
		}
		var choices []struct {
			FinishReason string `json:"finish_reason"`
		}
		_ = o.Read("choices", &choices) // of another dialect, where it cannot be read
		for _, c := range choices {
			if c.FinishReason == "stop" {
				return true
			}
		}
		var response dialect.Object
		_ = o.Read("response", &response)
		if o.Text("done_reason") == "stop" || o.Text("status") == "completed" || response.Text("status") == "completed" {
			return true
		}
	}
	return false
}

var askedAgain = Check{
	ID: "retried", Rule: "whether the client asks again where the provider fails for a while, and when", Levels: everywhere(report.May), Asked: 1,
	Cases: slices.DeleteFunc(idsOf(statuses, []failure{once429}), func(id string) bool {
		return slices.Contains([]string{"unauthorized", "forbidden", "not-found", "bad-request"}, id)
	}),
	Cause: "nothing is broken here: whether and how often to try again is the client's choice",
	Fix:   "wait as long as Retry-After asks, and give up after a few tries",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if missing := e.unasked(); missing != nil {
			return *missing
		}
		n := len(r.Model)
		switch n {
		case 0:
			return NotApplicable("the tool was called several times at once, and which call asked the model is not to be told")
		case 1:
			return Info("after %s the model was not asked again", f.called).See(r.Model[0].Place, "")
		}
		v := Info("after %s the model was asked again: %s%s", f.called, requests(n), e.waited(r))
		for _, x := range r.Model[:min(n, 3)] {
			v = v.See(x.Place, "%s", x.became())
		}
		return v
	},
}

// waited says whether a client that asked again did so no earlier than it was asked to; "" where it was not asked to.
func (ev *Evidence) waited(r *Round) string {
	const asked = retryAfter * time.Second * 9 / 10 // timers and clocks differ by a little
	limited, early := false, false
	for i, x := range r.Model[:len(r.Model)-1] {
		if x.End.Status == 429 {
			limited = true
			events := ev.Session.Trace.Events
			early = early || events[r.Model[i+1].began].At-events[x.behind].At < asked
		}
	}
	switch {
	case !limited:
		return ""
	case early:
		return ", sooner than Retry-After asks"
	}
	return ", no sooner than Retry-After asks"
}

var errorCode = Check{
	ID: "error-code", Rule: "a provider's failure is not told as a fault of the server's, nor as a person's refusal", Levels: inLegacy(report.Advice), Asked: 1,
	Cases: slices.DeleteFunc(idsOf(statuses, cuts), func(id string) bool { return id == "bad-request" }), // of which the server may be the cause
	Cause: "whatever goes wrong while a request is served is told as invalid params, or as the refusal of the person",
	Fix:   "use -32603, or a code of your own, for a failure that is not the server's doing",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if missing := e.unasked(); missing != nil {
			return *missing
		}
		if len(r.Answers) == 0 || r.Answers[0].Err == nil {
			return NotApplicable("the client did not answer with an error")
		}
		a := r.Answers[0]
		if what, wrong := blamed[a.Err.Code]; wrong {
			return Broken("there was %s, and the error says that %s", f.called, what).See(a.At("code"), "%d", a.Err.Code).See(a.At("message"), "%q", a.Err.Message)
		}
		return Pass("the code of the error is %d", a.Err.Code).See(a.At("code"), "%d", a.Err.Code)
	},
}

// blamed are the codes that say whose fault it was.
var blamed = map[int]string{
	-1:     "the person refused",
	-32700: "the server's message was no JSON",
	-32600: "the server's request was not valid",
	-32601: "the method is not there",
	-32602: "the server's params were not valid",
}

var aliveAfterFailure = Check{
	ID: "alive", Rule: "after a failure of the provider the next request is served", Levels: everywhere(report.Robust), Asked: 1,
	Cause: "an exception that nobody catches ends the process, or the session",
	Fix:   "keep what goes wrong with one sample to that sample",
	Judge: func(e *Evidence) Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if missing := e.unasked(); missing != nil {
			return *missing
		}
		next, errored := e.Session.servedAfter(r.Asked.Ref)
		ended := e.Session.Ended
		if asking := e.stillAsking(r); next == nil && asking != nil {
			return *asking
		}
		switch {
		case next != nil:
			return Pass("after %s the next request was answered", f.called).See(next.Place, "")
		case errored != nil && e.Session.outOfOrder() && !e.Session.endsBehind(r):
			return Unsupported("what was asked next was about another failure of the provider's: it takes a client that calls the tools in the order in which they are listed")
		case errored != nil: // for which there may be another reason
			return NotObserved("after %s what was asked next was answered by the error %q (code %d)", f.called, clip(errored.Err.Message), errored.Err.Code).See(errored.Place, "%s", compact(errored.RawErr))
		case ended != nil && ended.Interrupted:
			return NotObserved("the run was interrupted before the next request")
		case ended != nil && !ended.Clean():
			return e.Session.seeOutput(Broken("after %s nothing was answered any more: %s", f.called, e.Session.ending()).See(r.Asked, ""))
		}
		if e.Session.outOfOrder() {
			return Unsupported("nothing was asked of the client after %s: it takes a client that calls the tools in the order in which they are listed", f.called)
		}
		return NotObserved("the client called no other tool after %s", f.called)
	},
}

// servedAfter returns the first answer with a result to a sample that was asked after an event; where there is none, the first with an error.
func (s *Session) servedAfter(after trace.Ref) (result, errored *Answer) {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.calls[c.ID] {
			for _, r := range ev.Rounds {
				if s.order[r.Asked.Ref] <= s.order[after] || len(r.Answers) == 0 {
					continue
				}
				if a := r.Result(); a != nil {
					if result == nil || s.order[a.Ref] < s.order[result.Ref] {
						result = a
					}
				} else if errored == nil {
					errored = &r.Answers[0]
				}
			}
		}
	}
	return result, errored
}
