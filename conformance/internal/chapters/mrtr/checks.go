package mrtr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// wishing are the cases in which a right client makes its request again, each time that it is asked for input.
var wishing = []string{"several", "mixed", "states", "big-state", "empty-state", "no-state", "five-rounds"}

// noWish says why a case has no wish in it.
func noWish(ev *evidence.Case) check.Verdict {
	if (strings.HasSuffix(ev.Case.ID, "/mixed") || strings.HasSuffix(ev.Case.ID, "/bare-input")) && ev.Over {
		return check.NotApplicable("the client declares neither roots nor elicitation, so that nothing can be asked for beside a sample")
	}
	return check.NotObserved("the server did not get as far as asking for input%s", ev.Died())
}

// eachRetry judges each retry that answers a wish of the kind; nil is every kind. What judge finds wrong counts, and the zero verdict is
// that nothing is.
func eachRetry(ev *evidence.Case, kind func(*evidence.InputRequired) bool, judge func(from, retry *evidence.CarryingRequest) check.Verdict, pass string) check.Verdict {
	wishes := ev.InputRequiredResults()
	if len(wishes) == 0 {
		return noWish(ev)
	}
	var last *evidence.CarryingRequest
	for _, from := range wishes {
		if kind != nil && !kind(from.InputRequired) {
			continue
		}
		for _, retry := range from.Retries {
			if v := judge(from, retry); v.Kind != "" {
				return v
			}
			last = retry
		}
	}
	if last == nil {
		return check.NotObserved("the client made no retry that would show it (see mrtr/retried)").Show(wishes[0].InputRequired.Place, "")
	}
	return check.Pass("%s", pass).Show(last.Place, "")
}

var retried = check.Check{
	ID: "retried", Rule: "a request that is answered with a wish for input is made again", Levels: check.InModern(report.Robust),
	Cases: append([]string{"bare-input"}, wishing...),
	Cause: "the result is handed to the caller as if it were the last, or one input at a time is all that is foreseen",
	Fix:   "fulfil the input requests, all of them, and make the same request again with inputResponses and requestState",
	Judge: func(e *evidence.Case) check.Verdict {
		wishes := e.InputRequiredResults()
		if len(wishes) == 0 {
			return noWish(e)
		}
		from := wishes[0]
		if len(from.Retries) > 0 {
			return check.Pass("the request was made again").Show(from.Retries[0].Place, "")
		}
		if v := unanswered(e); v != nil {
			return *v
		}
		if calls := e.Session.Calls[e.Case.ID]; len(calls) > 1 {
			return check.Fail("the client was asked for input, and called again as if for the first time, without inputResponses or requestState").
				Show(from.InputRequired.Place, "").Show(calls[1].CallPlace(), "")
		}
		return check.ShowOutput(e.Session, check.Fail("the client was asked for input, and did not make its request again%s", e.Died()).
			Show(from.InputRequired.Place, "asked for: %s", strings.Join(from.InputRequired.Keys(), ", ")))
	},
}

// unanswered is the verdict for a client that cannot go on, because the model had no answer for it; nil where it had.
func unanswered(ev *evidence.Case) *check.Verdict {
	for _, r := range ev.Rounds {
		if why := r.CassetteMiss(); why != "" {
			v := check.NotObserved("the model had no answer for the client: %s", evidence.Clip(why))
			return &v
		}
	}
	return nil
}

var everyKey = check.Check{
	ID: "every-key", Rule: "a retry has an answer under every key that was asked for", Levels: check.InModern(report.Must), Cases: wishing,
	Statements: []string{"2026-07-28/mrtr/22"},
	Cause:      "of several input requests one is answered, or those of one kind; or the answers are kept under keys of the client's own",
	Fix:        "build inputResponses from the keys of inputRequests, and retry only once each has its answer",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, asksForInput, func(from, retry *evidence.CarryingRequest) check.Verdict {
			for _, key := range from.InputRequired.Keys() {
				if !retry.Responses.Has(key) {
					return check.Fail("the retry has nothing under the key %q, which was asked for (%s)", key, from.InputRequired.Requests[key]).
						ShowAs("server asked", from.InputRequired.At("inputRequests"), "%s", strings.Join(from.InputRequired.Keys(), ", ")).
						ShowAs("client answered", retry.At("inputResponses"), "%s", check.OrMissing(retry.Params["inputResponses"]))
				}
			}
			return check.Verdict{}
		}, "every key that was asked for has its answer")
	},
}

func asksForInput(w *evidence.InputRequired) bool { return len(w.Requests) > 0 }

var answersValid = check.Check{
	ID: "answers-valid", Rule: "what a retry has under a key is a valid result of what was asked for", Levels: check.InModern(report.Must), Cases: wishing,
	Statements: check.ResultSchema,
	Cause:      "the answer is wrapped, as in a JSON-RPC response, or an error stands in its place",
	Fix:        "put the CreateMessageResult itself under the key; where there is none, do not retry",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, asksForInput, func(from, retry *evidence.CarryingRequest) check.Verdict {
			for _, key := range from.InputRequired.Keys() {
				name, known := inputResults[from.InputRequired.Requests[key]]
				answer := retry.Responses[key]
				if !known || answer == nil {
					continue
				}
				if err := schema.Validate(string(e.Revision), name, answer); err != nil {
					at, why := retry.At(fmt.Sprintf("inputResponses[%q]", key)), err.Error()
					var invalid *schema.Error
					if errors.As(err, &invalid) {
						why = strings.TrimPrefix(invalid.Path+": "+invalid.Message, ": ")
					}
					return check.Fail("the answer under %q is not a valid %s", key, name).Show(at, "%s", evidence.Compact(answer)).Show(evidence.Place{Label: "schema"}, "%s", why)
				}
			}
			return check.Verdict{}
		}, "the answers are valid")
	},
}

// inputResults are the results of what can be asked for.
var inputResults = map[string]schema.Name{"sampling/createMessage": schema.CreateMessageResult, "roots/list": "ListRootsResult", "elicitation/create": "ElicitResult"}

var stateEchoed = check.Check{
	ID: "state-echoed", Rule: "requestState comes back as it was, each time the latest", Levels: check.InModern(report.Must),
	Cases: []string{"several", "mixed", "states", "big-state", "five-rounds", "only-state"}, Statements: []string{"2026-07-28/mrtr/24", "2026-07-28/mrtr/03", "2026-07-28/mrtr/25"},
	Cause: "the state is parsed and written anew, normalized or cut, or that of the first round is kept for all",
	Fix:   "keep requestState as a string of which nothing is known, and send the one of the result that is answered",
	Judge: func(e *evidence.Case) check.Verdict {
		if w := e.InputRequiredResults(); len(w) > 0 && strings.HasSuffix(e.Case.ID, "/only-state") && len(w[0].Retries) == 0 {
			return check.NotApplicable("the client does not retry where no input is asked for, which it may")
		}
		return eachRetry(e, func(w *evidence.InputRequired) bool { return w.State != nil }, func(from, retry *evidence.CarryingRequest) check.Verdict {
			return judgeState(e, from, retry)
		}, "the state came back as it was")
	},
}

var stateEmpty = check.Check{
	ID: "state-empty", Rule: "a requestState that is the empty string comes back, too", Levels: check.InModern(report.Must), Cases: []string{"empty-state"},
	Statements: []string{"2026-07-28/mrtr/24", "2026-07-28/mrtr/03", "2026-07-28/mrtr/25"},
	Cause:      "the state is a string that is left out where it is empty (omitempty), or is tested for truth",
	Fix:        "tell a state that is empty from one that is missing: by a pointer, or by the member's presence",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, nil, func(from, retry *evidence.CarryingRequest) check.Verdict { return judgeState(e, from, retry) }, "the empty state came back")
	},
}

// judgeState holds the state of a retry against that of the result which it answers.
func judgeState(e *evidence.Case, from, retry *evidence.CarryingRequest) check.Verdict {
	sent := *from.InputRequired.State
	got, isText := retry.State()
	if isText && got == sent {
		return check.Verdict{}
	}
	tell := func(v check.Verdict) check.Verdict {
		return v.ShowAs("server sent", from.InputRequired.At("requestState"), "%s", evidence.Quoted(sent)).ShowAs("client sent back", retry.At("requestState"), "%s", shownState(retry))
	}
	switch {
	case retry.Params["requestState"] == nil:
		return tell(check.Fail("the retry has no requestState, and the result that it answers had one"))
	case !isText:
		return tell(check.Fail("the retry's requestState is no string"))
	}
	for _, earlier := range e.InputRequiredResults() {
		if earlier != from && earlier.InputRequired.State != nil && *earlier.InputRequired.State == got {
			return tell(check.Fail("the retry has the requestState of another round"))
		}
	}
	return tell(check.Fail("the requestState came back changed: %d bytes in place of %d", len(got), len(sent)))
}

// shownState is a retry's state as a report has it.
func shownState(l *evidence.CarryingRequest) string {
	if s, ok := l.State(); ok {
		return evidence.Quoted(s)
	}
	return check.OrMissing(l.Params["requestState"])
}

var noStateInvented = check.Check{
	ID: "no-state-invented", Rule: "a retry has no requestState where the result that it answers had none, also after a round that had one", Levels: check.InModern(report.Must),
	Cases: []string{"states", "no-state"}, Statements: []string{"2026-07-28/mrtr/26"},
	Cause: "the state of an earlier round is kept, or one that is not set is sent as null or as an empty string",
	Fix:   "build each retry anew from the call and the result that it answers",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, func(w *evidence.InputRequired) bool { return w.State == nil }, func(from, retry *evidence.CarryingRequest) check.Verdict {
			if retry.Params["requestState"] == nil {
				return check.Verdict{}
			}
			return check.Fail("the retry has a requestState, and the result that it answers had none").
				ShowAs("server sent", from.InputRequired.Place, "no requestState").ShowAs("client sent back", retry.At("requestState"), "%s", shownState(retry))
		}, "no state was sent where none came")
	},
}

var newID = check.Check{
	ID: "new-id", Rule: "a retry has a JSON-RPC id of its own", Levels: check.InModern(report.Must), Cases: wishing, Statements: []string{"2026-07-28/mrtr/27"},
	Cause: "the request is kept as it was, with its id, and sent again",
	Fix:   "count retries as requests of their own",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, nil, func(_, retry *evidence.CarryingRequest) check.Verdict {
			for _, l := range e.CarryingRequests {
				if l == retry {
					break
				}
				if evidence.SameID(l.ID, retry.ID) {
					return check.Fail("the retry has the id %s, as the request before it", retry.ID).Show(evidence.Place{Ref: l.Ref, Path: "id", Label: l.Label}, "%s", l.ID).Show(evidence.Place{Ref: retry.Ref, Path: "id", Label: retry.Label}, "%s", retry.ID)
				}
			}
			return check.Verdict{}
		}, "each retry has an id of its own")
	},
}

var sameParams = check.Check{
	ID: "same-params", Rule: "a retry is the same request: method, name or uri, and arguments are as they were", Levels: check.InModern(report.Must), Cases: wishing,
	Statements: []string{"2026-07-28/mrtr/22"},
	Cause:      "the arguments are left out of the retry, or those of another call, which share a place in memory, are in it",
	Fix:        "keep the params of the call, and add inputResponses and requestState to a copy of them",
	Judge: func(e *evidence.Case) check.Verdict {
		return eachRetry(e, nil, func(_, retry *evidence.CarryingRequest) check.Verdict {
			call := e.CarryingRequests[0]
			tell := func(what string, was, is json.RawMessage) check.Verdict {
				return check.Fail("the retry differs from the call in its %s", what).ShowAs("call", call.At(what), "%s", check.OrMissing(was)).ShowAs("retry", retry.At(what), "%s", check.OrMissing(is))
			}
			if call.Method != retry.Method {
				return tell("method", dialect.Marshal(call.Method), dialect.Marshal(retry.Method))
			}
			for _, member := range []string{"name", "uri", "arguments"} {
				was, is := call.Params[member], retry.Params[member]
				if !evidence.SameJSON(orEmpty(was), orEmpty(is)) {
					return tell(member, was, is)
				}
			}
			return check.Verdict{}
		}, "the retries are the same request")
	},
}

// orEmpty is an object without members in the place of what is not there: to a tool that is the same.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil || string(raw) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

var promptsAndResources = check.Check{
	ID: "prompts-and-resources", Rule: "prompts/get and resources/read are made again with input as tools/call is", Levels: check.InModern(report.Robust),
	Cases: []string{"prompt", "resource"}, Requests: 1,
	Cause: "input is looked for in the results of tools alone",
	Fix:   "treat the results of all three requests alike",
	Judge: func(e *evidence.Case) check.Verdict {
		from := e.InputRequiredResults()[0]
		if v := unanswered(e); v != nil {
			return *v
		}
		if len(from.Retries) == 0 {
			return check.ShowOutput(e.Session, check.Fail("the %s was answered with a wish for input, and the client did not make it again", from.Method).Show(from.InputRequired.Place, ""))
		}
		retry := from.Retries[0]
		for _, judge := range []func() check.Verdict{
			func() check.Verdict { return judgeState(e, from, retry) },
			func() check.Verdict { return everyKey.Judge(e) }, func() check.Verdict { return newID.Judge(e) }, func() check.Verdict { return sameParams.Judge(e) },
		} {
			if v := judge(); v.Kind != "" && v.Kind != report.Pass {
				return v
			}
		}
		return check.Pass("the %s was made again, with its input", from.Method).Show(retry.Place, "")
	},
}

var isolation = check.Check{
	ID: "isolation", Rule: "input and state of a call are in no other request", Levels: check.InModern(report.Must), Cases: []string{"several", "states"},
	Statements: []string{"2026-07-28/mrtr/28"},
	Cause:      "params are kept for all calls of a client, or of a tool, and what a retry adds to them stays",
	Fix:        "add inputResponses and requestState to a copy of the call's params, for its retry alone",
	Judge: func(e *evidence.Case) check.Verdict {
		wishes := e.InputRequiredResults()
		if len(wishes) == 0 {
			return noWish(e)
		}
		meanwhile, others := false, false
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			at := e.Session.Order[r.Ref]
			if r.Ref.Case == e.Case.ID || at < e.Session.Order[wishes[0].InputRequired.Ref] {
				continue
			}
			event := &e.Session.Trace.Events[at]
			if from := leaked(e.Session, wishes, event); from != nil {
				return check.Fail("a %s that is no retry has the input or the state of a call of %s", r.Method, e.Case.Tool).
					ShowAs("belongs to", from.InputRequired.Place, "").Show(evidence.Place{Ref: r.Ref, Path: "params", Label: r.Method}, "%s", evidence.Compact(json.RawMessage(event.Frame.Raw)))
			}
			others = true
			meanwhile = meanwhile || slices.ContainsFunc(wishes, func(l *evidence.CarryingRequest) bool {
				return len(l.Retries) > 0 && e.Session.Order[l.InputRequired.Ref] < at && at < e.Session.Order[l.Retries[0].Ref]
			})
		}
		switch {
		case !others:
			return check.NotObserved("the client made no other request in which it could be")
		case !meanwhile:
			return check.Pass("no request that followed has input or state of the call; none was made while it was asked for input")
		}
		return check.Pass("no other request has input or state of the call, also none that was made while it was asked for input")
	},
}

// leaked returns the link of whose wish a request of another case has the state, or a key; nil where it has none, or has been asked for the same
// itself.
func leaked(s *evidence.Session, wishes []*evidence.CarryingRequest, e *trace.Event) *evidence.CarryingRequest {
	m := s.Message(e)
	if !evidence.HasMember(m.Params, "requestState") && !evidence.HasMember(m.Params, "inputResponses") {
		return nil
	}
	for _, its := range s.Calls[e.Case] {
		if belongsTo(its.InputRequiredResults(), m) != nil {
			return nil
		}
	}
	return belongsTo(wishes, m)
}

// belongsTo returns the link of whose wish a message has the state, or a key; nil where it has none.
func belongsTo(wishes []*evidence.CarryingRequest, m *evidence.Message) *evidence.CarryingRequest {
	var params, responses dialect.Object
	_ = dialect.ReadPart(m.Params, &params) // what cannot be read holds nothing
	_ = params.Read("inputResponses", &responses)
	state, has := (&evidence.CarryingRequest{Params: params}).State()
	for _, l := range wishes {
		if has && state != "" && l.InputRequired.State != nil && *l.InputRequired.State == state {
			return l
		}
		for key := range responses {
			if _, asked := l.InputRequired.Requests[key]; asked {
				return l
			}
		}
	}
	return nil
}
