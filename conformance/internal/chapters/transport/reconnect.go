package transport

import (
	"cmp"
	"errors"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const (
	// retryAfter is the server's retry field. A client that ignores it returns at once, or after a second of its own.
	retryAfter = 1200 * time.Millisecond
	// returnPatience is how much longer the server waits for the client.
	returnPatience = 6 * time.Second
)

// The server closes the connection while the model thinks, and asks another question once the client has returned. It
// responds to the call on the stream that the client then has.
var disconnect = story.Gated(
	harness.Case{ID: "transport/disconnect", Revisions: check.NewestLegacy, Wait: retryAfter + returnPatience},
	func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			stream := s.Transport()
			if err := stream.Resumable(); errors.Is(err, server.ErrNoStream) {
				return "no stream to come back for", nil
			} else if err != nil {
				return nil, err
			}
			asked, word, err := story.AskHeld(s, gate)
			defer gate.Open(word)
			if err != nil {
				return nil, err
			}
			if err := stream.Disconnect(retryAfter); err != nil {
				return nil, err
			}
			if !story.WaitFor(retryAfter+returnPatience, stream.Resumed(), s.Context().Done()) || s.Context().Err() != nil {
				return "nobody came back", nil
			}
			if err := askAndWait(s, s.Ask("Name a fish.")); err != nil {
				return nil, err
			}
			gate.Open(word)
			story.Wait(s, asked)
			return "done", nil
		}
	})

// resumption is what a client did after the server closed the connection of its call.
type resumption struct {
	closed   *trace.Event
	returned *trace.Event // its first GET with a Last-Event-ID; nil for none
	blank    *trace.Event // its first GET without one; nil for none
	repeated *trace.Event // the first message from before the close that the server sent again; nil for none
}

func (c *resumption) close() evidence.Place { return at(c.closed, "end of the connection") }

// showReturn shows the GET and its Last-Event-ID.
func (c *resumption) showReturn(v check.Verdict) check.Verdict {
	return v.Show(at(c.returned, "GET"), "Last-Event-ID: %s", c.returned.Frame.HTTP.Header["Last-Event-Id"])
}

// resumptionOf returns nil if the server closed no connection.
func resumptionOf(e *evidence.Case) *resumption {
	c := &resumption{}
	before := map[string]bool{} // the ids of events with a message before the close
	for i := range e.Session.Trace.Events {
		ev := &e.Session.Trace.Events[i]
		switch f := ev.Frame; {
		case f == nil:
		case c.closed != nil && f.Dir == trace.FromClient:
			c.takeRequest(ev)
		case c.closed != nil:
			if f.Resent && before[f.Event] && ev.Case == e.Case.ID {
				c.repeated = cmp.Or(c.repeated, ev)
			}
		case f.Dir == trace.FromClient:
		case ev.Case == e.Case.ID && f.Closed && f.Event != "":
			c.closed = ev
		case !f.Raw.IsZero():
			before[f.Event] = true
		}
	}
	if c.closed == nil {
		return nil
	}
	return c
}

// takeRequest notes a GET of the session after the close.
func (c *resumption) takeRequest(e *trace.Event) {
	if f := e.Frame; f.HTTP == nil || f.HTTP.Method != "GET" || f.Session != c.closed.Frame.Session {
		return
	}
	switch id := e.Frame.HTTP.Header["Last-Event-Id"]; {
	case id != "" && c.returned == nil:
		c.returned = e
	case id == "" && c.blank == nil:
		c.blank = e
	}
}

var connectionClosed = check.Observed(resumptionOf,
	"the server closed no connection: the client had no stream for its call")

func clientReturned(e *evidence.Case) *check.Verdict {
	return check.Unless(resumptionOf(e).returned != nil,
		check.NotApplicable("the client did not resume the stream of its call (see transport/reconnects)"))
}

var reconnects = check.Check{
	ID: "reconnects", Rule: "The client SHOULD resume the stream of its call after the last event that it received",
	Levels: check.InNewestLegacy(report.Should), Cases: []string{"disconnect"},
	Statements: []string{"transports/11", "transports/18"},
	Needs:      []check.Need{overHTTP, connectionClosed},
	Cause:      "the client takes the end of the connection as the end of the call, which then fails, or waits forever",
	Fix: "If a stream ends without the response, send a GET to the endpoint with the id of its last event as " +
		"Last-Event-ID, and continue to read.",
	Judge: func(e *evidence.Case) check.Verdict {
		c := resumptionOf(e)
		closed := c.closed.Frame
		switch {
		case c.returned == nil && c.blank != nil:
			return check.Fail("expected a GET with the Last-Event-ID of the closed stream, found a GET without it").
				Show(c.close(), "last event %s", closed.Event).Show(at(c.blank, "GET"), "no Last-Event-ID")
		case c.returned == nil:
			return check.Fail("expected a GET with Last-Event-ID after the connection closed, found none%s",
				e.WhySilent(e.FirstCall)).
				Show(c.close(), "last event %s, retry after %s", closed.Event, closed.Retry).ShowOutput(e.Session)
		case c.repeated != nil:
			v := check.Fail("expected the last event in Last-Event-ID, found an earlier one: a message came again")
			return c.showReturn(v.Show(c.close(), "last event %s", closed.Event)).
				Show(at(c.repeated, "again"), "event %s", c.repeated.Frame.Event)
		case len(e.Rounds) < 2:
			why := e.WhyNoResult(len(e.Rounds))
			return c.showReturn(check.NotObserved("the server asked nothing on the resumed stream%s", why))
		}
		if v := served(e, e.Rounds[1], "on the resumed stream"); v.Kind != report.Pass {
			return v
		}
		return check.Pass("the client resumed the stream, and went on")
	},
}

// clockSlack is how much sooner a client may return by our clock: some timers count whole milliseconds, and the
// client's begins when it reads, ours just before we write.
const clockSlack = 50 * time.Millisecond

var retryHonoured = check.Check{
	ID: "retry-honoured", Rule: "The client MUST wait for the time in retry before it reconnects", Levels: must,
	Cases: []string{"disconnect"}, Statements: []string{"transports/12"},
	Needs: []check.Need{overHTTP, connectionClosed, clientReturned},
	Cause: "the client uses a delay of its own, or does not read the field retry",
	Fix:   "Read the field retry of the stream, in milliseconds, and wait for that time before the GET.",
	Judge: func(e *evidence.Case) check.Verdict {
		c := resumptionOf(e)
		if want, took := c.closed.Frame.Retry, c.returned.At-c.closed.At; took < want-clockSlack {
			return check.Fail("expected the client to wait %s before it reconnects, found less", want).
				Show(c.close(), "retry: %d", want.Milliseconds()).
				Show(at(c.returned, "GET"), "%s later", took.Round(10*time.Millisecond))
		}
		return check.Pass("the client waited for the time in retry")
	},
}
