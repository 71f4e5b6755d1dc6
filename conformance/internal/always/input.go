package always

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

type request = evidence.CarryingRequest

// retries returns the requests whose result asked for input in a valid way, each with each of its retries.
func retries(e *evidence.Case) iter.Seq2[*request, *request] {
	return func(yield func(from, retry *request) bool) {
		for _, from := range e.InputRequiredResults() {
			if e.Session.Trace.Find(from.InputRequired.Ref).Frame.Hostile {
				continue
			}
			for _, retry := range from.Retries {
				if !yield(from, retry) {
					return
				}
			}
		}
	}
}

var inputKeys = check.Check{
	ID:     "input-keys",
	Rule:   "A retry MUST have a response under every key of inputRequests, and no other",
	Levels: check.InModern(report.Must), Statements: []string{"mrtr/22"},
	Cause: "the client fulfils only one input request, or only those of one kind; it leaves out what was declined or " +
		"failed; or it uses keys of its own",
	Fix: "Build inputResponses from the keys of inputRequests, as they are. Retry only when every key has a response. " +
		"Otherwise end the call, and report it to the user or the model.",
	Judge: func(e *evidence.Case) check.Verdict {
		found := false
		for from, retry := range retries(e) {
			found = true
			asked := from.InputRequired
			show := func(v check.Verdict) check.Verdict {
				return v.ShowAs("server asked", asked.At("inputRequests"), "%s", strings.Join(asked.Keys(), ", ")).
					ShowAs("client sent", retry.At("inputResponses"), "%s", check.OrMissing(retry.Params["inputResponses"]))
			}
			for _, key := range asked.Keys() {
				if !retry.Responses.Has(key) {
					return show(check.Missing("expected a response under the key %q (%s) in the retry, found none", key,
						asked.Requests[key]))
				}
			}
			for _, key := range slices.Sorted(maps.Keys(retry.Responses)) {
				if _, ok := asked.Requests[key]; !ok {
					return show(check.Fail("expected the keys of inputRequests in the retry, found the key %q, too", key))
				}
			}
		}
		if !found {
			return check.NotApplicable("the client sent no retry")
		}
		return check.Pass("every retry has exactly the keys that the server asked for")
	},
}

var isolation = check.Check{
	ID:     "isolation",
	Rule:   "The client MUST NOT send the input or requestState of a call in another request",
	Levels: check.InModern(report.Must), Statements: []string{"mrtr/28"},
	Cause: "calls of a client or a tool share their params, and what a retry adds remains there",
	Fix:   "Add inputResponses and requestState to a copy of the call's params, for that retry only.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		results := asking(s)
		if len(results) == 0 {
			return check.NotApplicable("the server asked for no input")
		}
		for _, r := range s.Requests {
			event := &s.Trace.Events[s.Order[r.Ref]]
			m := s.Message(event)
			if !evidence.HasMember(m.Params, s.Revision.StateMember()) && !evidence.HasMember(m.Params, "inputResponses") ||
				owner(s, results[r.Ref.Case], m) != nil {
				continue
			}
			for _, c := range s.Trace.Header.Cases {
				if from := owner(s, results[c.ID], m); from != nil && s.Order[from.InputRequired.Ref] < s.Order[r.Ref] {
					return check.Fail("expected no input or state of a call of %s in %s, found some", c.Tool, r.Method).
						ShowAs("belongs to", from.InputRequired.Place, "").
						ShowJSON(evidence.Place{Ref: r.Ref, Path: "params", Label: r.Method}, event.Frame.Raw)
				}
			}
		}
		return check.Pass("no request has input or state of another call")
	},
}

// asking returns the requests that got a result which asks for input, by case.
func asking(s *evidence.Session) map[string][]*request {
	all := map[string][]*request{}
	for _, c := range s.Trace.Header.Cases {
		for _, ev := range s.Calls[c.ID] {
			if results := ev.InputRequiredResults(); len(results) > 0 {
				all[c.ID] = append(all[c.ID], results...)
			}
		}
	}
	return all
}

// owner returns the request whose result has the state of a message, or one of its keys; nil for none.
func owner(s *evidence.Session, results []*request, m *evidence.Message) *request {
	params := evidence.ObjectOf(m.Params)
	state, ok := (&request{Params: params, StateMember: s.Revision.StateMember()}).State()
	for _, r := range results {
		if ok && state != "" && r.InputRequired.State != nil && *r.InputRequired.State == state {
			return r
		}
		for key := range evidence.ObjectOf(params["inputResponses"]) {
			if _, asked := r.InputRequired.Requests[key]; asked {
				return r
			}
		}
	}
	return nil
}
