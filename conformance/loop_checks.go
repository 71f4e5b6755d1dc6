package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var threeRounds = Check{
	ID: "three-rounds", Rule: "in each round of a tool loop the model is given the history as it has grown, and its final text comes back", Levels: everywhere(report.Robust), Asked: 1,
	Cases: []string{"three-cities"}, Requirements: balanceRule,
	Cause: "the client keeps a history of its own and adds the server's to it, or gives the model the last messages only",
	Fix:   "give the model the messages of the request, all of them and in their order, and nothing else",
	Judge: func(e *Evidence) Verdict {
		for i, r := range e.Rounds {
			if v := e.grown(r); v != nil {
				return *v
			}
			if how := e.declined(r); how != "" {
				return NotApplicable("the client ends the loop in round %d: %s", i+1, how)
			}
		}
		return e.endsWith(len(threeCities.cities)+1, threeCities.end)
	},
}

// grown holds the history that the model was given for a round against that of the request; nil where they are the same.
func (ev *Evidence) grown(r *Round) *Verdict {
	x, missing := theModel(r)
	if missing != nil {
		if len(r.Model) == 0 && ev.declined(r) != "" {
			return nil // the model was not asked, and the client says why
		}
		return missing
	}
	sent, given := courseOf(r.Params.Messages), courseOf(x.Request.Messages)
	tell := func(v Verdict) *Verdict {
		v = v.Saw("server sent", r.Asked.At("messages"), "%s", strings.Join(sent, "\n")).Saw("model was given", x.At("messages"), "%s", strings.Join(given, "\n"))
		return &v
	}
	switch {
	case x.End.Refused != "" && r.N == 1:
		return tell(NotObserved("the model refused the first request of the loop, which has no history: %s", x.End.Refused))
	case !slices.Equal(sent, given):
		return tell(Broken("in round %d the model was given another history than the server's", r.N))
	case x.End.Refused != "":
		return tell(Broken("the model refused the history of round %d: %s", r.N, x.End.Refused))
	}
	return nil
}

// courseOf is what a history of the tour says, a line each: the question, each tool use, and each result, by the use that it answers.
func courseOf(messages []dialect.Message) []string {
	var lines []string
	city := map[string]string{} // by the id of the use
	for _, m := range messages {
		if m.Role == dialect.User && holds(m.Content, threeCities.question) {
			lines = append(lines, "the question")
		}
		for _, b := range m.Content {
			switch b.Type {
			case dialect.ToolUse:
				city[b.ID] = cityIn(arguments(b))
				lines = append(lines, "a tool use for "+city[b.ID])
			case dialect.ToolResult:
				lines = append(lines, fmt.Sprintf("the result for %s: %s", city[b.ID], weatherSaid(b)))
			}
		}
	}
	return lines
}

// weatherSaid is which weather a result tells of, whatever stands around it.
func weatherSaid(result dialect.Block) string {
	for _, city := range threeCities.cities {
		if holds(result.Content, weatherIn[city]) {
			return weatherIn[city]
		}
	}
	return clip(dialect.PlainText(result.Content))
}

// endsWith judges whether the answer to the n-th request is the text with which the model ends the loop.
func (ev *Evidence) endsWith(n int, end string) Verdict {
	if len(ev.Rounds) < n {
		return NotObserved("the play did not get as far as sampling request %d%s", n, ev.why(len(ev.Rounds)))
	}
	a, unread := ev.readable(ev.Rounds[n-1])
	if unread != nil {
		return *unread
	}
	said := Place{Label: "model said"}
	switch {
	case len(a.uses()) > 0:
		return Broken("the loop does not end: a tool use came back in place of the final text").See(said, "%q", end).See(a.At(a.uses()[0].Path), "%s", compact(a.uses()[0].Raw))
	case !holds(a.blocks(), end):
		return Broken("the final text of the loop did not come back").See(said, "%q", end).See(a.At("content"), "%s", compact(a.member("content")))
	}
	return Pass("the final text came back after %d rounds", n-1).See(a.At("content"), "%q", end)
}

var lastRoundNone = Check{
	ID: "last-round-none", Rule: "a loop that the server ends with the tool choice none ends in text", Levels: everywhere(report.Robust), Asked: 3, Cases: []string{"told-to-stop"},
	Requirements: []string{"2025-11-25/sampling/10", "2026-07-28/sampling/11"},
	Cause:        "toolChoice is not passed on, or the tools are left out of a request whose history has tool uses, which some providers refuse",
	Fix:          "send the provider's word for none, beside the tools; leave tool uses out of the answer",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[2]
		if x := r.LastModel(); x != nil && x.End.Refused != "" {
			return Broken("the model refused what the client made of the last request of a loop: %s", x.End.Refused).
				Saw("server sent", r.Asked.At("toolChoice"), "%q", dialect.ChoiceNone).See(x.Place, "")
		}
		if how := e.declined(r); how != "" {
			return NotApplicable("the client does not go along to the last request: %s", how)
		}
		return e.endsWith(3, twoCities.end)
	},
}

// stop is where, and how, a client ended the long loop.
type stop struct {
	round *Round // nil where it went along to the end
	how   string // nothing where it is not known that it stopped
}

// stopped finds where the client ended the long loop.
func (ev *Evidence) stopped() stop {
	for _, r := range ev.Rounds {
		a := r.Result()
		switch {
		case a != nil && len(a.uses()) > 0:
		case a != nil && a.blocks() != nil:
			return stop{r, fmt.Sprintf("it answers with the text %q", clip(dialect.PlainText(a.blocks())))}
		default:
			return stop{r, ev.declined(r)}
		}
	}
	return stop{}
}

var iterationLimit = Check{
	ID: "iteration-limit", Rule: "after how many rounds of a loop the client stops", Levels: everywhere(report.May), Asked: 1, Cases: []string{"sixty-four-rounds"},
	Requirements: []string{"2025-11-25/sampling/20", "2026-07-28/sampling/27"},
	Cause:        "servers and clients each bound a loop, at 5 or 10 rounds, at 25, or not at all",
	Fix:          "nothing: a limit is the client's choice; a server that loops without one should meet one",
	Judge: func(e *Evidence) Verdict {
		s := e.stopped()
		switch {
		case s.round == nil && len(e.Rounds) < mostRounds:
			return NotObserved("the play did not get as far as sampling request %d%s", len(e.Rounds)+1, e.why(len(e.Rounds)))
		case s.round == nil:
			return Info("the client goes along for %d rounds, which is as far as it is asked", mostRounds).See(e.Rounds[mostRounds-1].Asked, "")
		case s.how == "":
			return NotObserved("sampling request %d was not answered (see loop/stops-with-error)%s", s.round.N, e.why(s.round.N)).See(s.round.Asked, "")
		}
		return Info("the client goes along for %d rounds: %s", s.round.N-1, s.how).See(s.round.Asked, "")
	},
}

var stopsWithError = Check{
	ID: "stops-with-error", Rule: "no request of a long loop is left without an answer: a client that stops says so", Levels: everywhere(report.Robust), Asked: 1,
	Cases: []string{"sixty-four-rounds"},
	Cause: "the client's own loop ends, and with it whatever would have answered the server",
	Fix:   "answer the request that is over the limit with an error; in 2026-07-28, give up the call",
	Judge: func(e *Evidence) Verdict {
		s := e.stopped()
		if s.round == nil || s.how != "" {
			return Pass("the client answers each request of the loop, or says that it does not")
		}
		r := s.round
		cancels, _ := e.ownCancels()
		switch {
		case r.missed() != "":
			return NotObserved("the model had no answer for sampling request %d", r.N)
		case len(r.Answers) > 0 && !e.Session.answersAny():
			return NotObserved("the client answers nothing at all%s", e.why(r.N))
		case len(r.Answers) > 0: // a result that cannot be read
			return *r.Result().unreadable()
		case len(cancels) > 0:
			return Pass("the client goes along for %d rounds, and gives up its call", r.N-1)
		case !e.Revision.Modern():
			return e.Session.seeOutput(Broken("the client went along for %d rounds and never answered sampling request %d: %s", r.N-1, r.N, e.Session.ending()).See(r.Asked, ""))
		case e.Session.Ended != nil && !e.Session.Ended.Clean():
			return e.Session.seeOutput(Broken("the client went along for %d rounds, and did not go on after sampling request %d: %s", r.N-1, r.N, e.Session.ending()).See(r.Asked, ""))
		}
		if v := e.unsettled(r); v != nil {
			return *v
		}
		return NotObserved("sampling request %d was not answered%s", r.N, e.why(r.N))
	},
}

var stateless = Check{
	ID: "stateless", Rule: "the messages of one request are not kept for another", Levels: levels(report.Advice, report.Should), Asked: 3, Cases: []string{"two-questions"},
	Requirements: []string{"2026-07-28/sampling/14"},
	Cause:        "one history is kept for the session, and each request is added to it",
	Fix:          "give the model the request's own messages, and forget them when it is answered",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[2]
		x, missing := theModel(r)
		if missing != nil {
			return *missing
		}
		tell := func(v Verdict) Verdict {
			return v.Saw("server sent", r.Asked.At("messages"), "%s", spoken(r.Params.Messages)).Saw("model was given", x.Place, "%s", compact(x.Request.Body))
		}
		for _, word := range lonely.words() {
			if x.says(word) {
				return tell(Broken("the model was given %q, which is of another request", word))
			}
		}
		for _, c := range e.Session.Trace.Header.Cases {
			for _, other := range conversations(x.Request.Body, c.Mark) {
				if !slices.Contains(r.conversations, other) {
					return tell(Broken("the model was given something of another request (conversation %s, of %s)", other, c.ID))
				}
			}
		}
		return tell(Pass("the model was given nothing of the requests before it"))
	},
}
