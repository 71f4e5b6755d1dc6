package cancel

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server cancels one request as soon as it was sent, and another as soon as the model answers: each time the
// response may be on its way. Another request follows each cancel.
var crossing = gated("cancel/crossing", func(gate *story.Gate) server.Handler {
	return func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask("Are you still there?")); err != nil {
			return nil, err
		}
		asked, err := s.Start(s.Ask("Name a bird."))
		if err != nil {
			return nil, err
		}
		if err := asked.Cancel("asked by mistake"); err != nil {
			return nil, err
		}
		if _, err := s.Sample(s.Ask("Name a fish.")); err != nil {
			return nil, err
		}
		asked, word, err := story.AskHeld(s, gate)
		gate.Open(word)
		if err != nil {
			return nil, err
		}
		if err := asked.Cancel("it takes too long"); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a tree."))
	}
})

var race = check.Check{
	ID: "race", Cases: []string{"crossing"},
	Rule:       "The client MUST handle a cancel that crosses its response, and continue with later requests",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"cancellation/16"},
	Results:    1,
	Cause:      "the client treats a request as running while it sends the response, and the cancel hits the next request",
	Fix:        "Decide once, under a lock, whether a request is answered or cancelled. Keep nothing of it after that.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds[1:] {
			if cancel := e.Cancelled(r); cancel != nil {
				if len(r.Answers) > 1 {
					return check.Fail("expected at most one response to a cancelled request, found %d", len(r.Answers)).
						At(*cancel, r.Answers[0].Place, r.Answers[1].Place)
				}
				continue
			}
			a := r.Result()
			switch {
			case r.CassetteMiss() != "":
				return noResult(e, r)
			case a == nil && check.RefusedBeside(e, r) != "":
				return oneAtATime(check.RefusedBeside(e, r))
			case a == nil:
				return check.Fail("expected a result for the request after a cancel, found none%s", e.WhyNoResult(r.N)).
					At(r.Asked).ShowOutput(e.Session)
			case story.ForeignAnswer(a, r) != "":
				return check.Fail("expected the result of this request, found that of another one: %q", story.ForeignAnswer(a, r)).
					At(r.Asked).ShowMembers(a, "content")
			}
		}
		if len(e.Rounds) < 5 {
			return check.NotObserved("the case ended too early%s", e.WhyNoResult(len(e.Rounds)))
		}
		return settled(e, e.Rounds[4].Asked, "the requests after the cancels have results")
	},
}
