package mrtr

import (
	"encoding/json"
	"math/big"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// lookAlike returns the link that was answered with a result of a type that asks for nothing, or the verdict for there being none, or for a
// client that took it for a wish: it made its request again, or asked the model.
func lookAlike(ev *evidence.Case, what string) (*evidence.CarryingRequest, *check.Verdict) {
	var v check.Verdict
	for _, l := range ev.CarryingRequests {
		if l.InputRequired == nil {
			continue
		}
		asked := ev.Session.Exchanges[ev.Case.ID]
		switch {
		case len(l.Retries) > 0:
			v = check.Fail("a result %s was taken for one that asks for input: the client made its request again", what).Show(l.InputRequired.Place, "").Show(l.Retries[0].Place, "")
		case len(asked) > 0:
			v = check.Fail("a result %s was taken for one that asks for input: the model was asked", what).Show(l.InputRequired.Place, "").Show(asked[0].Place, "")
		default:
			return l, nil
		}
		return nil, &v
	}
	v = check.NotObserved("the server did not get as far as such a result%s", ev.Died())
	return nil, &v
}

// untold is the verdict for a client that does not say what it took a result for.
func untold(l *evidence.CarryingRequest) check.Verdict {
	return check.Unsupported("the result was not taken for one that asks for input; to see what it was taken for takes a client that says how its calls ended (docs/adapters.md)").Show(l.InputRequired.Place, "")
}

// unsettledWish returns nil where it is settled that nothing more came of a result, and the verdict for where it is not.
func unsettledWish(ev *evidence.Case, l *evidence.CarryingRequest) *check.Verdict {
	if why := ev.Session.Unsettled(l.InputRequired.Place); why != "" {
		v := check.NotObserved("the client did not make its request again, and it is not settled that it would not have: %s", why).Show(l.InputRequired.Place, "")
		return &v
	}
	return nil
}

var missingResultType = check.Check{
	ID: "missing-result-type", Rule: "a result without a resultType is complete, whatever else it has", Levels: check.InModern(report.Must), Cases: []string{"untyped"},
	Statements: []string{"2026-07-28/basic/12", "2026-07-28/schema/16"},
	Cause:      "the client looks for inputRequests, and not at the type",
	Fix:        "ask for resultType first: a result without one is complete, as those of older servers are",
	Judge: func(e *evidence.Case) check.Verdict {
		l, other := lookAlike(e, "without a resultType")
		if other != nil {
			return *other
		}
		switch e.ReportedOutcome() {
		case harness.Completed:
			return check.Pass("it was taken to be complete").Show(l.InputRequired.Place, "")
		case "":
			if v := unsettledWish(e, l); v != nil {
				return *v
			}
			return untold(l)
		}
		return check.Warn("the client refuses a result without a resultType (%s): the rule is for older servers, which this one is not, so that it may; with an older one it must not", e.ReportedOutcome()).Show(l.InputRequired.Place, "")
	},
}

var unknownResultType = check.Check{
	ID: "unknown-result-type", Rule: "a result of a type that is unknown is invalid: neither complete nor one that asks for input", Levels: check.InModern(report.Must),
	Cases: []string{"unknown-type"}, Statements: []string{"2026-07-28/basic/11"},
	Cause: "every type but input_required is taken to be complete, or the client looks for inputRequests, and not at the type",
	Fix:   "end the call with an error where resultType is neither complete nor input_required",
	Judge: func(e *evidence.Case) check.Verdict {
		l, other := lookAlike(e, "of the type "+unheardOf)
		if other != nil {
			return *other
		}
		switch e.ReportedOutcome() {
		case harness.Completed:
			return check.Fail("a result of the type %s was taken to be complete", unheardOf).Show(l.InputRequired.At("resultType"), "%q", unheardOf).
				Show(evidence.Place{Label: "client says"}, "of its call: %s", e.ReportedOutcome())
		case harness.InputRequired:
			return check.Warn("a result of the type %s was taken for one that asks for input, which was not given", unheardOf).Show(l.InputRequired.At("resultType"), "%q", unheardOf)
		case "":
			if v := unsettledWish(e, l); v != nil {
				return *v
			}
			return untold(l)
		}
		return check.Pass("the call ended with an error").Show(l.InputRequired.Place, "")
	},
}

// direct judges what became of requests of the server's: strays are the responses to them.
func direct(ev *evidence.Case, strays []evidence.Answer, broken, pass string) check.Verdict {
	asked := sentDirectly(ev)
	switch {
	case asked == nil:
		return check.NotObserved("the server did not get as far as such a request%s", ev.Died())
	case len(strays) > 0:
		return check.Fail("%s", broken).ShowAs("server sent", *asked, "").ShowAs("client sent", strays[0].Place, "a response for %s", check.OrMissing(strays[0].ID))
	}
	if undecided := check.UnsettledAfter(ev.Session, *asked, "no response came, and it is not settled that none would have"); undecided != nil {
		return undecided.Show(*asked, "")
	}
	return check.Pass("%s", pass).Show(*asked, "")
}

// sentDirectly is where the last message of the server's stands that is a request; nil where there is none.
func sentDirectly(ev *evidence.Case) *evidence.Place {
	var last *evidence.Place
	for i := range ev.Session.Trace.Events {
		e := &ev.Session.Trace.Events[i]
		if e.Case != ev.Case.ID || e.Frame == nil || e.Frame.Dir != trace.ToClient {
			continue
		}
		if m := ev.Session.Message(e); m.Method != "" && m.ID != nil {
			last = &evidence.Place{Ref: e.Ref(), Path: "method", Label: m.Method}
		}
	}
	return last
}

var directRequestUnanswered = check.Check{
	ID: "direct-request-unanswered", Rule: "a sampling request that comes as a request of the server's gets neither result nor error", Levels: check.InModern(report.Must),
	Cases: []string{"direct"}, Statements: []string{"2026-07-28/streamable-http/06", "2026-07-28/stdio/04"},
	Cause: "the handlers of the older era still listen",
	Fix:   "in 2026-07-28 ignore requests of the server's, or end the call that they came with",
	Judge: func(e *evidence.Case) check.Verdict {
		var to []evidence.Answer
		for _, a := range e.Session.UnmatchedResponses {
			if evidence.IDText(a.ID) == directSample {
				to = append(to, a)
			}
		}
		return direct(e, to, "the client answered a sampling request that came as a request: this era has none", "it got no response")
	},
}

var noResponses = check.Check{
	ID: "no-responses", Rule: "the client sends no JSON-RPC responses, whatever the server sends", Levels: check.InModern(report.Must), Cases: []string{"direct", "ping"},
	Statements: []string{"2026-07-28/streamable-http/06", "2026-07-28/stdio/04", "2026-07-28/basic/21"},
	Cause:      "a library of the older era answers whatever has a method and an id: with a result, or with -32601",
	Fix:        "in 2026-07-28 send requests and notifications, and nothing else",
	Judge: func(e *evidence.Case) check.Verdict {
		return direct(e, e.Session.UnmatchedResponses, "the client sent a JSON-RPC response, which this era does not have", "the client sent no response")
	},
}

var idsOfRequests = check.Check{
	ID: "request-ids", Rule: "the id of a request is a string or an integer", Levels: check.InModern(report.Must), Whole: true, Cases: []string{"several"},
	Statements: []string{"2026-07-28/basic/02", "2026-07-28/basic/03"},
	Cause:      "an id is not set, and goes out as null, or is a number with a fraction, such as a time",
	Fix:        "count the requests, or give each a fresh string",
	Judge: func(e *evidence.Case) check.Verdict {
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			var text string
			var number json.Number
			isText := json.Unmarshal(r.ID, &text) == nil && r.ID[0] == '"'
			if !isText && (json.Unmarshal(r.ID, &number) != nil || r.ID[0] == '"' || string(r.ID) == "null" || !wholeNumber(number)) {
				return check.Fail("the id of a %s is neither a string nor an integer", r.Method).Show(evidence.Place{Ref: r.Ref, Path: "id", Label: r.Method}, "%s", r.ID)
			}
		}
		if len(e.Session.Requests) == 0 {
			return check.NotObserved("the client sent no request")
		}
		return check.Pass("the ids are strings or integers")
	},
}

// wholeNumber reports whether a number is an integer, however it is written.
func wholeNumber(n json.Number) bool {
	f, _, err := big.ParseFloat(string(n), 10, 512, big.ToNearestEven)
	return err == nil && f.IsInt()
}

var undeclaredInput = check.Check{
	ID: "undeclared-input", Rule: "input that the client does not declare is not given", Levels: check.InModern(report.Robust), Cases: []string{"undeclared"},
	Cause: "the client has something to say to whatever is asked for, or the result is passed to the next one that has",
	Fix:   "fulfil what is declared, and end the call where something else is asked for",
	Judge: func(e *evidence.Case) check.Verdict {
		wishes := e.InputRequiredResults()
		if len(wishes) == 0 && e.Over {
			return check.NotApplicable("the client declares all that could be asked for")
		} else if len(wishes) == 0 {
			return noWish(e)
		}
		from := wishes[0]
		method := from.InputRequired.Requests["undeclared"]
		if len(from.Retries) == 0 {
			if v := unsettledWish(e, from); v != nil {
				return *v
			}
			return check.Pass("the client did not give what it does not declare (%s)", method).Show(from.InputRequired.Place, "")
		}
		retry := from.Retries[0]
		answer := retry.Responses["undeclared"]
		var o dialect.Object
		_ = dialect.ReadPart(answer, &o) // what is no object is no refusal
		tell := func(v check.Verdict) check.Verdict {
			return v.ShowAs("server asked for", from.InputRequired.At("inputRequests"), "%s", method).ShowAs("client declared", e.Declared.CapabilitiesAt(), "%s", check.OrMissing(e.Declared.Declared())).
				ShowAs("client answered", retry.At("inputResponses"), "%s", check.OrMissing(retry.Params["inputResponses"]))
		}
		switch {
		case answer == nil || string(answer) == "null":
			return tell(check.Pass("the client made its request again without what it does not declare"))
		case o.Has("error") || o.Text("action") == "decline" || o.Text("action") == "cancel":
			return tell(check.Warn("the client refuses what it does not declare in a retry, where it need not retry at all"))
		}
		return tell(check.Fail("the client gave input that it does not declare: %s", method))
	},
}

var badInput = check.Check{
	ID: "bad-input", Rule: "input requests that are none do not end the client", Levels: check.InModern(report.Robust), Cases: []string{"null-input", "unknown-input", "malformed-input"},
	Cause: "what is read from the result is used without a look at what it is, on a goroutine or in a callback that nobody catches errors of",
	Fix:   "make it an error of that call, and go on",
	Judge: func(e *evidence.Case) check.Verdict {
		var from *evidence.CarryingRequest
		if wishes := e.InputRequiredResults(); len(wishes) > 0 {
			from = wishes[0]
		} else {
			return noWish(e)
		}
		s := e.Session
		switch after := s.Order[from.InputRequired.Ref]; {
		case s.ServedLater(after):
			return check.Pass("the client went on").Show(from.InputRequired.Place, "")
		case s.Ended != nil && s.Ended.Clean():
			return check.Unsupported("nothing shows that the client went on: it takes one that calls the tools in the order in which they are listed, and answers the last one's sample").Show(from.InputRequired.Place, "")
		}
		text := strings.TrimSpace(string(s.Trace.Find(from.InputRequired.Ref).Frame.Raw))
		return check.ShowOutput(s, check.Fail("the client did not go on after an input request that is none: %s", s.Ending()).Show(from.InputRequired.At("inputRequests"), "%s", evidence.Compact([]byte(text))))
	},
}
