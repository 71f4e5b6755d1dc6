package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var failureIsError = check.Check{
	ID: "is-error", Rule: "where the provider fails the client answers with an error, and does not make up an answer", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: idsOf(statuses, []failure{once429}),
	Cause: "what the provider says of its failure is put into a message, or the failure leaves a message behind that is empty",
	Fix:   "answer with an error where there is no answer of the model's; in 2026-07-28 do not fulfil the input request",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := withoutResult(e, r); v != nil {
			return *v
		}
		if r.AnsweredWhole() {
			return check.Pass("after %s the client asked again, and got an answer", f.called)
		}
		return madeUp(e, r)
	},
}

// withoutResult returns the verdict where the client says that there was an error, where the model was not asked, or where the client says nothing
// of its failure; nil where there is a result to look at.
func withoutResult(ev *evidence.Case, r *evidence.Round) *check.Verdict {
	if how := check.Refusal(ev, r); how != "" {
		v := check.Pass("%s is an error: %s", failureOf(ev).called, how)
		return &v
	}
	if _, missing := check.ModelRequest(r); missing != nil {
		return missing
	}
	if r.Result() != nil {
		return nil
	}
	if v := stillAsking(ev, r); v != nil {
		return v
	}
	v := check.NotObserved("no result for sampling request %d%s", r.N, ev.WhyNoResult(r.N))
	return &v
}

// stillAsking returns the verdict on a client that had not made up its mind when its time was up, as it may have meant to ask the model again; nil
// for any other.
func stillAsking(ev *evidence.Case, r *evidence.Round) *check.Verdict {
	n := len(r.Model)
	if n == 0 || len(r.Answers) > 0 || ev.Session.Ended == nil || !ev.Session.Ended.Deadline {
		return nil
	}
	v := check.NotObserved("no answer came within the client's time, after %s of the model: an error is due, and one that comes later needs a longer time-out", requests(n)).
		Show(r.Asked, "").Show(r.Model[n-1].Place, "%s", became(r.Model[n-1]))
	return &v
}

// unasked returns the verdict where the client never asked the model in the case, in none of its calls, or asked for what no recording has:
// nothing failed then; nil where it did.
// Which of several calls at once asked is not to be told where no answer came of it.
func unasked(ev *evidence.Case) *check.Verdict {
	if why := ev.Rounds[0].CassetteMiss(); why != "" {
		v := check.NotObserved("the model had nothing to say to what it was asked, neither an answer nor a failure: %s", evidence.Clip(why))
		return &v
	}
	if len(ev.Session.Exchanges[ev.Case.ID]) > 0 {
		return nil
	}
	v := check.NotObserved("the model was never asked: nothing reached the fake model under the case's mark")
	return &v
}

// unsaid returns the verdict where it cannot be said that nothing else followed a failure; nil where it can.
func unsaid(ev *evidence.Case, what string) *check.Verdict {
	why := ev.Session.Unsettled(ev.Rounds[0].Asked)
	if why == "" {
		return nil
	}
	v := check.NotObserved("%s cannot be said: %s", what, why)
	if outOfOrder(ev.Session) {
		v = check.Unsupported("%s cannot be said: the client must call the tools in the order of tools/list and answer the last sampling request: %s", what, why)
	}
	return &v
}

// outOfOrder reports whether a session ended well that had its barrier before something else.
func outOfOrder(s *evidence.Session) bool {
	barrier := s.Case(harness.BarrierID)
	return s.Trace.Whole && s.Ended != nil && s.Ended.Clean() && barrier != nil && barrier.Called
}

// endsBehind reports whether the session's last tool, the barrier, was called behind a round.
func endsBehind(s *evidence.Session, r *evidence.Round) bool {
	return s.Order[s.Case(harness.BarrierID).FirstCall] > s.Order[r.Asked.Ref]
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

// madeUp is the verdict on a result for which the model said nothing.
func madeUp(ev *evidence.Case, r *evidence.Round) check.Verdict {
	a, x, f := r.Result(), r.LastExchange(), failureOf(ev)
	if evidence.IsNoAnswer(a) {
		v := check.Fail("there was %s, and the client gave a result that holds no answer: an error is due", f.called)
		if ev.Revision.Modern() {
			v = check.Fail("there was %s, and the retry has %s where an answer belongs: an input response is a result, and there is none", f.called, evidence.NoAnswerText(a))
		}
		return v.Show(x.Place, "%s", became(x)).Show(a.Place, "%s", evidence.Compact(a.Result))
	}
	v := check.Fail("there was %s, and the client made an answer of it", f.called).Show(x.Place, "%s", became(x))
	for _, name := range []string{"role", "model", "content"} {
		v = v.Show(a.At(name), "%s", check.OrMissing(a.Member(name)))
	}
	return v
}

// became says what became of a request to the model.
func became(x *evidence.Exchange) string {
	switch {
	case x.End.Fault != "":
		return "the model's answer was cut on purpose: " + x.End.Fault
	case x.End.Status == 0:
		return "the model gave no answer"
	}
	return fmt.Sprintf("the model's answer was HTTP %d", x.End.Status)
}

var failedMRTR = check.Check{
	ID: "failed-mrtr", Rule: "a call is not sent again without the input for which the provider failed", Levels: check.InModern(report.Must), Requests: 1,
	Cases: idsOf(statuses, cuts), Statements: []string{"2026-07-28/mrtr/22"},
	Cause: "the input requests that failed are left out, or null, and the call is sent again with the rest",
	Fix:   "send a call again only with an answer under every key that it was asked for; else end it, and tell the person or the model",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := check.RetriedWithoutKey(e, "after %s the call was sent again without what it was asked for", f.called); v != nil {
			return *v
		}
		if v := withoutResult(e, r); v != nil {
			return *v
		}
		return check.Pass("the retry has what it was asked for").Show(r.Result().Place, "")
	},
}

var partialNotWhole = check.Check{
	ID: "partial-not-whole", Rule: "an answer that breaks off is an error, or says that it is not whole", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: idsOf(cuts),
	Cause: "a stream is taken for whole where it ends, whether or not its last event has come; some providers' SDKs say nothing of it",
	Fix:   "see to it that the provider's last event, or its finish reason, has come, and answer with an error where it has not",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := withoutResult(e, r); v != nil {
			return *v
		}
		a, x := r.Result(), r.LastExchange()
		if r.AnsweredWhole() {
			return check.Pass("after %s the client asked again, and got an answer", f.called)
		}
		if x.End.Status != 200 || evidence.IsNoAnswer(a) {
			return madeUp(e, r)
		}
		reason, told := a.Text("stopReason")
		at := a.At("stopReason")
		said := func(v check.Verdict) check.Verdict {
			return v.Show(x.Place, "%s", became(x)).Show(at, "%s", check.OrMissing(a.Member("stopReason"))).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		switch {
		case told && reason == string(dialect.StopMaxTokens):
			return said(check.Warn("an answer that broke off is said to have come to its limit"))
		case told && !slices.Contains(standardReasons, reason) && ofTheModel(a):
			return check.Pass("the answer says that it is not whole: %s", reason).Show(at, "%q", reason)
		case told && !slices.Contains(standardReasons, reason):
			return said(check.Fail("there was %s, and the answer is not the model's", f.called))
		}
		return said(check.Fail("there was %s, and what had come of it is passed off as the whole", f.called))
	},
}

// ofTheModel reports whether an answer says nothing, or something of what the model had to say before it was cut off: its first word is enough.
func ofTheModel(a *evidence.Answer) bool {
	first, _, _ := strings.Cut(provided, " ")
	said := strings.TrimSpace(dialect.PlainText(a.Blocks()))
	return said == "" || strings.Contains(said, first)
}

// standardReasons are the stop reasons that MCP has a word for.
var standardReasons = []string{string(dialect.EndTurn), string(dialect.StopForTool), string(dialect.StopMaxTokens), string(dialect.StopStopSequence)}

var refusalTold = check.Check{
	ID: "refusal-told", Rule: "an answer that was refused or filtered is an error, or says so", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: idsOf(unwillings),
	Cause: "stop reasons that the client does not know become endTurn, or a refusal that stands apart from the text is lost",
	Fix:   "hand on the provider's word for it as the stop reason, and what the model says in refusing as its text",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if v := withoutResult(e, r); v != nil {
			return *v
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		x := r.LastExchange()
		reason, told := a.Text("stopReason")
		at := a.At("stopReason")
		own := told && !slices.Contains(standardReasons, reason)
		switch ends := endsRefusal(x); {
		case own:
			return check.Pass("the answer says why it is none: %s", reason).Show(at, "%q", reason)
		case ends && f.id == "content-filter":
			return check.NotApplicable("the provider has no word for a content filter")
		case ends && evidence.Holds(a.Blocks(), declining):
			return check.Pass("the provider calls it an end, and what the model says in refusing is passed on").Show(a.At("content"), "%q", declining)
		case ends:
			return check.Fail("what the model said in refusing is lost, and nothing says that it refused").ShowAs("model said", x.Place, "%q", declining).
				Show(a.At("content"), "%s", evidence.Compact(a.Member("content"))).Show(at, "%s", check.OrMissing(a.Member("stopReason")))
		case !told:
			return check.Warn("the provider says that there was %s, and the answer leaves its stop reason out", f.called).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		return check.Fail("there was %s, and the answer says %s", f.called, reason).Show(at, "%q", reason).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
	},
}

// endsRefusal reports whether the provider's own word for why it stopped is that of any other end: OpenAI and those that are compatible with it
// tell a refusal by where it stands, if at all, and Ollama has one word for everything.
func endsRefusal(x *evidence.Exchange) bool {
	for _, document := range evidence.Documents(x.Answer) {
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

var askedAgain = check.Check{
	ID: "retried", Rule: "whether the client asks again where the provider fails for a while, and when", Levels: check.Everywhere(report.May), Requests: 1,
	Cases: slices.DeleteFunc(idsOf(statuses, []failure{once429}), func(id string) bool {
		return slices.Contains([]string{"unauthorized", "forbidden", "not-found", "bad-request"}, id)
	}),
	Cause: "nothing is broken here: whether and how often to try again is the client's choice",
	Fix:   "wait as long as Retry-After asks, and give up after a few tries",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if missing := unasked(e); missing != nil {
			return *missing
		}
		n := len(r.Model)
		switch n {
		case 0:
			return check.NotApplicable("the tool was called several times at once, and which call asked the model is not to be told")
		case 1:
			return check.Info("after %s the model was not asked again", f.called).Show(r.Model[0].Place, "")
		}
		v := check.Info("after %s the model was asked again: %s%s", f.called, requests(n), waited(e, r))
		for _, x := range r.Model[:min(n, 3)] {
			v = v.Show(x.Place, "%s", became(x))
		}
		return v
	},
}

// waited says whether a client that asked again did so no earlier than it was asked to; "" where it was not asked to.
func waited(ev *evidence.Case, r *evidence.Round) string {
	const asked = retryAfter * time.Second * 9 / 10 // timers and clocks differ by a little
	limited, early := false, false
	for i, x := range r.Model[:len(r.Model)-1] {
		if x.End.Status == 429 {
			limited = true
			events := ev.Session.Trace.Events
			early = early || events[r.Model[i+1].Began].At-events[x.Behind].At < asked
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

var errorCode = check.Check{
	ID: "error-code", Rule: "a provider's failure is not told as a fault of the server's, nor as a person's refusal", Levels: check.InLegacy(report.Advice), Requests: 1,
	Cases: slices.DeleteFunc(idsOf(statuses, cuts), func(id string) bool { return id == "bad-request" }), // of which the server may be the cause
	Cause: "whatever goes wrong while a request is served is told as invalid params, or as the refusal of the person",
	Fix:   "use -32603, or a code of your own, for a failure that is not the server's doing",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if missing := unasked(e); missing != nil {
			return *missing
		}
		if len(r.Answers) == 0 || r.Answers[0].Err == nil {
			return check.NotApplicable("the client did not answer with an error")
		}
		a := r.Answers[0]
		if what, wrong := blamed[a.Err.Code]; wrong {
			return check.Fail("there was %s, and the error says that %s", f.called, what).Show(a.At("code"), "%d", a.Err.Code).Show(a.At("message"), "%q", a.Err.Message)
		}
		return check.Pass("the code of the error is %d", a.Err.Code).Show(a.At("code"), "%d", a.Err.Code)
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

var aliveAfterFailure = check.Check{
	ID: "alive", Rule: "after a failure of the provider the next request is served", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cause: "an exception that nobody catches ends the process, or the session",
	Fix:   "keep what goes wrong with one sample to that sample",
	Judge: func(e *evidence.Case) check.Verdict {
		r, f := e.Rounds[0], failureOf(e)
		if missing := unasked(e); missing != nil {
			return *missing
		}
		next, errored := servedAfter(e.Session, r.Asked.Ref)
		ended := e.Session.Ended
		if asking := stillAsking(e, r); next == nil && asking != nil {
			return *asking
		}
		switch {
		case next != nil:
			return check.Pass("after %s the next request was answered", f.called).Show(next.Place, "")
		case errored != nil && outOfOrder(e.Session) && !endsBehind(e.Session, r):
			return check.Unsupported("what was asked next was about another failure of the provider's: it takes a client that calls the tools in the order in which they are listed")
		case errored != nil: // for which there may be another reason
			return check.NotObserved("after %s what was asked next was answered by the error %q (code %d)", f.called, evidence.Clip(errored.Err.Message), errored.Err.Code).Show(errored.Place, "%s", evidence.Compact(errored.RawErr))
		case ended != nil && ended.Interrupted:
			return check.NotObserved("the run was interrupted before the next request")
		case ended != nil && !ended.Clean():
			return check.ShowOutput(e.Session, check.Fail("after %s nothing was answered any more: %s", f.called, e.Session.Ending()).Show(r.Asked, ""))
		}
		if outOfOrder(e.Session) {
			return check.Unsupported("nothing was asked of the client after %s: it takes a client that calls the tools in the order in which they are listed", f.called)
		}
		return check.NotObserved("the client called no other tool after %s", f.called)
	},
}

// servedAfter returns the first answer with a result to a sample that was asked after an event; where there is none, the first with an error.
func servedAfter(s *evidence.Session, after trace.Ref) (result, errored *evidence.Answer) {
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			for _, r := range ev.Rounds {
				if s.Order[r.Asked.Ref] <= s.Order[after] || len(r.Answers) == 0 {
					continue
				}
				if a := r.Result(); a != nil {
					if result == nil || s.Order[a.Ref] < s.Order[result.Ref] {
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
