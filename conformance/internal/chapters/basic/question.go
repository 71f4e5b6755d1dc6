package basic

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server asks a question, and the model answers it. Both texts have white space, quotes, markup and multi-byte
// characters, which careless code changes.
var question = harness.Case{
	ID:      "basic/question",
	Handler: asks(story.Question),
	Script:  story.Says(story.Answer),
	Barrier: true, // its answer shows whether a client refuses this case or everything
}

// requestIDs are ids of both types: two that differ only in type, the largest integer that every client can hold, two
// that careless code takes for a missing one, and one with blanks.
var requestIDs = []string{`1`, `"a-b"`, `9007199254740991`, `"1"`, `-7`, `0`, `""`, `" a  b "`}

// withRequests are the revisions in which the server sends requests.
var withRequests = check.Legacy

// The server asks under ids of all kinds.
var ids = harness.Case{
	ID: "basic/ids", Revisions: withRequests,
	Handler: func(s *server.Session) (any, error) {
		for _, id := range requestIDs {
			if _, err := s.Sample(s.Ask("Is this all right?"), server.WithID(id)); err != nil {
				return nil, err
			}
		}
		return "done", nil
	},
	Script: story.Says("Yes."),
}

var answered = check.Check{
	ID: "answered", Cases: append([]string{"ids"}, plain...),
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
