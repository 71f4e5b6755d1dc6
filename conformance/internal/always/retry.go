package always

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// eachRetry returns a judge that passes, with the message, unless fault returns a verdict for a retry of the case.
// It is not inlined: its closure would be in the binary once for each check.
//
//go:noinline
func eachRetry(pass string, fault func(e *evidence.Case, from, retry *request) *check.Verdict) judge {
	return func(e *evidence.Case) check.Verdict {
		found := false
		for from, retry := range retries(e) {
			found = true
			if v := fault(e, from, retry); v != nil {
				return *v
			}
		}
		if !found {
			return check.NotApplicable("the client sent no retry")
		}
		return check.Pass("%s", pass)
	}
}

var newID = check.Check{
	ID:     "new-id",
	Rule:   "A retry MUST have a new JSON-RPC id",
	Levels: check.InModern(report.Must), Statements: []string{"mrtr/27"},
	Cause: "the client sends the stored request again with its old id",
	Fix:   "Generate a new id for every retry.",
	Judge: eachRetry("every retry has a new id", func(e *evidence.Case, from, retry *request) *check.Verdict {
		for _, earlier := range e.CarryingRequests {
			switch {
			case earlier == retry:
				return nil
			case evidence.SameID(earlier.ID, retry.ID) && awaitedTwice(e, from, retry):
				return check.Instead(check.NotApplicable("two calls of the tool wait for the same input, so the retry may " +
					"belong to the other one"))
			case evidence.SameID(earlier.ID, retry.ID):
				return check.Instead(check.Fail("expected a new id in the retry, found the id %s of an earlier request", retry.ID).
					Show(idOf(earlier), "%s", earlier.ID).Show(idOf(retry), "%s", retry.ID))
			}
		}
		return nil
	}),
}

// awaitedTwice reports whether another call of the tool asked for the same input while this one waited for its retry.
// Then the server cannot tell whose retry it is. Two clients in one process may use the same ids.
func awaitedTwice(e *evidence.Case, from, retry *request) bool {
	order := e.Session.Order
	for _, other := range e.Session.Calls[e.Case.ID] {
		for _, l := range other.InputRequiredResults() {
			alike := reflect.DeepEqual(l.InputRequired.State, from.InputRequired.State) &&
				slices.Equal(l.InputRequired.Keys(), from.InputRequired.Keys())
			began := order[l.InputRequired.Ref] < order[retry.Ref]
			lasts := len(l.Retries) == 0 || order[l.Retries[0].Ref] > order[from.InputRequired.Ref]
			if other != e && alike && began && lasts {
				return true
			}
		}
	}
	return false
}

func idOf(r *request) evidence.Place { return evidence.Place{Ref: r.Ref, Path: "id", Label: r.Label} }

var sameParams = check.Check{
	ID:     "same-params",
	Rule:   "A retry MUST repeat the method, the name or uri, and the arguments of the request",
	Levels: check.InModern(report.Must), Statements: []string{"mrtr/22"},
	Cause: "the client omits the arguments in the retry, or shares the params with another call",
	Fix:   "Keep the params of the call. Add inputResponses and requestState to a copy of them.",
	Judge: eachRetry("the retries repeat the request", func(_ *evidence.Case, from, retry *request) *check.Verdict {
		differ := func(member string, was, is json.RawMessage) *check.Verdict {
			return check.Instead(check.Fail("expected the %s of the call in the retry, found another value", member).
				ShowAs("call", from.At(member), "%s", check.OrMissing(was)).
				ShowAs("retry", retry.At(member), "%s", check.OrMissing(is)))
		}
		if from.Method != retry.Method {
			return differ("method", jsonvalue.Marshal(from.Method), jsonvalue.Marshal(retry.Method))
		}
		for _, member := range []string{"name", "uri", "arguments"} {
			was, is := from.Params[member], retry.Params[member]
			if !jsonvalue.Same(orEmpty(was), orEmpty(is)) {
				return differ(member, was, is)
			}
		}
		return nil
	}),
}

// orEmpty replaces a missing or null value by an empty object: a tool sees no difference.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil || string(raw) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

var retriesOnce = check.Check{
	ID:     "retries-once",
	Rule:   "The client sends one retry per result",
	Levels: check.InModern(report.Robust),
	Cause:  "both the library and its host retry",
	Fix:    "Retry in one place only.",
	Judge: eachRetry("every result got one retry", func(e *evidence.Case, from, retry *request) *check.Verdict {
		first := from.Retries[0]
		if first == retry || interrupted(e, first, retry) || awaitedTwice(e, from, retry) {
			return nil
		}
		return check.Instead(check.Fail("expected 1 retry per result, found %d", len(from.Retries)).
			At(from.InputRequired.Place, first.Place, retry.Place))
	}),
}

// interrupted reports whether a stream of the case, or the server, ended between two requests: the client may then send
// the first again.
func interrupted(e *evidence.Case, first, second *request) bool {
	s := e.Session
	for i := s.Order[first.Ref]; i < s.Order[second.Ref]; i++ {
		if ev := &s.Trace.Events[i]; ev.Case == e.Case.ID && ev.Frame != nil && (ev.Frame.Closed || ev.Frame.Lost) {
			return true
		}
	}
	return s.Lost
}

var stateEchoed = check.Check{
	ID:         "state-echoed",
	Rule:       "A retry MUST contain the requestState of the result, unchanged, and none if the result has none",
	Levels:     check.InModern(report.Must),
	Statements: []string{"mrtr/24", "mrtr/03", "mrtr/25", "mrtr/26"},
	Cause: "the client parses and rewrites the state, cuts it, keeps that of an earlier round, or omits an empty one " +
		"(omitempty in Go, a truth test in JavaScript or Python)",
	Fix: "Treat requestState as an opaque string. Build each retry from the call and the latest result only, and test " +
		"whether the member is present.",
	Judge: func(e *evidence.Case) check.Verdict {
		if v := startsAnew(e); v != nil {
			return *v
		}
		return eachRetry("every retry has the requestState of its result", wrongState)(e)
	},
}

// manyCalls is how many calls of a tool are accepted: a client may repeat a failed call.
const manyCalls = 3

// startsAnew returns the verdict for a client that calls the tool again and again, without the state, after results
// that have only a state; nil for any other client. It need not retry after such a result.
func startsAnew(e *evidence.Case) *check.Verdict {
	var stuck []*request
	for _, call := range e.Session.Calls[e.Case.ID] {
		results := call.InputRequiredResults()
		if len(results) == 0 {
			continue
		}
		last := results[len(results)-1]
		if last.InputRequired.State != nil && len(last.InputRequired.Keys()) == 0 && len(last.Retries) == 0 {
			stuck = append(stuck, last)
		}
	}
	if len(stuck) <= manyCalls {
		return nil
	}
	return check.Instead(check.Fail("expected the requestState of the result in the next request, found %d calls of the "+
		"tool without it", len(stuck)-1).At(stuck[0].InputRequired.Place, stuck[1].Place))
}

// wrongState compares the state of a retry with that of the result.
func wrongState(e *evidence.Case, from, retry *request) *check.Verdict {
	sent, name := from.InputRequired.State, retry.StateMember
	got, isString := retry.State()
	said := evidence.Quote(got)
	if !isString {
		said = check.OrMissing(retry.Params[name])
	}
	fail := func(format string, args ...any) *check.Verdict {
		was := "no " + name
		if sent != nil {
			was = evidence.Quote(*sent)
		}
		return check.Instead(check.Fail(format, args...).
			ShowAs("server sent", from.InputRequired.At(name), "%s", was).
			ShowAs("client sent back", retry.At(name), "%s", said))
	}
	switch {
	case sent == nil && retry.Params[name] == nil, sent != nil && isString && got == *sent:
		return nil
	case sent == nil:
		return fail("expected no %s in the retry, found one", name)
	case retry.Params[name] == nil:
		return fail("expected the %s of the result in the retry, found none", name)
	case !isString:
		return fail("expected a string as %s in the retry, found another type", name)
	case ofAnotherRound(e, from, got):
		return fail("expected the %s of the result in the retry, found that of another round", name)
	}
	return fail("expected %s unchanged (%d bytes), found another value (%d bytes)", name, len(*sent), len(got))
}

func ofAnotherRound(e *evidence.Case, from *request, state string) bool {
	for _, other := range e.InputRequiredResults() {
		if other != from && other.InputRequired.State != nil && *other.InputRequired.State == state {
			return true
		}
	}
	return false
}
