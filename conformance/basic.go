package conformance

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Texts with what careless code trips over: runs of blanks, newlines, quotes, backslashes, scripts of several bytes.
const (
	question = "Which city is the capital of France?  Say \"why\", too:\n\t«naïve» 答え 🗼 C:\\temp <b>&amp;</b>"
	answer   = "Paris – \"la Ville Lumière\" 🗼\n\n\tトウ, and a backslash \\ beside <i>&lt;</i>"
)

// One text question and one answer; and one whose answer the model had to cut short.
var basic = Scenario{
	ID:        "basic",
	Purpose:   "one text question and its answer",
	Revisions: Known(),
	Cases: []harness.Case{{
		ID: "basic/question",
		Play: func(s *server.Session) (any, error) {
			return s.Sample(s.Ask(question))
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(llm.When().Reply(llm.Text(answer)))
		},
	}, {
		ID: "basic/truncated",
		Play: func(s *server.Session) (any, error) {
			ask := s.Ask("Tell me a long story.")
			ask.MaxTokens = 16 // the least that every provider takes
			return s.Sample(ask)
		},
		Script: func(string) []*llm.Rule {
			return llm.Script(llm.When().Reply(llm.Text("Once upon a time there")).StopReason(llm.StopMaxTokens))
		},
	}},
	Checks: []Check{
		answered, answersOnce, idEchoed, hasContent, hasModel, roleAssistant, validResult,
		textIntact, promptReachesModel, stopReasonTrue, maxTokens, oneModelCall,
	},
}
