package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var threeRounds = check.Check{
	ID: "three-rounds", Rule: "in each round of a tool loop the model is given the history as it has grown, and its final text comes back", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"three-cities"}, Statements: requirements.Balance,
	Cause: "the client keeps a history of its own and adds the server's to it, or gives the model the last messages only",
	Fix:   "give the model the messages of the request, all of them and in their order, and nothing else",
	Judge: func(e *evidence.Case) check.Verdict {
		for i, r := range e.Rounds {
			if v := grown(e, r); v != nil {
				return *v
			}
			if how := check.Refusal(e, r); how != "" {
				return check.NotApplicable("the client ends the loop in round %d: %s", i+1, how)
			}
		}
		return endsWith(e, len(threeCities.cities)+1, threeCities.end)
	},
}

// grown holds the history that the model was given for a round against that of the request; nil where they are the same.
func grown(ev *evidence.Case, r *evidence.Round) *check.Verdict {
	x, missing := check.ModelRequest(r)
	if missing != nil {
		if len(r.Model) == 0 && check.Refusal(ev, r) != "" {
			return nil // the model was not asked, and the client says why
		}
		return missing
	}
	sent, given := courseOf(r.Params.Messages), courseOf(x.Request.Messages)
	tell := func(v check.Verdict) *check.Verdict {
		v = v.ShowAs("server sent", r.Asked.At("messages"), "%s", strings.Join(sent, "\n")).ShowAs("model was given", x.At("messages"), "%s", strings.Join(given, "\n"))
		return &v
	}
	switch {
	case x.End.Refused != "" && r.N == 1:
		return tell(check.NotObserved("the model refused the first request of the loop, which has no history: %s", x.End.Refused))
	case !slices.Equal(sent, given):
		return tell(check.Fail("in round %d the model was given another history than the server's", r.N))
	case x.End.Refused != "":
		return tell(check.Fail("the model refused the history of round %d: %s", r.N, x.End.Refused))
	}
	return nil
}

// courseOf is what a history of the tour says, a line each: the question, each tool use, and each result, by the use that it answers.
func courseOf(messages []dialect.Message) []string {
	var lines []string
	city := map[string]string{} // by the id of the use
	for _, m := range messages {
		if m.Role == dialect.User && evidence.Holds(m.Content, threeCities.question) {
			lines = append(lines, "the question")
		}
		for _, b := range m.Content {
			switch b.Type {
			case dialect.ToolUse:
				city[b.ID] = cityIn(evidence.Arguments(b))
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
		if evidence.Holds(result.Content, weatherIn[city]) {
			return weatherIn[city]
		}
	}
	return evidence.Clip(dialect.PlainText(result.Content))
}

// endsWith judges whether the answer to the n-th request is the text with which the model ends the loop.
func endsWith(ev *evidence.Case, n int, end string) check.Verdict {
	if len(ev.Rounds) < n {
		return check.NotObserved("the server did not send sampling request %d%s", n, ev.WhyNoResult(len(ev.Rounds)))
	}
	a, unread := check.ReadableResult(ev, ev.Rounds[n-1])
	if unread != nil {
		return *unread
	}
	said := evidence.Place{Label: "model said"}
	switch {
	case len(a.Uses()) > 0:
		return check.Fail("the loop does not end: a tool use came back in place of the final text").Show(said, "%q", end).Show(a.At(a.Uses()[0].Path), "%s", evidence.Compact(a.Uses()[0].Raw))
	case !evidence.Holds(a.Blocks(), end):
		return check.Fail("the final text of the loop did not come back").Show(said, "%q", end).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
	}
	return check.Pass("the final text came back after %d rounds", n-1).Show(a.At("content"), "%q", end)
}

var lastRoundNone = check.Check{
	ID: "last-round-none", Rule: "a loop that the server ends with the tool choice none ends in text", Levels: check.Everywhere(report.Robust), Requests: 3, Cases: []string{"told-to-stop"},
	Statements: []string{"2025-11-25/sampling/10", "2026-07-28/sampling/11"},
	Cause:      "toolChoice is not passed on, or the tools are left out of a request whose history has tool uses, which some providers refuse",
	Fix:        "send the provider's word for none, beside the tools; leave tool uses out of the answer",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[2]
		if x := r.LastExchange(); x != nil && x.End.Refused != "" {
			return check.Fail("the model refused what the client made of the last request of a loop: %s", x.End.Refused).
				ShowAs("server sent", r.Asked.At("toolChoice"), "%q", dialect.ChoiceNone).Show(x.Place, "")
		}
		if how := check.Refusal(e, r); how != "" {
			return check.NotApplicable("the client does not go along to the last request: %s", how)
		}
		return endsWith(e, 3, twoCities.end)
	},
}

// stop is where, and how, a client ended the long loop.
type stop struct {
	round *evidence.Round // nil where it went along to the end
	how   string          // nothing where it is not known that it stopped
}

// stopped finds where the client ended the long loop.
func stopped(ev *evidence.Case) stop {
	for _, r := range ev.Rounds {
		a := r.Result()
		switch {
		case a != nil && len(a.Uses()) > 0:
		case a != nil && a.Blocks() != nil:
			return stop{r, fmt.Sprintf("it answers with the text %q", evidence.Clip(dialect.PlainText(a.Blocks())))}
		default:
			return stop{r, check.Refusal(ev, r)}
		}
	}
	return stop{}
}

var iterationLimit = check.Check{
	ID: "iteration-limit", Rule: "after how many rounds of a loop the client stops", Levels: check.Everywhere(report.May), Requests: 1, Cases: []string{"sixty-four-rounds"},
	Statements: []string{"2025-11-25/sampling/20", "2026-07-28/sampling/27"},
	Cause:      "servers and clients each bound a loop, at 5 or 10 rounds, at 25, or not at all",
	Fix:        "nothing: a limit is the client's choice; a server that loops without one should meet one",
	Judge: func(e *evidence.Case) check.Verdict {
		s := stopped(e)
		switch {
		case s.round == nil && len(e.Rounds) < mostRounds:
			return check.NotObserved("the server did not send sampling request %d%s", len(e.Rounds)+1, e.WhyNoResult(len(e.Rounds)))
		case s.round == nil:
			return check.Info("the client goes along for %d rounds, which is as far as it is asked", mostRounds).Show(e.Rounds[mostRounds-1].Asked, "")
		case s.how == "":
			return check.NotObserved("no result for sampling request %d (see loop/stops-with-error)%s", s.round.N, e.WhyNoResult(s.round.N)).Show(s.round.Asked, "")
		}
		return check.Info("the client goes along for %d rounds: %s", s.round.N-1, s.how).Show(s.round.Asked, "")
	},
}

var stopsWithError = check.Check{
	ID: "stops-with-error", Rule: "no request of a long loop is left without an answer: a client that stops says so", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"sixty-four-rounds"},
	Cause: "the client's own loop ends, and with it whatever would have answered the server",
	Fix:   "answer the request that is over the limit with an error; in 2026-07-28, give up the call",
	Judge: func(e *evidence.Case) check.Verdict {
		s := stopped(e)
		if s.round == nil || s.how != "" {
			return check.Pass("the client answers each request of the loop, or says that it does not")
		}
		r := s.round
		cancels, _ := e.CallCancels()
		switch {
		case r.CassetteMiss() != "":
			return check.NotObserved("the model had no answer for sampling request %d", r.N)
		case len(r.Answers) > 0 && !e.Session.AnswersAny():
			return check.NotObserved("the client answers nothing at all%s", e.WhyNoResult(r.N))
		case len(r.Answers) > 0: // a result that cannot be read
			return *check.UnreadableContent(r.Result())
		case len(cancels) > 0:
			return check.Pass("the client goes along for %d rounds, and gives up its call", r.N-1)
		case !e.Revision.Modern():
			return check.ShowOutput(e.Session, check.Fail("the client went along for %d rounds and never answered sampling request %d: %s", r.N-1, r.N, e.Session.Ending()).Show(r.Asked, ""))
		case e.Session.Ended != nil && !e.Session.Ended.Clean():
			return check.ShowOutput(e.Session, check.Fail("the client went along for %d rounds, and did not go on after sampling request %d: %s", r.N-1, r.N, e.Session.Ending()).Show(r.Asked, ""))
		}
		if v := check.Unsettled(e, r); v != nil {
			return *v
		}
		return check.NotObserved("no result for sampling request %d%s", r.N, e.WhyNoResult(r.N))
	},
}

var stateless = check.Check{
	ID: "stateless", Rule: "the messages of one request are not kept for another", Levels: check.Levels(report.Advice, report.Should), Requests: 3, Cases: []string{"two-questions"},
	Statements: []string{"2026-07-28/sampling/14"},
	Cause:      "one history is kept for the session, and each request is added to it",
	Fix:        "give the model the request's own messages, and forget them when it is answered",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[2]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		tell := func(v check.Verdict) check.Verdict {
			return v.ShowAs("server sent", r.Asked.At("messages"), "%s", evidence.Spoken(r.Params.Messages)).ShowAs("model was given", x.Place, "%s", evidence.Compact(x.Request.Body))
		}
		for _, word := range lonely.words() {
			if x.Says(word) {
				return tell(check.Fail("the model was given %q, which is of another request", word))
			}
		}
		for _, c := range e.Session.Trace.Header.Cases {
			for _, other := range evidence.Conversations(x.Request.Body, c.Mark) {
				if !slices.Contains(r.Conversations, other) {
					return tell(check.Fail("the model was given something of another request (conversation %s, of %s)", other, c.ID))
				}
			}
		}
		return tell(check.Pass("the model was given nothing of the requests before it"))
	},
}
