package basic

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server asks a question, and the model answers it. Both texts have white space, quotes, markup and multi-byte
// characters, which careless code changes.
var question = harness.Case{
	ID:      "basic/question",
	Handler: asks(story.Question),
	Script:  story.Says(story.Answer),
	Expect:  expected{text: story.Answer, stop: llm.EndTurn, prompt: 1},
	Barrier: true, // its answer shows whether a client refuses this case or everything
}

// requestIDs are ids of both types: two that differ only in type, and the largest integer that every client can hold.
var requestIDs = []string{`1`, `"a-b"`, `9007199254740991`, `"1"`}

// The server asks under ids of all kinds.
var ids = harness.Case{
	ID: "basic/ids",
	Handler: func(s *server.Session) (any, error) {
		for _, id := range requestIDs {
			if _, err := s.SampleWithID(json.RawMessage(id), s.Ask("Is this all right?")); err != nil {
				return nil, err
			}
		}
		return "done", nil
	},
	Script: story.Says("Yes."),
}

var responsesRule = []string{"2025-03-26/basic/responses", "2025-06-18/basic/responses", "2025-11-25/basic/05"}

var answered = check.Check{
	ID: "answered", Cases: plain,
	Rule:   "The client returns a result for every sampling request",
	Levels: check.Robust, Requests: 1,
	Cause: "the handler is not registered, hangs, or turns a failure of its own into an error",
	Fix:   "Return the model's answer as the result of sampling/createMessage.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if r.Result() == nil {
				return check.Fail("expected a result for the sampling request%s", e.WhyNoResult(r.N)).
					ShowJSON(r.Asked, r.Raw)
			}
		}
		return check.Pass("every sampling request got a result").At(e.Rounds[0].Result().Place)
	},
}

var answersOnce = check.Check{
	ID: "answers-once", Cases: []string{"question", "truncated", "ids", "failing"},
	Rule:   "The client MUST return exactly one response per request",
	Levels: check.InLegacy(report.Must), Statements: append(responsesRule, "2025-11-25/basic/01"), Requests: 1,
	Cause: "a retry posts the response again without a look at whether the first one was accepted",
	Fix:   "Send one response for each request id. Do not send a response again that the server accepted.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if len(r.Answers) > 1 {
				return check.Fail("expected 1 response to sampling request %d, found %d", r.N, len(r.Answers)).
					Show(r.Answers[0].Place, "the first").Show(r.Answers[1].Place, "another one, with id %s", r.Answers[1].ID)
			}
		}
		for _, r := range e.Rounds {
			if len(r.Answers) == 0 {
				return noResponse(r)
			}
		}
		return check.Pass("each sampling request got one response")
	},
}

// noResponse leaves the verdict on a missing response to another check.
func noResponse(r *evidence.Round) check.Verdict {
	return check.NotObserved("sampling request %d got no response (see basic/answered)", r.N).At(r.Asked)
}

var idEchoed = check.Check{
	ID: "id-echoed", Cases: []string{"question", "truncated", "ids"},
	Rule:   "A response MUST have the id of its request, with the same type and value",
	Levels: check.InLegacy(report.Must), Statements: append(responsesRule, "2025-11-25/basic/08"), Requests: 1,
	Cause: "ids are held in a variable of one type: a number becomes a string, or a float64 that rounds it",
	Fix:   "Keep the id as raw JSON, and send it back unchanged.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			for _, a := range r.Answers {
				if !evidence.SameID(r.RawID, a.ID) {
					at := evidence.Place{Ref: a.Ref, Path: "id", Label: a.Label}
					return check.Fail("expected id %s in the response, found %s", r.RawID, a.ID).Show(at, "%s", a.ID)
				}
			}
		}
		unmatched := e.Session.UnmatchedResponses
		for _, r := range e.Rounds {
			switch {
			case len(r.Answers) > 0:
			case len(unmatched) > 0:
				id := unmatched[0].ID
				return check.Fail("expected id %s in the response, found %s, which no request has", r.RawID, found(id)).
					At(r.Asked).ShowJSON(unmatched[0].At("id"), id)
			default:
				return noResponse(r)
			}
		}
		for _, a := range unmatched {
			if a.ID != nil && string(a.ID) != "null" { // null answers a message whose id could not be read
				return check.Fail("expected no other responses, found one with id %s, which no request has", a.ID).
					Show(a.At("id"), "%s", a.ID)
			}
		}
		return check.Pass("every response has the id of its request")
	},
}

var jsonRPC = check.Check{
	ID: "json-rpc", Cases: []string{"question"},
	Rule:   `Every message of the client MUST have "jsonrpc": "2.0"`,
	Levels: check.Must,
	Statements: []string{
		"2025-03-26/basic/messages", "2025-06-18/basic/messages", "2025-11-25/basic/01", "2026-07-28/basic/01",
	},
	Results: 1,
	Cause:   "messages are built by hand, and jsonrpc is missing, a number, or another version",
	Fix:     `Begin every request, notification and response with "jsonrpc": "2.0".`,
	Judge: func(e *evidence.Case) check.Verdict {
		wrong := e.Session.Unversioned
		if len(wrong) == 0 {
			return check.Pass(`every message has "jsonrpc": "2.0"`)
		}
		first := e.Session.Trace.Find(wrong[0].Ref)
		return check.Fail(`expected "jsonrpc": "2.0" in every message, found %d without it`, len(wrong)).
			Show(wrong[0], "%s in %s", check.OrMissing(e.Session.Message(first).Version), evidence.Compact(first.Frame.Raw))
	},
}
