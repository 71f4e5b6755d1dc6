package conformance

import (
	"encoding/json"
	"math/big"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// lookAlike returns the link that was answered with a result of a type that asks for nothing, or the verdict for there being none, or for a
// client that took it for a wish: it made its request again, or asked the model.
func (ev *Evidence) lookAlike(what string) (*CarryingRequest, *Verdict) {
	var v Verdict
	for _, l := range ev.Carrying {
		if l.InputRequired == nil {
			continue
		}
		asked := ev.Session.exchanges[ev.Case.ID]
		switch {
		case len(l.Retries) > 0:
			v = Broken("a result %s was taken for one that asks for input: the client made its request again", what).See(l.InputRequired.Place, "").See(l.Retries[0].Place, "")
		case len(asked) > 0:
			v = Broken("a result %s was taken for one that asks for input: the model was asked", what).See(l.InputRequired.Place, "").See(asked[0].Place, "")
		default:
			return l, nil
		}
		return nil, &v
	}
	v = NotObserved("the server did not get as far as such a result%s", ev.died())
	return nil, &v
}

// took is what the client says that it took a result for; "" where it says nothing.
func (ev *Evidence) took() string {
	if ev.Outcome == nil {
		return ""
	}
	return ev.Outcome.Ended
}

// untold is the verdict for a client that does not say what it took a result for.
func untold(l *CarryingRequest) Verdict {
	return Unsupported("the result was not taken for one that asks for input; to see what it was taken for takes a client that says how its calls ended (docs/adapters.md)").See(l.InputRequired.Place, "")
}

// unsettledWish returns nil where it is settled that nothing more came of a result, and the verdict for where it is not.
func (ev *Evidence) unsettledWish(l *CarryingRequest) *Verdict {
	if why := ev.Session.Unsettled(l.InputRequired.Place); why != "" {
		v := NotObserved("the client did not make its request again, and it is not settled that it would not have: %s", why).See(l.InputRequired.Place, "")
		return &v
	}
	return nil
}

var missingResultType = Check{
	ID: "missing-result-type", Rule: "a result without a resultType is complete, whatever else it has", Levels: inModern(report.Must), Cases: []string{"untyped"},
	Requirements: []string{"2026-07-28/basic/12", "2026-07-28/schema/16"},
	Cause:        "the client looks for inputRequests, and not at the type",
	Fix:          "ask for resultType first: a result without one is complete, as those of older servers are",
	Judge: func(e *Evidence) Verdict {
		l, other := e.lookAlike("without a resultType")
		if other != nil {
			return *other
		}
		switch e.took() {
		case harness.Completed:
			return Pass("it was taken to be complete").See(l.InputRequired.Place, "")
		case "":
			if v := e.unsettledWish(l); v != nil {
				return *v
			}
			return untold(l)
		}
		return Warn("the client refuses a result without a resultType (%s): the rule is for older servers, which this one is not, so that it may; with an older one it must not", e.took()).See(l.InputRequired.Place, "")
	},
}

var unknownResultType = Check{
	ID: "unknown-result-type", Rule: "a result of a type that is unknown is invalid: neither complete nor one that asks for input", Levels: inModern(report.Must),
	Cases: []string{"unknown-type"}, Requirements: []string{"2026-07-28/basic/11"},
	Cause: "every type but input_required is taken to be complete, or the client looks for inputRequests, and not at the type",
	Fix:   "end the call with an error where resultType is neither complete nor input_required",
	Judge: func(e *Evidence) Verdict {
		l, other := e.lookAlike("of the type " + unheardOf)
		if other != nil {
			return *other
		}
		switch e.took() {
		case harness.Completed:
			return Broken("a result of the type %s was taken to be complete", unheardOf).See(l.InputRequired.At("resultType"), "%q", unheardOf).
				See(Place{Label: "client says"}, "of its call: %s", e.took())
		case harness.InputRequired:
			return Warn("a result of the type %s was taken for one that asks for input, which was not given", unheardOf).See(l.InputRequired.At("resultType"), "%q", unheardOf)
		case "":
			if v := e.unsettledWish(l); v != nil {
				return *v
			}
			return untold(l)
		}
		return Pass("the call ended with an error").See(l.InputRequired.Place, "")
	},
}

// direct judges what became of requests of the server's: strays are the responses to them.
func (ev *Evidence) direct(strays []Answer, broken, pass string) Verdict {
	asked := ev.sentDirectly()
	switch {
	case asked == nil:
		return NotObserved("the server did not get as far as such a request%s", ev.died())
	case len(strays) > 0:
		return Broken("%s", broken).Saw("server sent", *asked, "").Saw("client sent", strays[0].Place, "a response for %s", orMissing(strays[0].ID))
	}
	if undecided := ev.Session.undecided(*asked, "no response came, and it is not settled that none would have"); undecided != nil {
		return undecided.See(*asked, "")
	}
	return Pass("%s", pass).See(*asked, "")
}

// sentDirectly is where the last message of the server's stands that is a request; nil where there is none.
func (ev *Evidence) sentDirectly() *Place {
	var last *Place
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Case != ev.Case.ID || e.Frame == nil || e.Frame.Dir != trace.ToClient {
			continue
		}
		if m := ev.Session.message(e); m.method != "" && m.id != nil {
			last = &Place{e.Ref(), "method", m.method}
		}
	}
	return last
}

var directRequestUnanswered = Check{
	ID: "direct-request-unanswered", Rule: "a sampling request that comes as a request of the server's gets neither result nor error", Levels: inModern(report.Must),
	Cases: []string{"direct"}, Requirements: []string{"2026-07-28/streamable-http/06", "2026-07-28/stdio/04"},
	Cause: "the handlers of the older era still listen",
	Fix:   "in 2026-07-28 ignore requests of the server's, or end the call that they came with",
	Judge: func(e *Evidence) Verdict {
		var to []Answer
		for _, a := range e.Session.Strays {
			if idText(a.ID) == directSample {
				to = append(to, a)
			}
		}
		return e.direct(to, "the client answered a sampling request that came as a request: this era has none", "it got no response")
	},
}

var noResponses = Check{
	ID: "no-responses", Rule: "the client sends no JSON-RPC responses, whatever the server sends", Levels: inModern(report.Must), Cases: []string{"direct", "ping"},
	Requirements: []string{"2026-07-28/streamable-http/06", "2026-07-28/stdio/04", "2026-07-28/basic/21"},
	Cause:        "a library of the older era answers whatever has a method and an id: with a result, or with -32601",
	Fix:          "in 2026-07-28 send requests and notifications, and nothing else",
	Judge: func(e *Evidence) Verdict {
		return e.direct(e.Session.Strays, "the client sent a JSON-RPC response, which this era does not have", "the client sent no response")
	},
}

var idsOfRequests = Check{
	ID: "request-ids", Rule: "the id of a request is a string or an integer", Levels: inModern(report.Must), Whole: true, Cases: []string{"several"},
	Requirements: []string{"2026-07-28/basic/02", "2026-07-28/basic/03"},
	Cause:        "an id is not set, and goes out as null, or is a number with a fraction, such as a time",
	Fix:          "count the requests, or give each a fresh string",
	Judge: func(e *Evidence) Verdict {
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			var text string
			var number json.Number
			isText := json.Unmarshal(r.id, &text) == nil && r.id[0] == '"'
			if !isText && (json.Unmarshal(r.id, &number) != nil || r.id[0] == '"' || string(r.id) == "null" || !wholeNumber(number)) {
				return Broken("the id of a %s is neither a string nor an integer", r.Method).See(Place{r.Ref, "id", r.Method}, "%s", r.id)
			}
		}
		if len(e.Session.Requests) == 0 {
			return NotObserved("the client sent no request")
		}
		return Pass("the ids are strings or integers")
	},
}

// wholeNumber reports whether a number is an integer, however it is written.
func wholeNumber(n json.Number) bool {
	f, _, err := big.ParseFloat(string(n), 10, 512, big.ToNearestEven)
	return err == nil && f.IsInt()
}

var undeclaredInput = Check{
	ID: "undeclared-input", Rule: "input that the client does not declare is not given", Levels: inModern(report.Robust), Cases: []string{"undeclared"},
	Cause: "the client has something to say to whatever is asked for, or the result is passed to the next one that has",
	Fix:   "fulfil what is declared, and end the call where something else is asked for",
	Judge: func(e *Evidence) Verdict {
		wishes := e.wishes()
		if len(wishes) == 0 && e.Over {
			return NotApplicable("the client declares all that could be asked for")
		} else if len(wishes) == 0 {
			return e.noWish()
		}
		from := wishes[0]
		method := from.InputRequired.Requests["undeclared"]
		if len(from.Retries) == 0 {
			if v := e.unsettledWish(from); v != nil {
				return *v
			}
			return Pass("the client did not give what it does not declare (%s)", method).See(from.InputRequired.Place, "")
		}
		retry := from.Retries[0]
		answer := retry.Responses["undeclared"]
		var o dialect.Object
		_ = dialect.ReadPart(answer, &o) // what is no object is no refusal
		tell := func(v Verdict) Verdict {
			return v.Saw("server asked for", from.InputRequired.At("inputRequests"), "%s", method).Saw("client declared", e.Declared.capabilities(), "%s", orMissing(e.Declared.declared())).
				Saw("client answered", retry.At("inputResponses"), "%s", orMissing(retry.Params["inputResponses"]))
		}
		switch {
		case answer == nil || string(answer) == "null":
			return tell(Pass("the client made its request again without what it does not declare"))
		case o.Has("error") || o.Text("action") == "decline" || o.Text("action") == "cancel":
			return tell(Warn("the client refuses what it does not declare in a retry, where it need not retry at all"))
		}
		return tell(Broken("the client gave input that it does not declare: %s", method))
	},
}

var badInput = Check{
	ID: "bad-input", Rule: "input requests that are none do not end the client", Levels: inModern(report.Robust), Cases: []string{"null-input", "unknown-input", "malformed-input"},
	Cause: "what is read from the result is used without a look at what it is, on a goroutine or in a callback that nobody catches errors of",
	Fix:   "make it an error of that call, and go on",
	Judge: func(e *Evidence) Verdict {
		var from *CarryingRequest
		if wishes := e.wishes(); len(wishes) > 0 {
			from = wishes[0]
		} else {
			return e.noWish()
		}
		s := e.Session
		switch after := s.order[from.InputRequired.Ref]; {
		case s.later(after):
			return Pass("the client went on").See(from.InputRequired.Place, "")
		case s.Ended != nil && s.Ended.Clean():
			return Unsupported("nothing shows that the client went on: it takes one that calls the tools in the order in which they are listed, and answers the last one's sample").See(from.InputRequired.Place, "")
		}
		text := strings.TrimSpace(string(s.Trace.Find(from.InputRequired.Ref).Frame.Raw))
		return s.seeOutput(Broken("the client did not go on after an input request that is none: %s", s.ending()).See(from.InputRequired.At("inputRequests"), "%s", compact([]byte(text))))
	},
}
