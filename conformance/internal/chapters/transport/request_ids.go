package transport

import (
	"context"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server's request has the id of the client's pending call.
var sameID = story.Delivered(harness.Case{ID: "transport/same-id", Revisions: check.NewestLegacy},
	askOnce(server.UnderCallID))

var idCollision = check.Check{
	ID: "id-collision", Rule: "The client responds to a request whose id equals the id of its own pending request",
	Levels: robust, Requests: 1, Cases: []string{"same-id"},
	Cause: "the client takes every message with the id of a pending request as its response, even a request",
	Fix:   "Test for method first. A message with one is a request of the server, which has its own ids.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if v := served(e, r, "with the id of the client's own pending call"); v.Kind != report.Pass {
			return v
		}
		if e.ReportedOutcome() == harness.Failed {
			return check.Fail("expected a completed call, found that the client reports a failed call").Show(r.Asked, "")
		}
		return check.Pass("the client responded to the request, and the call ended")
	},
}

// readPatience is how long a client may take to respond to a ping while it samples.
const readPatience = 2 * time.Second

// The server sends a request twice while the model thinks, and then another one. A client that responds to the ping has
// read both; a client that handles one request at a time does not respond to it.
var repeated = story.Pondered(harness.Case{ID: "transport/repeated", Revisions: check.NewestLegacy},
	func(gate *story.Stage) server.Handler {
		return func(s *server.Session) (any, error) {
			asked, word, err := story.StartPondering(s, gate)
			defer gate.Open(word)
			if err == nil {
				err = s.Repeat(asked)
			}
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(s.Context(), readPatience)
			defer cancel()
			_ = s.Ping(ctx)
			gate.Open(word)
			story.Wait(s, asked)
			return "done", askAndWait(s, s.Ask("Name a fish."))
		}
	})

// duplicateRequest only warns about two results: the server is at fault, and each request has a response.
var duplicateRequest = check.Check{
	ID: "duplicate-request", Rule: "The client sends at most one result for a request that comes twice, and goes on",
	Levels: robust, Requests: 2, Cases: []string{"repeated"},
	Cause: "the client does not remember request ids, so it samples twice",
	Fix:   "Remember the ids of pending and answered requests. Ignore a second request, or respond with an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		first, second, last := e.Rounds[0], e.Rounds[1], e.Rounds[len(e.Rounds)-1]
		twice := func(v check.Verdict) check.Verdict {
			return v.Show(first.Asked, "").Show(second.Asked, "the same again")
		}
		responses := slices.Concat(first.Answers, second.Answers)
		results := slices.DeleteFunc(slices.Clone(responses), func(a evidence.Answer) bool { return a.Result == nil })
		another := len(e.Rounds) > 2
		switch {
		case len(results) > 1:
			return twice(check.Warn("expected at most 1 result for one id, found %d", len(results))).
				Show(results[0].Place, "").Show(results[1].Place, "")
		case len(responses) == 0 && !e.Session.AnswersAny():
			return answersNothing(e)
		case len(responses) == 0:
			return afterRepeat(e, second, twice(check.Fail("expected a response to a request that came twice, found none")))
		case another && len(last.Answers) == 0:
			return afterRepeat(e, last, check.Fail("expected a response to the request after the repeated one, found none").
				Show(second.Asked, "").Show(last.Asked, ""))
		}
		if v := check.UnsettledSince(e, second.Asked); v != nil {
			return *v
		}
		// If the end of the call cut off a second result, the model still received more requests than for the last one.
		prompts, most := slices.Concat(first.Model, second.Model), len(last.Model)
		if another && most > 0 && len(prompts) > most {
			return twice(check.Warn("expected at most %d requests to the model for one id, found %d", most, len(prompts))).
				Show(prompts[0].Place, "").Show(prompts[len(prompts)-1].Place, "")
		}
		return check.Pass("no second result came")
	},
}

// afterRepeat returns the failure, or the verdict for a client that did not go on after the round.
func afterRepeat(e *evidence.Case, r *evidence.Round, failure check.Verdict) check.Verdict {
	if v := check.Survived(e, r.Asked, "the client did not go on after a request that came twice"); v != nil {
		return *v
	}
	return failure
}
