package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// wishing are the cases in which a right client makes its request again, each time that it is asked for input.
var wishing = []string{"several", "mixed", "states", "big-state", "empty-state", "no-state", "five-rounds"}

// noWish says why a case has no wish in it.
func (ev *Evidence) noWish() Verdict {
	if (strings.HasSuffix(ev.Case.ID, "/mixed") || strings.HasSuffix(ev.Case.ID, "/bare-input")) && ev.Over {
		return NotApplicable("the client declares neither roots nor elicitation, so that nothing can be asked for beside a sample")
	}
	return NotObserved("the server did not get as far as asking for input%s", ev.died())
}

// eachRetry judges each retry that answers a wish of the kind; nil is every kind. What judge finds wrong counts, and the zero verdict is
// that nothing is.
func (ev *Evidence) eachRetry(kind func(*InputRequired) bool, judge func(from, retry *CarryingRequest) Verdict, pass string) Verdict {
	wishes := ev.wishes()
	if len(wishes) == 0 {
		return ev.noWish()
	}
	var last *CarryingRequest
	for _, from := range wishes {
		if kind != nil && !kind(from.InputRequired) {
			continue
		}
		for _, retry := range from.Retries {
			if v := judge(from, retry); v.kind != "" {
				return v
			}
			last = retry
		}
	}
	if last == nil {
		return NotObserved("the client made no retry that would show it (see mrtr/retried)").See(wishes[0].InputRequired.Place, "")
	}
	return Pass("%s", pass).See(last.Place, "")
}

var retried = Check{
	ID: "retried", Rule: "a request that is answered with a wish for input is made again", Levels: inModern(report.Robust),
	Cases: append([]string{"bare-input"}, wishing...),
	Cause: "the result is handed to the caller as if it were the last, or one input at a time is all that is foreseen",
	Fix:   "fulfil the input requests, all of them, and make the same request again with inputResponses and requestState",
	Judge: func(e *Evidence) Verdict {
		wishes := e.wishes()
		if len(wishes) == 0 {
			return e.noWish()
		}
		from := wishes[0]
		if len(from.Retries) > 0 {
			return Pass("the request was made again").See(from.Retries[0].Place, "")
		}
		if v := e.unanswered(); v != nil {
			return *v
		}
		if calls := e.Session.calls[e.Case.ID]; len(calls) > 1 {
			return Broken("the client was asked for input, and called again as if for the first time, without inputResponses or requestState").
				See(from.InputRequired.Place, "").See(calls[1].called(), "")
		}
		return e.Session.seeOutput(Broken("the client was asked for input, and did not make its request again%s", e.died()).
			See(from.InputRequired.Place, "asked for: %s", strings.Join(from.InputRequired.Keys(), ", ")))
	},
}

// unanswered is the verdict for a client that cannot go on, because the model had no answer for it; nil where it had.
func (ev *Evidence) unanswered() *Verdict {
	for _, r := range ev.Rounds {
		if why := r.missed(); why != "" {
			v := NotObserved("the model had no answer for the client: %s", clip(why))
			return &v
		}
	}
	return nil
}

// called is where the client called.
func (ev *Evidence) called() Place { return Place{ev.calledAt, "params", "call"} }

var everyKey = Check{
	ID: "every-key", Rule: "a retry has an answer under every key that was asked for", Levels: inModern(report.Must), Cases: wishing,
	Requirements: []string{"2026-07-28/mrtr/22"},
	Cause:        "of several input requests one is answered, or those of one kind; or the answers are kept under keys of the client's own",
	Fix:          "build inputResponses from the keys of inputRequests, and retry only once each has its answer",
	Judge: func(e *Evidence) Verdict {
		return e.eachRetry(asksForInput, func(from, retry *CarryingRequest) Verdict {
			for _, key := range from.InputRequired.Keys() {
				if !retry.Responses.Has(key) {
					return Broken("the retry has nothing under the key %q, which was asked for (%s)", key, from.InputRequired.Requests[key]).
						Saw("server asked", from.InputRequired.At("inputRequests"), "%s", strings.Join(from.InputRequired.Keys(), ", ")).
						Saw("client answered", retry.At("inputResponses"), "%s", orMissing(retry.Params["inputResponses"]))
				}
			}
			return Verdict{}
		}, "every key that was asked for has its answer")
	},
}

func asksForInput(w *InputRequired) bool { return len(w.Requests) > 0 }

var answersValid = Check{
	ID: "answers-valid", Rule: "what a retry has under a key is a valid result of what was asked for", Levels: inModern(report.Must), Cases: wishing,
	Requirements: resultSchema,
	Cause:        "the answer is wrapped, as in a JSON-RPC response, or an error stands in its place",
	Fix:          "put the CreateMessageResult itself under the key; where there is none, do not retry",
	Judge: func(e *Evidence) Verdict {
		return e.eachRetry(asksForInput, func(from, retry *CarryingRequest) Verdict {
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
					return Broken("the answer under %q is not a valid %s", key, name).See(at, "%s", compact(answer)).See(Place{Label: "schema"}, "%s", why)
				}
			}
			return Verdict{}
		}, "the answers are valid")
	},
}

// inputResults are the results of what can be asked for.
var inputResults = map[string]schema.Name{"sampling/createMessage": schema.CreateMessageResult, "roots/list": "ListRootsResult", "elicitation/create": "ElicitResult"}

var stateEchoed = Check{
	ID: "state-echoed", Rule: "requestState comes back as it was, each time the latest", Levels: inModern(report.Must),
	Cases: []string{"several", "mixed", "states", "big-state", "five-rounds", "only-state"}, Requirements: []string{"2026-07-28/mrtr/24", "2026-07-28/mrtr/03", "2026-07-28/mrtr/25"},
	Cause: "the state is parsed and written anew, normalized or cut, or that of the first round is kept for all",
	Fix:   "keep requestState as a string of which nothing is known, and send the one of the result that is answered",
	Judge: func(e *Evidence) Verdict {
		if w := e.wishes(); len(w) > 0 && strings.HasSuffix(e.Case.ID, "/only-state") && len(w[0].Retries) == 0 {
			return NotApplicable("the client does not retry where no input is asked for, which it may")
		}
		return e.eachRetry(func(w *InputRequired) bool { return w.State != nil }, func(from, retry *CarryingRequest) Verdict {
			return judgeState(e, from, retry)
		}, "the state came back as it was")
	},
}

var stateEmpty = Check{
	ID: "state-empty", Rule: "a requestState that is the empty string comes back, too", Levels: inModern(report.Must), Cases: []string{"empty-state"},
	Requirements: []string{"2026-07-28/mrtr/24", "2026-07-28/mrtr/03", "2026-07-28/mrtr/25"},
	Cause:        "the state is a string that is left out where it is empty (omitempty), or is tested for truth",
	Fix:          "tell a state that is empty from one that is missing: by a pointer, or by the member's presence",
	Judge: func(e *Evidence) Verdict {
		return e.eachRetry(nil, func(from, retry *CarryingRequest) Verdict { return judgeState(e, from, retry) }, "the empty state came back")
	},
}

// judgeState holds the state of a retry against that of the result which it answers.
func judgeState(e *Evidence, from, retry *CarryingRequest) Verdict {
	sent := *from.InputRequired.State
	got, isText := retry.state()
	if isText && got == sent {
		return Verdict{}
	}
	tell := func(v Verdict) Verdict {
		return v.Saw("server sent", from.InputRequired.At("requestState"), "%s", quoted(sent)).Saw("client sent back", retry.At("requestState"), "%s", shownState(retry))
	}
	switch {
	case retry.Params["requestState"] == nil:
		return tell(Broken("the retry has no requestState, and the result that it answers had one"))
	case !isText:
		return tell(Broken("the retry's requestState is no string"))
	}
	for _, earlier := range e.wishes() {
		if earlier != from && earlier.InputRequired.State != nil && *earlier.InputRequired.State == got {
			return tell(Broken("the retry has the requestState of another round"))
		}
	}
	return tell(Broken("the requestState came back changed: %d bytes in place of %d", len(got), len(sent)))
}

// shownState is a retry's state as a report has it.
func shownState(l *CarryingRequest) string {
	if s, ok := l.state(); ok {
		return quoted(s)
	}
	return orMissing(l.Params["requestState"])
}

var noStateInvented = Check{
	ID: "no-state-invented", Rule: "a retry has no requestState where the result that it answers had none, also after a round that had one", Levels: inModern(report.Must),
	Cases: []string{"states", "no-state"}, Requirements: []string{"2026-07-28/mrtr/26"},
	Cause: "the state of an earlier round is kept, or one that is not set is sent as null or as an empty string",
	Fix:   "build each retry anew from the call and the result that it answers",
	Judge: func(e *Evidence) Verdict {
		return e.eachRetry(func(w *InputRequired) bool { return w.State == nil }, func(from, retry *CarryingRequest) Verdict {
			if retry.Params["requestState"] == nil {
				return Verdict{}
			}
			return Broken("the retry has a requestState, and the result that it answers had none").
				Saw("server sent", from.InputRequired.Place, "no requestState").Saw("client sent back", retry.At("requestState"), "%s", shownState(retry))
		}, "no state was sent where none came")
	},
}

var newID = Check{
	ID: "new-id", Rule: "a retry has a JSON-RPC id of its own", Levels: inModern(report.Must), Cases: wishing, Requirements: []string{"2026-07-28/mrtr/27"},
	Cause: "the request is kept as it was, with its id, and sent again",
	Fix:   "count retries as requests of their own",
	Judge: func(e *Evidence) Verdict {
		return e.eachRetry(nil, func(_, retry *CarryingRequest) Verdict {
			for _, l := range e.Carrying {
				if l == retry {
					break
				}
				if sameID(l.ID, retry.ID) {
					return Broken("the retry has the id %s, as the request before it", retry.ID).See(Place{l.Ref, "id", l.Label}, "%s", l.ID).See(Place{retry.Ref, "id", retry.Label}, "%s", retry.ID)
				}
			}
			return Verdict{}
		}, "each retry has an id of its own")
	},
}

var sameParams = Check{
	ID: "same-params", Rule: "a retry is the same request: method, name or uri, and arguments are as they were", Levels: inModern(report.Must), Cases: wishing,
	Requirements: []string{"2026-07-28/mrtr/22"},
	Cause:        "the arguments are left out of the retry, or those of another call, which share a place in memory, are in it",
	Fix:          "keep the params of the call, and add inputResponses and requestState to a copy of them",
	Judge: func(e *Evidence) Verdict {
		return e.eachRetry(nil, func(_, retry *CarryingRequest) Verdict {
			call := e.Carrying[0]
			tell := func(what string, was, is json.RawMessage) Verdict {
				return Broken("the retry differs from the call in its %s", what).Saw("call", call.At(what), "%s", orMissing(was)).Saw("retry", retry.At(what), "%s", orMissing(is))
			}
			if call.Method != retry.Method {
				return tell("method", dialect.Marshal(call.Method), dialect.Marshal(retry.Method))
			}
			for _, member := range []string{"name", "uri", "arguments"} {
				was, is := call.Params[member], retry.Params[member]
				if !sameJSON(orEmpty(was), orEmpty(is)) {
					return tell(member, was, is)
				}
			}
			return Verdict{}
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

var promptsAndResources = Check{
	ID: "prompts-and-resources", Rule: "prompts/get and resources/read are made again with input as tools/call is", Levels: inModern(report.Robust),
	Cases: []string{"prompt", "resource"}, Asked: 1,
	Cause: "input is looked for in the results of tools alone",
	Fix:   "treat the results of all three requests alike",
	Judge: func(e *Evidence) Verdict {
		from := e.wishes()[0]
		if v := e.unanswered(); v != nil {
			return *v
		}
		if len(from.Retries) == 0 {
			return e.Session.seeOutput(Broken("the %s was answered with a wish for input, and the client did not make it again", from.Method).See(from.InputRequired.Place, ""))
		}
		retry := from.Retries[0]
		for _, judge := range []func() Verdict{
			func() Verdict { return judgeState(e, from, retry) },
			func() Verdict { return everyKey.Judge(e) }, func() Verdict { return newID.Judge(e) }, func() Verdict { return sameParams.Judge(e) },
		} {
			if v := judge(); v.kind != "" && v.kind != report.Pass {
				return v
			}
		}
		return Pass("the %s was made again, with its input", from.Method).See(retry.Place, "")
	},
}

var isolation = Check{
	ID: "isolation", Rule: "input and state of a call are in no other request", Levels: inModern(report.Must), Cases: []string{"several", "states"},
	Requirements: []string{"2026-07-28/mrtr/28"},
	Cause:        "params are kept for all calls of a client, or of a tool, and what a retry adds to them stays",
	Fix:          "add inputResponses and requestState to a copy of the call's params, for its retry alone",
	Judge: func(e *Evidence) Verdict {
		wishes := e.wishes()
		if len(wishes) == 0 {
			return e.noWish()
		}
		meanwhile, others := false, false
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			at := e.Session.order[r.Ref]
			if r.Ref.Case == e.Case.ID || at < e.Session.order[wishes[0].InputRequired.Ref] {
				continue
			}
			event := &e.Session.Trace.Events[at]
			if from := e.Session.leaked(wishes, event); from != nil {
				return Broken("a %s that is no retry has the input or the state of a call of %s", r.Method, e.Case.Tool).
					Saw("belongs to", from.InputRequired.Place, "").See(Place{r.Ref, "params", r.Method}, "%s", compact(json.RawMessage(event.Frame.Raw)))
			}
			others = true
			meanwhile = meanwhile || slices.ContainsFunc(wishes, func(l *CarryingRequest) bool {
				return len(l.Retries) > 0 && e.Session.order[l.InputRequired.Ref] < at && at < e.Session.order[l.Retries[0].Ref]
			})
		}
		switch {
		case !others:
			return NotObserved("the client made no other request in which it could be")
		case !meanwhile:
			return Pass("no request that followed has input or state of the call; none was made while it was asked for input")
		}
		return Pass("no other request has input or state of the call, also none that was made while it was asked for input")
	},
}

// leaked returns the link of whose wish a request of another case has the state, or a key; nil where it has none, or has been asked for the same
// itself.
func (s *Session) leaked(wishes []*CarryingRequest, e *trace.Event) *CarryingRequest {
	m := s.message(e)
	if !hasMember(m.params, "requestState") && !hasMember(m.params, "inputResponses") {
		return nil
	}
	for _, its := range s.calls[e.Case] {
		if belongsTo(its.wishes(), m) != nil {
			return nil
		}
	}
	return belongsTo(wishes, m)
}

// belongsTo returns the link of whose wish a message has the state, or a key; nil where it has none.
func belongsTo(wishes []*CarryingRequest, m *rpc) *CarryingRequest {
	var params, responses dialect.Object
	_ = dialect.ReadPart(m.params, &params) // what cannot be read holds nothing
	_ = params.Read("inputResponses", &responses)
	state, has := (&CarryingRequest{Params: params}).state()
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
