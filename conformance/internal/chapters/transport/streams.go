package transport

import (
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// comeback is what a client made of a connection that was closed under its call.
type comeback struct {
	closed   *trace.Event
	returned *trace.Event // its first GET for a stream that it had before; nil where it made none
	blank    *trace.Event // a GET behind the close that names no event; nil where it made none
	repeated *trace.Event // the first message from before the close that it had to be sent again
}

func (c *comeback) close() evidence.Place {
	return evidence.Place{Ref: c.closed.Ref(), Label: "end of the connection"}
}
func (c *comeback) again() evidence.Place {
	return evidence.Place{Ref: c.returned.Ref(), Label: "GET"}
}
func (c *comeback) named() string { return c.returned.Frame.HTTP.Header["Last-Event-Id"] }

// comeback finds it; nil where no connection was closed.
func comebackOf(ev *evidence.Case) *comeback {
	var c *comeback
	before := map[string]bool{} // the events that had a message before the close
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		f := e.Frame
		switch {
		case f == nil:
		case c == nil && e.Case == ev.Case.ID && f.Dir == trace.ToClient && f.Closed && f.Event != "":
			c = &comeback{closed: e}
		case c == nil:
			before[f.Event] = before[f.Event] || f.Dir == trace.ToClient && !f.Raw.IsZero()
		case f.Dir == trace.ToClient && f.Resent && before[f.Event] && e.Case == ev.Case.ID && c.repeated == nil:
			c.repeated = e
		case f.Dir != trace.FromClient || f.HTTP == nil || f.HTTP.Method != "GET" || f.Session != c.closed.Frame.Session:
		case f.HTTP.Header["Last-Event-Id"] != "" && c.returned == nil:
			c.returned = e
		case f.HTTP.Header["Last-Event-Id"] == "" && c.blank == nil:
			c.blank = e
		}
	}
	return c
}

// afterReturn is a rule about a client that came back; one that did not breaks another one.
func afterReturn(judge func(*evidence.Case, *comeback) check.Verdict) func(*evidence.Case) check.Verdict {
	return overHTTP(0, func(e *evidence.Case) check.Verdict {
		c := comebackOf(e)
		switch {
		case c == nil:
			return check.NotObserved("no connection was closed: the client had no stream for its call%s", e.Died())
		case c.returned == nil:
			return check.NotApplicable("the client did not come back for the stream of its call (see transport/reconnects)")
		}
		return judge(e, c)
	})
}

var reconnects = check.Check{
	ID: "reconnects", Rule: "a client comes back for the stream of its call, and names the last event that it saw", Levels: check.InNewestLegacy(report.Should), Cases: []string{"disconnect"},
	Statements: []string{"2025-11-25/transports/11", "2025-11-25/transports/18"},
	Cause:      "the end of the connection is taken for the end of the call, which then fails, or waits for ever",
	Fix:        "where a stream ends without the response, and had an event with an id, GET the endpoint with that id as Last-Event-ID, and read on",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		c := comebackOf(e)
		switch {
		case c == nil:
			return check.NotObserved("no connection was closed: the client had no stream for its call%s", e.Died())
		case c.returned == nil && c.blank != nil:
			return check.Fail("the connection of a call was closed, and the client opened a stream that names no event, so that the call's does not go on").
				Show(c.close(), "last event %s", c.closed.Frame.Event).Show(evidence.Place{Ref: c.blank.Ref(), Label: "GET"}, "no Last-Event-ID")
		case c.returned == nil:
			return check.ShowOutput(e.Session, check.Fail("the connection of a call was closed before its response, behind an event with an id, and the client did not come back%s", e.Died()).
				Show(c.close(), "last event %s, retry after %s", c.closed.Frame.Event, c.closed.Frame.Retry))
		case c.repeated != nil:
			return check.Fail("the client came back, and not for what it had not seen: a message had to be sent again").
				Show(c.close(), "last event %s", c.closed.Frame.Event).Show(c.again(), "Last-Event-ID: %s", c.named()).Show(evidence.Place{Ref: c.repeated.Ref(), Label: "again"}, "event %s", c.repeated.Frame.Event)
		case len(e.Rounds) < 2:
			return check.NotObserved("the client came back, and nothing was asked on the stream that it then had%s", e.WhyNoResult(len(e.Rounds))).Show(c.again(), "Last-Event-ID: %s", c.named())
		}
		if v := served(e, e.Rounds[1], "on the stream that the client had come back for"); v.Kind != report.Pass {
			return v
		}
		return check.Pass("the client came back, and went on")
	}),
}

// clockSlack is how much sooner a client may come back by our clock than it was told: timers of some languages count whole milliseconds, and theirs
// begins when it reads, ours just before we write.
const clockSlack = 50 * time.Millisecond

var retryHonoured = check.Check{
	ID: "retry-honoured", Rule: "a client waits as long as retry says before it comes back", Levels: check.InNewestLegacy(report.Must), Cases: []string{"disconnect"},
	Statements: []string{"2025-11-25/transports/12"},
	Cause:      "the time to wait is one of the client's own, or the field retry is not read",
	Fix:        "read the field retry of the stream, in milliseconds, and wait as long before the GET",
	Judge: afterReturn(func(e *evidence.Case, c *comeback) check.Verdict {
		told, took := c.closed.Frame.Retry, c.returned.At-c.closed.At
		if took < told-clockSlack {
			return check.Fail("the client was told to wait %s before it comes back, and was back sooner", told).Show(c.close(), "retry: %d", told.Milliseconds()).Show(c.again(), "%s later", took.Round(10*time.Millisecond))
		}
		return check.Pass("the client came back no sooner than it was told")
	}),
}

var answersOnceResumed = check.Check{
	ID: "answers-once", Rule: "a request is answered once, also by a client that came back for its stream", Levels: check.InNewestLegacy(report.Must), Cases: []string{"disconnect"},
	Statements: []string{"2025-11-25/basic/05"},
	Cause:      "the client comes back for events that it has seen, and answers again what they bring again",
	Fix:        "keep the id of the last event of each stream, and remember the ids of requests that were answered",
	Judge: afterReturn(func(e *evidence.Case, c *comeback) check.Verdict {
		for _, r := range e.Rounds {
			if len(r.Answers) > 1 {
				return check.Fail("%d responses came for one request, after the client had come back for its stream", len(r.Answers)).
					Show(c.again(), "Last-Event-ID: %s", c.named()).Show(r.Answers[0].Place, "the first").Show(r.Answers[1].Place, "one more")
			}
		}
		if len(e.Rounds) == 0 || len(e.Rounds[0].Answers) == 0 {
			return check.NotObserved("the request that was open when the connection was closed was not answered%s", e.WhyNoResult(1))
		}
		if v := check.UnsettledSince(e, c.again()); v != nil {
			return *v
		}
		return check.Pass("one response came for each request")
	}),
}

// loss is what became of a session that the server ended.
type loss struct {
	ended *trace.Event    // where the server says that it did
	told  *evidence.Place // where it told the client so, with a 404; nil where it did not
	asked bool            // whether that was the answer to a request of the client's, and not to a stream that it opened, say
	anew  *trace.Event    // the client's next initialize; nil where it made none
}

// loss finds it; nil where no session was ended.
func lossOf(ev *evidence.Case) *loss {
	var l *loss
	deletes := false
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		f := e.Frame
		switch {
		case l == nil && e.Case == ev.Case.ID && e.Mark != nil && e.Mark.Name == trace.MarkSessionEnded:
			l = &loss{ended: e}
		case l == nil || f == nil || l.anew != nil:
		case f.Dir == trace.FromClient && f.HTTP != nil:
			deletes = f.HTTP.Method == "DELETE"
			if ev.Session.Message(e).Method == "initialize" {
				l.anew = e
			}
		case f.HTTP != nil && f.HTTP.Status == 404 && !deletes && !l.asked:
			m := ev.Session.Message(e)
			if l.asked = m.ID != nil; l.asked || l.told == nil {
				l.told = &evidence.Place{Ref: e.Ref(), Label: "HTTP 404"}
			}
		}
	}
	return l
}

// calledAll reports whether the client had called every tool before a place in the trace, so that there was nothing left that it needs a session for.
func calledAll(s *evidence.Session, place int) bool {
	for _, c := range s.Trace.Header.Cases {
		if first := s.Calls[c.ID][0]; !first.Called || s.Order[first.FirstCall] > place {
			return false
		}
	}
	return true
}

var sessionLost = check.Check{
	ID: "session-lost", Rule: "a client whose session is gone starts a new one, without the old one's id", Levels: check.InNewestLegacy(report.Must), Cases: []string{"lost-session"}, Whole: true,
	Statements: []string{"2025-11-25/transports/21"},
	Cause:      "404 is taken for a fault like any other, so that every later call fails, too",
	Fix:        "where a request that has a session id is answered with 404, initialize again without an id, and make the request again in the new session",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		l := lossOf(e)
		switch {
		case l == nil:
			return check.NotObserved("the play did not get as far as the end of the session%s", e.Died())
		case l.anew != nil && l.anew.Frame.HTTP.Header["Mcp-Session-Id"] != "":
			return check.Fail("the client initialized a new session under the id of the old one").Show(evidence.Place{Ref: l.anew.Ref(), Label: "initialize"}, "Mcp-Session-Id: %s", l.anew.Frame.HTTP.Header["Mcp-Session-Id"])
		case l.anew != nil:
			return check.Pass("the client initialized a new session")
		case l.told == nil, !l.asked && calledAll(e.Session, e.Session.Order[l.told.Ref]):
			return check.Unsupported("the client asked for nothing more once its session was over: it takes one that calls every tool that is listed, one after the other%s", e.Died())
		}
		return check.ShowOutput(e.Session, check.Fail("the server had ended the session and said so, and the client did not start a new one").Show(*l.told, ""))
	}),
}

var handlersSurvive = check.Check{
	ID: "handlers-survive", Rule: "in a new session the client still samples", Levels: check.InNewestLegacy(report.Robust), Cases: []string{"lost-session"}, Whole: true,
	Cause: "handlers and capabilities belong to the connection that was lost, and the new one is made without them",
	Fix:   "make each new session with the same capabilities and handlers as the first",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		l := lossOf(e)
		if l == nil || l.anew == nil {
			return check.NotApplicable("there was no new session (see transport/session-lost)")
		}
		s := e.Session
		for i := range s.Requests {
			if r := &s.Requests[i]; r.Ref == l.anew.Ref() && !r.Declares("sampling") && s.Requests[0].Declares("sampling") {
				return check.Fail("in its new session the client declares no sampling any more").Show(r.CapabilitiesAt(), "%s", check.OrMissing(r.Declared()))
			}
		}
		if len(e.Rounds) == 0 || e.Rounds[0].Result() == nil {
			return check.NotObserved("in its first session the client did not sample either%s", e.WhyNoResult(1))
		}
		asked := false
		for _, id := range []string{e.Case.ID, harness.BarrierID} {
			for _, call := range s.Calls[id] {
				for _, r := range call.Rounds {
					if s.Order[r.Asked.Ref] < s.Order[l.anew.Ref()] || r.CassetteMiss() != "" {
						continue
					}
					asked = true
					if r.Result() == nil {
						return check.ShowOutput(s, check.Fail("in its new session the client did not answer a sampling request with a result%s", call.WhyNoResult(r.N)).Show(r.Asked, ""))
					}
				}
			}
		}
		if !asked {
			return check.Unsupported("the client called no tool in its new session: it takes one that makes a call again that found the old session gone, and then the calls that are left")
		}
		return check.Pass("in its new session the client samples")
	}),
}
