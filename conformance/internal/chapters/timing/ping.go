package timing

import (
	"bytes"
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server pings the client while the model holds back its answer. The model answers when the client has responded
// to the ping, or has not for pingPatience.
var pinged = harness.Case{ID: "time/ping", Revisions: check.NewestLegacy, Barrier: true, Lingers: true,
	Make: func(harness.Limits) harness.Stage {
		var gate llm.Gate
		handler := func(s *server.Session) (any, error) {
			word := fmt.Sprintf("holdtheline%d", s.Call().Number) // one word: a client may split a text
			gate.Close(word)
			defer gate.Open(word)
			asked, err := s.Start(s.Ask("What takes so long (" + word + ")?"))
			if err != nil {
				return nil, err
			}
			select {
			case <-gate.Held(word):
			case <-asked.Done(): // the client has responded without the model
			}
			if ping, err := s.Start(nil, server.Ping); err == nil { // the outcome is judged from the trace
				story.WaitFor(pingPatience, ping.Done(), s.Context().Done())
			}
			gate.Open(word)
			return asked.Wait()
		}
		return harness.Stage{
			Handler: handler,
			Rules:   []*llm.Rule{llm.When().Reply(llm.Text("Nothing any more.")).Hold(&gate)},
		}
	}}

// pingPatience is how long the server waits for the response to a ping. A correct client sends it at once.
const pingPatience = 5 * time.Second

var aliveWhileSampling = check.Check{
	ID: "alive-while-sampling", Cases: []string{"ping"},
	Rule:       "The client MUST respond to a ping while a sampling request waits for the model",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"ping/01"}, Requests: 1,
	Cause: "the client handles requests one after the other, on the goroutine or in the callback that reads the stream",
	Fix:   "Respond to a ping at once, whatever else is in progress, under its id and with the result {}.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, pings := e.Rounds[0], e.ServerRequests("ping")
		if len(pings) == 0 {
			return check.NotObserved("the case ended before a ping%s", e.WhyNoResult(1))
		}
		ping, pong := pings[0], pings[0].Response
		if pong == nil {
			return check.UnsettledAfter(e.Session, ping.Place, "whether the ping gets a response is unknown").
				Or(check.Missing("expected a response to a ping, found none").At(r.Asked, ping.Place))
		}
		responded := e.Session.AnsweredAt(r)
		switch {
		case pong.Err != nil:
			return check.Fail("expected the result {} for a ping, found the error %q (code %d)",
				evidence.Clip(pong.Err.Message), pong.Err.Code).ShowRequest(ping)
		case responded < e.Session.Order[ping.Ref]:
			return check.Unsupported("the client responded to the sampling request before the ping: "+
				"it takes a client that asks the model, and calls each tool once").At(r.Answers[0].Place, ping.Place)
		case responded < e.Session.Order[pong.Ref]:
			return check.Fail("expected a response to the ping before that to the sampling request, found it after").
				At(r.Asked, ping.Place, r.Answers[0].Place, pong.Place)
		}
		return emptyResult(ping)
	},
}

// emptyResult judges the result of a ping and its id. The schema allows other members than _meta, so they only warn
// (2025-11-25, schema#emptyresult).
func emptyResult(ping *evidence.ServerRequest) check.Verdict {
	pong, result := ping.Response, ping.Result()
	others := len(result)
	if _, ok := result["_meta"]; ok {
		others--
	}
	isString := func(id []byte) bool { return bytes.HasPrefix(id, []byte(`"`)) }
	switch {
	case isString(ping.ID) != isString(pong.ID): // basic/id-echoed judges how a number is written
		return check.Fail("expected the id %s in the response to a ping, found %s", ping.ID, pong.ID).ShowRequest(ping)
	case result == nil:
		return check.Fail("expected an object as the result of a ping, found something else").ShowRequest(ping)
	case others > 0:
		return check.Warn("expected the result {} for a ping, found more").ShowRequest(ping)
	}
	return check.Pass("the client responded to a ping while a sampling request waited").
		At(ping.Place, pong.Place)
}
