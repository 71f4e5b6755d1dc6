package basic

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The model reaches the token limit in the middle of a sentence.
var truncated = harness.Case{
	ID: "basic/truncated",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Tell me a long story.")
		ask.MaxTokens = 16 // the least that every provider accepts
		return s.Sample(ask)
	},
	Script: func(string) []*llm.Rule {
		return []*llm.Rule{llm.When().Reply(llm.Text("Once upon a time there")).StopReason(llm.StopMaxTokens)}
	},
	Barrier: true,
}

var stopReason = check.Check{
	ID: "stop-reason", Cases: []string{"question", "truncated", "tuned"},
	Rule:   "Reports which stopReason the result has",
	Levels: check.May, Results: 1,
	Cause: "the client may choose its own stop reasons beside the standard ones",
	Fix:   nothingToFix,
	Judge: func(e *evidence.Case) check.Verdict {
		a, said := e.Rounds[0].Result(), ""
		if x := e.Rounds[0].LastExchange(); x != nil && x.Reply() != nil {
			said = fmt.Sprintf(" for %s of the model", x.Reply().StopReason)
		}
		if got, given := a.Text("stopReason"); given {
			return check.Info("the stopReason is %q%s", got, said).Show(a.At("stopReason"), "%q", got)
		}
		return check.Info("the result has no stopReason%s", said)
	},
}

// The model fails. In 2026-07-28, no message of the client says so.
var failing = harness.Case{
	ID: "basic/failing", Revisions: withRequests,
	Handler: asks("What is the answer?"),
	Script: func(string) []*llm.Rule {
		return []*llm.Rule{llm.When().Fail(&llm.Error{Status: 400, Message: "the scripted model refuses this conversation"})}
	},
	Barrier: true,
}

// The model thinks before it speaks. Its thoughts belong to the provider and the client, not to the server.
var thinking = story.Once("basic/thinking", func(s *server.Session) any { return s.Ask("Name a colour.") },
	llm.When().Reply(llm.Thinking("They ask for a colour, and any will do: say teal.", "c2VhbGVk"), llm.Text("Teal.")))
